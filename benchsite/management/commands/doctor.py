"""`manage.py doctor`: what is wrong with this deployment, and the way out."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from benchsite.lib.text import visible
from benchsite.operations.doctor import examine


class Command(BaseCommand):
    """One line a finding; exit 1 where something is wrong."""

    help = "Look this deployment over: database, queue, workers, keys, suites, files, clocks. Exit 1 if something is wrong."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        found = []
        for finding in examine():
            found.append(finding)
            self.stdout.write(visible(str(finding)))
        wrong = sum(finding.state == "BAD" for finding in found)
        self.stdout.write(
            f"{wrong} of {len(found)} are wrong." if wrong else f"{len(found)} looked at, nothing is wrong."
        )
        if wrong:
            sys.exit(1)
