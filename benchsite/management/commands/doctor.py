"""`manage.py doctor`: what is wrong with this deployment, and how to fix it."""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from benchsite.lib.text import visible
from benchsite.operations.doctor import examine
from benchsite.version import VERSION
from generation.queue import forget_host, queue_connection


class Command(BaseCommand):
    """One line per finding; exits with 1 if a check failed."""

    help = (
        "Check this deployment: database, queue, workers, keys, suites, files, clocks. Exits with 1 if a check failed."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--forget", metavar="HOST", help="stop expecting a host that was removed")

    def handle(self, *args: Any, forget: str | None = None, **options: Any) -> None:
        if forget:
            roles = forget_host(queue_connection(settings.REDIS_URL), forget)
            self.stdout.write(f"{forget} is no longer expected." if roles else f"No host {forget} was expected.")
            return
        self.stdout.write(f"Benchsite {VERSION}")
        states = []
        for finding in examine():
            states.append(finding.state)
            self.stdout.write(visible(str(finding)))
            self.stdout.flush()  # the next check may wait for a host that is gone
        failed = states.count("BAD")
        self.stdout.write(
            f"{failed} of {len(states)} checks failed." if failed else f"All {len(states)} checks passed."
        )
        if failed:
            sys.exit(1)
