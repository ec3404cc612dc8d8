"""`manage.py check_provider SUITE`: is the key valid, does each model exist, and what can a run cost?"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from benchsite.lib.text import visible
from generation.management.run_commands import find_suite
from generation.runs.checking import check_suite
from generation.suites.demo_sizes import demo_variant, load_demo
from generation.suites.profiles import load_profiles
from generation.suites.yaml_source import SuiteError


class Command(BaseCommand):
    """Asks the provider for its list of models, and for nothing that costs."""

    help = "Check a suite's keys, model ids and prices before a run, and show the maximum cost. Free of charge."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("suite")
        parser.add_argument("--demo", action="store_true", help="check the demo players")

    def handle(self, *args: Any, suite: str, demo: bool, **options: Any) -> None:
        chosen = find_suite(suite)
        try:
            profiles = load_profiles(settings.SUITES_DIR / "providers.yaml")
            if demo:
                chosen = demo_variant(chosen, demo=load_demo(settings.SUITES_DIR / "demo.yaml"))
        except SuiteError as error:
            raise CommandError(visible(str(error))) from None
        with Bar(self.stderr, "Asking"):
            check = check_suite(chosen, profiles=profiles)
        for sentence in check.sentences:
            self.stdout.write(sentence)
        if check.faults:
            raise CommandError("\n".join(check.faults))
