"""`manage.py fetch_vit`: fetches the competition's own classifier for Science Birds, and makes it the default."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from generation.formats import format_names, get_format
from generation.formats.base import BackendMissing

BACKEND = "vit"


class Command(BaseCommand):
    help = "Fetch and verify the weights of vit-base-uppercase-english-characters; new runs are then measured by it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--revision", default="main", help="a branch or commit of the model on its hub")

    def handle(self, *, revision: str, **options: Any) -> None:
        form = next(form for form in map(get_format, format_names()) if BACKEND in form.measure_backends)
        try:
            with Bar(self.stderr, "Fetching") as bar:
                done = form.fetch_backend(BACKEND, revision=revision, progress=bar.to)
        except BackendMissing as error:
            raise CommandError(str(error)) from None
        self.stdout.write(done)
