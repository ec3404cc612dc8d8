"""`manage.py export KIND RUN`: a run's samples, votes, skips or grades as files that anything can read, or all as a zip."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar, Progress
from generation.files.export_samples import write_samples
from generation.management.run_commands import find_run
from generation.models import Run
from judging.files.exports import write_skips
from judging.model_judges.answers import write_model_grades, write_model_votes
from ranking.archive.members import listed_members
from ranking.archive.writing import write_archive

Writer = Callable[..., int]


def _samples(run: Run, stream: TextIO, *, format: str, names: bool, progress: Progress) -> int:
    if format != "jsonl":
        raise CommandError("Samples come as jsonl only: a drawing does not survive a spreadsheet.")
    return write_samples(run, stream, progress=progress)


def writers() -> dict[str, Writer]:
    """Who writes each kind of rows."""
    listed = {kind: member.export for kind, member in listed_members().items()}
    models = {"model_votes": write_model_votes, "model_grades": write_model_grades}
    return {"samples": _samples, **listed, "skips": write_skips, **models}


@contextmanager
def quiet_pipe() -> Iterator[None]:
    """A reader that has seen enough, as `head` has, is no error."""
    try:
        yield
    except BrokenPipeError:
        # Python flushes once more when it ends, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Command(BaseCommand):
    """Writes dumps of a run."""

    help = "Export a run's samples (database.jsonl), votes, skips or grades (jsonl, csv), or everything (a zip)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=[*writers(), "all"])
        parser.add_argument("run", help="a run's code, or a suite (its newest run)")
        parser.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")
        parser.add_argument("--names", action="store_true", help="name the judges instead of their pseudonyms")
        parser.add_argument("--out", type=Path, help="a file (default: standard output; for `all` SUITE-RUN.zip)")

    def handle(self, *args: Any, kind: str, run: str, out: Path | None, **options: Any) -> None:
        exported = find_run(run)
        asked = {"format": options["format"], "names": options["names"]}
        if kind == "all":
            self.write_all(exported, out or Path(f"{exported.suite}-{exported.code}.zip"))
        elif out is None:
            # On a screen that shows the lines themselves a bar would only get between them.
            with Bar(self.stderr, "Exporting", wanted=not self.stdout.isatty()) as bar, quiet_pipe():
                writers()[kind](exported, self.stdout._out, **asked, progress=bar.to)
                self.stdout.flush()
        else:
            self.write_file(exported, kind, out, **asked)

    def write_all(self, run: Run, path: Path) -> None:
        """The zip that `import_run` reads; judges are in it by pseudonym only."""
        try:
            with Bar(self.stderr, "Exporting") as bar:
                size = write_archive(run, path, progress=bar.to)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        self.stderr.write(f"Run {run.code}: {size / 1e6:.1f} MB written to {path}.")

    def write_file(self, run: Run, kind: str, path: Path, **asked: Any) -> None:
        try:
            with path.open("w", encoding="utf-8", newline="") as stream, Bar(self.stderr, "Exporting") as bar:
                count = writers()[kind](run, stream, **asked, progress=bar.to)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        self.stderr.write(f"{count} {kind} written to {path}.")
