"""What the commands about runs share: finding a run or a suite, and saying errors in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from benchsite.lib.text import visible
from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.loading import load_suite
from generation.suites.suite import Suite
from generation.suites.yaml_source import SuiteError


def find_run(name: str) -> Run:
    """A run by its code, or by suite or suite/label: then the newest."""
    suite, _, label = name.partition("/")
    of_suite = Q(suite=suite, label=label) if label else Q(suite=suite)
    runs = Run.objects.filter(Q(code=name) | (of_suite & Q(judged_run=None)))
    run = runs.order_by("-created_at").first()
    if run is None:
        recent = ", ".join(f"{run.code} ({run.suite})" for run in Run.objects.of_drawings()[:5])
        raise CommandError(
            f"There is no run {visible(name)!r}. {f'The newest are {recent}.' if recent else ''}".strip()
        )
    return run


def find_suite(slug: str) -> Suite:
    try:
        return load_suite(settings.SUITES_DIR / slug)
    except SuiteError as error:
        raise CommandError(visible(str(error))) from None


def budget(text: str) -> float | str | None:
    """`--budget`: dollars, or `none` to take the cap away; it is kept where the option is not given."""
    return {"none": None, "keep": "keep"}[text] if text in ("none", "keep") else float(text)


class RunCommand(BaseCommand):
    """A command about one run; a `RunError` is its error message."""

    act: Callable[..., str]  # takes the run and the options, does its work and returns the sentence to print

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="a run's code, or a suite (its newest run), or suite/label")
        parser.add_argument("--reason", default="", help="kept in the run's history")

    def handle(self, *args: Any, run: str, **options: Any) -> None:
        try:
            sentence = self.act(find_run(run), **options)
        except RunError as error:
            raise CommandError(visible(str(error))) from None
        self.stdout.write(visible(sentence, newlines=True))
