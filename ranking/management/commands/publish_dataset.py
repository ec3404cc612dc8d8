"""`manage.py publish_dataset RUN`: a finished run as a dataset that one can cite, as a folder or a zip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import find_run
from generation.runs.errors import RunError
from ranking.dataset.about import FIRST_VERSION, LICENCES, About, AboutError
from ranking.dataset.publishing import publish_dataset


class Command(BaseCommand):
    help = (
        "Publish a run whose judging is closed as a dataset: Parquet, JSON Lines, card, Croissant, licence, citation."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="a run's code, or a suite (its newest run)")
        parser.add_argument("--out", type=Path, help="a new folder, or a name that ends in .zip (default: SUITE-RUN)")
        parser.add_argument("--author", action="append", required=True, metavar="NAME", help="may be repeated")
        parser.add_argument("--consent", required=True, help="what judges agreed to, in a sentence or two")
        parser.add_argument("--licence", choices=list(LICENCES), default="CC-BY-4.0")
        parser.add_argument(
            "--release", default=FIRST_VERSION, metavar="VERSION", help="the dataset's version (default: %(default)s)"
        )
        parser.add_argument("--title", default="", help="default: the run's own")
        parser.add_argument(
            "--answers", action="store_true", help="what judges said of themselves in studies, without small groups"
        )
        parser.add_argument("--comments", action="store_true", help="what they wrote there, without their numbers")
        parser.add_argument("--url", default="", help="where the dataset will be found")

    def handle(self, *args: Any, run: str, out: Path | None, **options: Any) -> None:
        published = find_run(run)
        about = About(
            authors=tuple(options["author"]),
            consent=options["consent"],
            licence=options["licence"],
            version=options["release"],
            title=options["title"],
            url=options["url"],
            answers=options["answers"],
            comments=options["comments"],
        )
        try:
            with Bar(self.stderr, "Publishing") as bar:
                path = publish_dataset(
                    published, out or Path(f"{published.suite}-{published.code}"), about, progress=bar.to
                )
        except AboutError as error:
            raise CommandError(f"{error.field}: {error.message}") from None
        except RunError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from None
        self.stderr.write(f"Run {published.code} is published as {path}.")
