"""`manage.py fetch_vit`: fetches the competition's own classifier for Science Birds, and makes it the default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from generation.formats import get_format
from generation.formats.science_birds.similarity import VIT_DIR, missing_packages
from generation.reading.weights import FetchError, fetch_weights


class Command(BaseCommand):
    help = "Fetch and verify the weights of vit-base-uppercase-english-characters; new runs are then measured by it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--revision", default="main", help="a branch or commit of the model on its hub")

    def handle(self, *, revision: str, **options: Any) -> None:
        folder = Path(os.environ[VIT_DIR])
        try:
            with Bar(self.stderr, "Fetching") as bar:
                fetched = fetch_weights(folder, revision=revision, progress=bar.to)
        except FetchError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{fetched['model']} at {fetched['revision'][:12]}, verified, is in {folder}.")
        if missing := missing_packages():
            self.stdout.write(
                f"To run it: pip install {' '.join(missing)}. Until then new runs are measured by glyphs."
            )
        else:
            self.stdout.write(f"New runs are measured by {get_format('science_birds').default_backend()}.")
