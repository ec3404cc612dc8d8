"""A dataset's folder: each table as Parquet and as JSON Lines, written in portions, with the checksum of every file."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchsite.lib.progress_bar import Progress
from ranking.dataset.columns import Published, Table

PORTION = 5000
SUMS = "SHA256SUMS"
MOMENT = (1980, 1, 1, 0, 0, 0)  # in every zip, so that the same data make the same bytes


@dataclass(frozen=True)
class Written:
    """A file as it was written."""

    size: int
    digest: str
    rows: int | None = None


def data_file(table: str, split: str) -> str:
    return f"data/{table}/{split}.parquet"


def json_file(table: str, split: str) -> str:
    return f"jsonl/{table}/{split}.jsonl"


def write_table(table: Table, source: Published, folder: Path, *, progress: Progress) -> dict[str, int]:
    """Rows by split; memory holds one portion of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    counts, schema, done = dict.fromkeys(dict(table.splits), 0), table.schema, 0
    with ExitStack() as stack:
        writers = {}
        for split in counts:
            parquet, lines = folder / data_file(table.name, split), folder / json_file(table.name, split)
            for path in (parquet, lines):
                path.parent.mkdir(parents=True, exist_ok=True)
            writer = stack.enter_context(pq.ParquetWriter(parquet, schema, compression="zstd"))
            writers[split] = (writer, stack.enter_context(lines.open("w", encoding="utf-8", newline="\n")))
        rows = table.rows(source)
        while portion := list(islice(rows, PORTION)):
            for split, (parquet_writer, stream) in writers.items():
                part = [row for row in portion if row.get("split", "train") == split]
                if part:
                    columns = {c.name: [c.in_parquet(row.get(c.name)) for row in part] for c in table.columns}
                    parquet_writer.write_table(pa.table(columns, schema=schema))
                    stream.writelines(_line(table, row) for row in part)
                    counts[split] += len(part)
            done += len(portion)
            progress(done, done)
    return counts


def _line(table: Table, row: dict[str, Any]) -> str:
    record = {column.name: column.in_json(row.get(column.name)) for column in table.columns}
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def checksum(path: Path, rows: int | None = None) -> Written:
    with path.open("rb") as stream:
        return Written(path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest(), rows)


def write_sums(folder: Path) -> None:
    """`sha256sum -c SHA256SUMS` checks the whole folder."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [f"{checksum(folder / name).digest}  {name}\n" for name in names if name != SUMS]
    (folder / SUMS).write_text("".join(lines))


def write_zip(folder: Path, path: Path) -> None:
    """The folder as one zip under its own name; the same folder makes the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()):
            info = zipfile.ZipInfo(f"{folder.name}/{name}", MOMENT)
            info.external_attr = 0o644 << 16
            # Parquet is compressed already.
            info.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            with (folder / name).open("rb") as stream, archive.open(info, "w", force_zip64=True) as member:
                while block := stream.read(1 << 20):
                    member.write(block)


def chunks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while block := stream.read(1 << 18):
            yield block
