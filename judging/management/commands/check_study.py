"""`manage.py check_study`: everything that keeps a study from opening, at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.suites.studies.faults import StudyFaultsError
from generation.suites.studies.study_files import parse_study
from judging.models import Study
from judging.studies.writing import content_of, newest_version, study_faults


class Command(BaseCommand):
    """Changes nothing; fails where there is a fault."""

    help = "Name every fault of a study at once: of a YAML file, or of a study on the site by its code."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="a file, or the code of a study")

    def handle(self, *args: Any, study: str, **options: Any) -> None:
        path = Path(study)
        if path.is_file():
            try:
                content = parse_study(path.read_text(encoding="utf-8"))
                faults, missing = content.faults(), content.missing_texts()
            except StudyFaultsError as error:
                faults, missing = [str(fault) for fault in error.faults], []
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"{study} cannot be read: {error}") from None
        elif stored := Study.objects.select_related("run").filter(code=study).first():
            faults, missing = study_faults(stored), content_of(newest_version(stored)).missing_texts()
        else:
            raise CommandError(f"There is no file and no study {study!r}. A study's code is the last part of its link.")
        if faults:
            raise CommandError("\n".join([f"{len(faults)} to fix:", *faults, *missing]))
        self.stdout.write("\n".join([*missing, "No faults: the study can open."]))
