"""A published dataset from anywhere, as a folder or a zip: every file is compared with its checksum before it is believed."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchsite.lib.file_errors import BadLine, FileError, unreadable
from benchsite.lib.files import BROKEN_ZIP
from benchsite.lib.json_lines import JsonError, read_object
from judging.files.parquet import ParquetReader
from ranking.archive.reading import LARGEST_RATIO, LARGEST_SMALL
from ranking.dataset.files import SUMS, data_file
from ranking.dataset.publishing import FORMAT, SCHEMA
from ranking.statistics.samples import SampleRate, rates_by_entrant

NAME = re.compile(r"(?:data|jsonl)/[a-z_]+/[a-z_]+\.(?:parquet|jsonl)|[A-Za-z0-9_-][A-Za-z0-9_.-]*")
SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
ABOUT = "dataset.json"


@dataclass(frozen=True)
class Dataset:
    """An open dataset, whose every byte was compared with its checksum."""

    folder: Path
    about: dict[str, Any]
    reader: ParquetReader

    @property
    def run(self) -> dict[str, Any]:
        return self.about["run"]

    def files(self, table: str) -> list[Path]:
        splits = self.about["tables"].get(table, {})
        return [self.folder / data_file(table, split) for split in splits]

    def rows(self, table: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """(file, row number, row) of a table, split by split; memory holds one row."""
        for path in self.files(table):
            name = path.relative_to(self.folder).as_posix()
            try:
                with self.reader.open(path, name=name) as file:
                    for number, row in enumerate(file.rows(), start=1):
                        yield name, number, row
            except BadLine:
                raise
            except FileError as error:
                raise BadLine(error.file, error.line, error.field, error.message) from None

    @property
    def weights(self) -> dict[str, float]:
        """Of judges who do not count fully."""
        return {row["judge"]: row["weight"] for _, _, row in self.rows("judges") if row["weight"] != 1}


def is_dataset(path: Path) -> bool:
    """A folder with a dataset's description, or a zip of one."""
    if path.is_dir():
        return (path / ABOUT).is_file()
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.rpartition("/")[2] == ABOUT and name.count("/") == 1 for name in archive.namelist())
    except BROKEN_ZIP:
        return False


@contextmanager
def open_dataset(path: Path) -> Iterator[Dataset]:
    """Raises BadLine, which names the file."""
    if path.is_dir():
        with ParquetReader() as reader:
            yield _checked(path, reader)
        return
    with TemporaryDirectory() as place, ParquetReader() as reader:
        try:
            folder = _unpacked(path, Path(place))
        except BadLine:
            raise
        except BROKEN_ZIP:
            raise BadLine(path.name, 0, "", "is not a whole zip; it may be cut short or damaged") from None
        yield _checked(folder, reader)


def _unpacked(path: Path, place: Path) -> Path:
    """Only files whose names a dataset has, below one folder, and no more of them than a zip of its size can hold."""
    with zipfile.ZipFile(path) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        whole = sum(info.file_size for info in infos)
        if whole > max(LARGEST_SMALL, LARGEST_RATIO * path.stat().st_size):
            raise BadLine(path.name, 0, "", f"would unpack to {whole} bytes, which no dataset of its size does")
        for info in infos:
            _, _, name = info.filename.partition("/")
            if not NAME.fullmatch(name):
                raise BadLine(info.filename[:100], 0, "", "is not a file of a dataset")
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as source, target.open("wb") as sink:
                while block := source.read(1 << 20):
                    sink.write(block)
    return place


def _checked(folder: Path, reader: ParquetReader) -> Dataset:
    sums = _sums(folder)
    for name, digest in sums.items():
        try:
            with (folder / name).open("rb") as stream:
                same = hashlib.file_digest(stream, "sha256").hexdigest() == digest
        except FileNotFoundError:
            raise BadLine(name, 0, "", f"is listed in {SUMS} and missing; take the dataset again") from None
        except OSError as error:
            raise BadLine(name, 0, "", f"is listed in {SUMS} and cannot be read ({error.strerror})") from None
        if not same:
            raise BadLine(name, 0, "", f"differs from its checksum in {SUMS}; take the dataset again")
    about = _about(folder)
    for table, splits in about["tables"].items():
        for split in splits:
            if data_file(table, split) not in sums:
                raise BadLine(SUMS, 0, "", f"does not list {data_file(table, split)}")
    return Dataset(folder, about, reader)


def _sums(folder: Path) -> dict[str, str]:
    try:
        lines = (folder / SUMS).read_text().splitlines()
    except FileNotFoundError:
        raise BadLine(SUMS, 0, "", "is missing, so this is not a whole dataset") from None
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(SUMS, error if isinstance(error, OSError) else OSError(0, "Not text")) from None
    sums = {}
    for number, line in enumerate(lines, start=1):
        match = SUM.fullmatch(line)
        if not match or not NAME.fullmatch(match[2]):
            raise BadLine(SUMS, number, "", "is not a checksum and a file's name")
        sums[match[2]] = match[1]
    return sums


def _about(folder: Path) -> dict[str, Any]:
    try:
        about = read_object((folder / ABOUT).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, JsonError) as error:
        raise BadLine(ABOUT, 0, "", f"cannot be read ({error})") from None
    if about.get("format") != FORMAT or about.get("schema") != SCHEMA:
        schema = f"{about.get('format')!r} {about.get('schema')!r}"
        raise BadLine(ABOUT, 0, "schema", f"is {schema}, and this release reads {FORMAT} {SCHEMA}")
    tables = about.get("tables")
    plain = isinstance(tables, dict) and all(isinstance(splits, dict) for splits in tables.values())
    if not plain or not isinstance(about.get("run"), dict) or not isinstance(about.get("suite"), dict):
        raise BadLine(ABOUT, 0, "tables", "does not list the tables, the run and its suite")
    return about


def dataset_notes(dataset: Dataset) -> dict[str, str]:
    return {row["entrant"]: row["note"] for _, _, row in dataset.rows("entrants") if row["note"]}


def dataset_rates(dataset: Dataset) -> dict[str, SampleRate]:
    """How often each entrant drew anything valid, and in every font: the same as of the run itself."""
    by_prompt: dict[str, dict[tuple[str, str], tuple[int, int]]] = defaultdict(dict)
    valid: list[tuple[str, str]] = []
    for _, _, row in dataset.rows("samples"):
        if row["state"] == "drawn":
            key, counts = (row["category"] or "", row["prompt"]), by_prompt[row["entrant"]]
            answers, good = counts.get(key, (0, 0))
            counts[key] = (answers + 1, good + row["valid"])
            valid += [(row["entrant"], row["sample"])] * row["valid"]
    backend = dataset.run["measure_backend"]
    values = {row["sample"]: row["values"] for _, _, row in dataset.rows("measures") if row["backend"] == backend}
    measures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entrant, sample in valid:
        if sample in values:
            measures[entrant].append(json.loads(values[sample]))
    return rates_by_entrant(by_prompt, measures)
