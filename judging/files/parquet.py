"""A Parquet file that a stranger made: a few of its bytes can unpack to more than a machine holds, so a child reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import FileError
from benchsite.lib.json_lines import JsonError, read_json

CHILD = Path(__file__).with_name("parquet_child.py")
MEMORY, SECONDS = 4 << 30, 300  # of the child: bytes of address space, and seconds of processor time for a file
LONGEST = 1 << 24  # bytes of a row
END = b"\n"  # the line after the last row


@dataclass
class ParquetRows:
    """An open file: its columns, and its rows to read once."""

    name: str
    names: list[str]
    child: subprocess.Popen[bytes]
    is_read: bool = False  # to its end

    def rows(self, columns: Sequence[str] = (), *, most: float = inf) -> Iterator[dict[str, Any]]:
        """One after the other, times in ISO 8601; raises FileError for what cannot be read, or is over `most` bytes."""
        _tell(self.child, list(columns))
        size = number = 0
        while line := _line(self.child):
            if line == END:
                self.is_read = True
                return
            size, number = size + len(line), number + 1
            try:
                if len(line) > LONGEST or size > most:
                    raise FileError(self.name, number, "", "holds more than can be read; leave out large columns")
                yield read_json(line.decode())
            except JsonError:
                break  # the child was ended in the middle of a row
        _check_end(self.child, self.name)


class ParquetReader:
    """Reads files one after the other with the same child, because its start takes longer than most files.

    A file that is opened while another is being read has a child of its own; a child that did not come to an end is ended.
    """

    def __init__(self) -> None:
        self._idle: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> ParquetReader:
        return self

    def __exit__(self, *error: object) -> None:
        while self._idle:
            _end(self._idle.pop())

    @contextmanager
    def open(self, path: Path, *, name: str = "") -> Iterator[ParquetRows]:
        """`name` is what errors call it."""
        child = self._idle.pop() if self._idle else _start()
        file = ParquetRows(name or str(path), [], child)
        try:
            _tell(child, str(path))
            names = _line(child)
            if not names:
                _check_end(child, file.name)
            file.names = read_json(names.decode())
            yield file
        finally:
            if file.is_read:
                self._idle.append(child)
            else:
                _end(child)


@contextmanager
def open_parquet(path: Path, *, name: str = "") -> Iterator[ParquetRows]:
    with ParquetReader() as reader, reader.open(path, name=name) as file:
        yield file


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", str(CHILD), str(MEMORY), str(SECONDS)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    with child:  # closes its pipes and waits for it
        pass


def _tell(child: subprocess.Popen[bytes], words: str | list[str]) -> None:
    assert child.stdin
    with suppress(BrokenPipeError):  # what ended it is read next
        child.stdin.write(json.dumps(words).encode() + b"\n")
        child.stdin.flush()


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
