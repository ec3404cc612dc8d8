"""What is wrong with a file that is analysed or imported: one family of errors, all FileError."""

from __future__ import annotations

from collections.abc import Sequence

from benchsite.lib.text import visible

LONGEST = 600  # characters: names in a file can be as long as the file


class FileError(ValueError):
    """What cannot be read: which file, line (0 for the whole file) and field, and why."""

    def __init__(self, file: str, line: int, field: str, message: str) -> None:
        self.file, self.line, self.field, self.message = file, line, field, message
        super().__init__(visible(self.sentence())[:LONGEST])

    def sentence(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}, {self.field}: {self.message}" if self.field else f"{where}: {self.message}"


class BadLine(FileError):
    """A line that cannot be imported; its message is the end of a sentence, without the full stop."""

    def sentence(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.field} {self.message}." if self.field else f"{where}: {self.message}."


class BadLines(FileError):
    """A file of which nothing was imported: `bad` holds every line that stood in the way."""

    def __init__(self, bad: Sequence[FileError]) -> None:
        self.bad = list(bad)
        super().__init__(bad[0].file, bad[0].line, bad[0].field, bad[0].message)

    def sentence(self) -> str:
        more = f" And {len(self.bad) - 3} more." if len(self.bad) > 3 else ""
        return "Nothing was imported. " + " ".join(str(line) for line in self.bad[:3]) + more


def unreadable(file: object, error: OSError) -> FileError:
    return FileError(str(file), 0, "", f"{error.strerror or 'Broken'}, so it cannot be read.")


class BadField(ValueError):
    """A value that is not what its field holds; whoever knows the file and line makes a FileError of it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message
