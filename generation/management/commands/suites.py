"""`manage.py suites`: every suite with its size and the most it can cost, and what is wrong with the broken ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from generation.money import NANO
from generation.runs.checking import free_providers
from generation.suites.costs import cost_bound_nano, sample_count
from generation.suites.demo_sizes import load_demo
from generation.suites.loading import BrokenSuite, load_suites
from generation.suites.profiles import load_profiles
from generation.suites.suite import Suite
from generation.suites.yaml_source import SuiteError


class Command(BaseCommand):
    """Lists suites; the exit code is 1 if any is broken."""

    help = (
        "List suites with prompts, models, samples and the maximum cost of a run, and what is wrong with broken ones."
    )
    # A broken suite must be seen even where the database or the site's own checks are out of order.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--root", type=Path, default=settings.SUITES_DIR, help="folder of suites (default: %(default)s)"
        )

    def handle(self, *args: Any, root: Path, **options: Any) -> None:
        if not root.is_dir():
            self.stderr.write(f"{root}: there is no such folder; set SUITES_DIR or --root.")
            raise SystemExit(1)
        broken = problems((load_profiles, root / "providers.yaml"), (load_demo, root / "demo.yaml"))
        free = free_in(root / "providers.yaml")
        for suite in load_suites(root):
            if isinstance(suite, BrokenSuite):
                broken.append(f"{suite.slug} is broken. {suite.error}")
            else:
                self.stdout.write(describe(suite, free=free))
        for sentence in broken:
            self.stderr.write(printable(sentence))
        if broken:
            raise SystemExit(1)


def problems(*files: tuple[Callable[[Path], Any], Path]) -> list[str]:
    problems = []
    for load, path in files:
        try:
            load(path)
        except SuiteError as error:
            problems.append(str(error))
    return problems


def free_in(path: Path) -> set[str]:
    try:
        return free_providers(load_profiles(path))
    except SuiteError:
        return set()


def describe(suite: Suite, *, free: set[str]) -> str:
    bound = cost_bound_nano(suite, free=free)
    cost = "cost unknown (prices missing)" if bound is None else f"at most ${bound / NANO:,.2f}" if bound else "free"
    counts = {"prompt": suite.prompts, "program": suite.programs, "model": suite.models}
    sizes = [(noun, len(rows)) for noun, rows in counts.items() if rows] + [("sample", sample_count(suite))]
    size = ", ".join(f"{count} {noun}{'s' * (count != 1)}" for noun, count in sizes)
    kind = f"{suite.format}, {' + '.join(suite.protocols)}"
    return printable(f"{suite.slug:<18} {suite.title}: {size}; {kind}; {cost}")


def printable(text: str) -> str:
    """Escaped for a terminal: folder names and YAML are not ours to trust."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
