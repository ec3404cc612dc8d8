"""`manage.py export_study`: a study's participants as JSONL and CSV, with a codebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from judging.models import Study
from judging.studies.records import write_codebook, write_participants


class Command(BaseCommand):
    """Writes three files; none of them names a platform's id."""

    help = "Write a study's participants (JSONL and CSV) and its codebook into a folder."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the code of a study: the last part of its link")
        parser.add_argument("--out", type=Path, default=Path(), help="the folder (default: this one)")

    def handle(self, *args: Any, study: str, out: Path, **options: Any) -> None:
        chosen = Study.objects.filter(code=study).first()
        if chosen is None:
            raise CommandError(f"There is no study {study!r}. A study's code is the last part of its link.")
        out.mkdir(parents=True, exist_ok=True)
        for name, as_csv in (("participants.jsonl", False), ("participants.csv", True)):
            with (out / name).open("w", encoding="utf-8", newline="") as file:
                write_participants(chosen, file, as_csv=as_csv)
        with (out / "codebook.csv").open("w", encoding="utf-8", newline="") as file:
            write_codebook(chosen, file)
        self.stdout.write(f"Wrote participants.jsonl, participants.csv and codebook.csv to {out}.")
