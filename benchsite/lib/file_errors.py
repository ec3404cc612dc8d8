"""What is wrong with a file that is analysed or imported, and where."""

from __future__ import annotations

from benchsite.lib.text import visible

LONGEST = 600  # characters: names in a file can be as long as the file


class FileError(ValueError):
    """A line that cannot be taken: which file, line (0 for the whole file) and field, and why."""

    def __init__(self, file: str, line: int, field: str, message: str) -> None:
        self.file, self.line, self.field = file, line, field
        where = f"{file}, line {line}" if line else file
        super().__init__(visible(f"{where}, {field}: {message}" if field else f"{where}: {message}")[:LONGEST])


class BadField(ValueError):
    """A value that is not what its field holds; whoever knows the file and line makes a FileError of it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
