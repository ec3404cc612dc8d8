"""`manage.py demo_runs`: something to look at on a new site."""

from __future__ import annotations

import time

from django.core.management.base import BaseCommand

from benchsite.demo_runs import start_demo_runs, still_drawing

PATIENCE = 300  # looks, a second apart


class Command(BaseCommand):
    help = "Draw a small run of every suite with the demo players. Safe to run again: each is started once."

    def handle(self, **options: object) -> None:
        runs = start_demo_runs()
        for _ in range(PATIENCE):
            left = still_drawing(runs)
            if not left:
                break
            time.sleep(1)
        self.stdout.write(f"{len(runs)} demo runs; {left} drawings are still to come.")
