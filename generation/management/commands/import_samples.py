"""`manage.py import_samples FILE`: drawings made outside, for models without an API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.file_errors import FileError
from benchsite.lib.json_lines import read_object
from benchsite.lib.progress_bar import Bar, Progress
from benchsite.lib.text import visible
from generation.files.import_samples import Imported, import_file, import_folder
from generation.management.run_commands import find_run, find_suite
from generation.models import Run
from generation.runs.errors import RunError
from generation.runs.lifecycle import start_run


class Command(BaseCommand):
    """Imports a file or a folder into a run."""

    help = "Import answers from a .jsonl file with the fields of database.jsonl, an inspect_ai log (.eval, .json), or a folder or .zip of .svg (MODEL/SUBJECT-1.svg)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--run", help="a run's code, or a suite (default: the newest run of the file's suite)")
        parser.add_argument("--suite", help="start a new run of this suite for them, with no models of its own")
        parser.add_argument("--label", default="", help="the new run's label")
        parser.add_argument("--skip-bad", action="store_true", help="skip bad lines instead of rejecting the file")

    def handle(self, *args: Any, file: Path, skip_bad: bool, **options: Any) -> None:
        if not file.exists():
            raise CommandError(f"There is no file {visible(str(file))}.")
        run = self.run_for(file, **options)
        try:
            with Bar(self.stderr, "Reading") as bar:
                done = read_into(run, file, skip_bad=skip_bad, progress=bar.to)
        except (FileError, RunError) as refused:
            if options["suite"] and not options["run"]:
                run.delete()  # it was made for these drawings alone
            raise CommandError(str(refused)) from None
        for line in done.bad:
            self.stderr.write(str(line))
        counts = f"{done.added} samples imported, {done.same} were there already, {len(done.bad)} left out"
        self.stdout.write(f"Run {run.code}: {counts}.")

    def run_for(self, file: Path, *, run: str | None, suite: str | None, label: str, **options: Any) -> Run:
        if run:
            return find_run(run)
        if suite:
            return start_run(find_suite(suite), label=label, models=[], draw=False)
        try:
            with file.open("rb") as stream:
                return find_run(str(read_object(stream.readline().decode("utf-8-sig"))["suite"]))
        except (OSError, ValueError, KeyError):
            raise CommandError("Say where the drawings belong: --run RUN, or --suite SUITE for a new run.") from None


def read_into(run: Run, file: Path, *, skip_bad: bool, progress: Progress) -> Imported:
    if file.is_dir():
        return import_folder(file, run=run, skip_bad=skip_bad, progress=progress)
    return import_file(file, run=run, skip_bad=skip_bad, progress=progress)
