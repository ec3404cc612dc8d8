"""A Parquet file that a stranger made: a few of its bytes can unpack to more than a machine holds, so a child reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import FileError
from benchsite.lib.json_lines import JsonError, read_json

CHILD = Path(__file__).with_name("parquet_child.py")
MEMORY, SECONDS = 4 << 30, 300  # of the child: bytes of address space, and seconds of processor time
LONGEST = 1 << 24  # bytes of a row


@dataclass(frozen=True)
class ParquetRows:
    """An open file: its columns, and its rows to read once."""

    name: str
    names: list[str]
    child: subprocess.Popen[bytes]

    def rows(self, columns: Sequence[str] = (), *, most: float = inf) -> Iterator[dict[str, Any]]:
        """One after the other, times in ISO 8601; raises FileError for what cannot be read, or is over `most` bytes."""
        assert self.child.stdin
        self.child.stdin.write(json.dumps(list(columns)).encode() + b"\n")
        self.child.stdin.flush()
        size = number = 0
        while line := _line(self.child):
            size, number = size + len(line), number + 1
            try:
                if len(line) > LONGEST or size > most:
                    raise FileError(self.name, number, "", "holds more than can be read; leave out large columns")
                yield read_json(line.decode())
            except JsonError:
                break  # the child was ended in the middle of a row
        _check_end(self.child, self.name)


@contextmanager
def open_parquet(path: Path, *, name: str = "") -> Iterator[ParquetRows]:
    """`name` is what errors call it."""
    command = [sys.executable, "-I", str(CHILD), str(path), str(MEMORY), str(SECONDS)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        try:
            names = _line(child)
            if not names:
                _check_end(child, name or str(path))
            yield ParquetRows(name or str(path), read_json(names.decode()), child)
        finally:
            child.kill()


def _line(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout
    return child.stdout.readline(LONGEST + 1)


def _check_end(child: subprocess.Popen[bytes], name: str) -> None:
    assert child.stderr
    reason = child.stderr.read().decode(errors="replace").strip()
    if child.wait() and (reason and "Traceback" not in reason):
        raise FileError(name, 0, "", f"is not a whole Parquet file ({reason})")
    if child.returncode:
        raise FileError(name, 0, "", "unpacks to more than can be read; write it as JSON Lines (.jsonl) instead")
