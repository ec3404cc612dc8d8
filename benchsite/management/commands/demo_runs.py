"""`manage.py demo_runs`: something to look at on a new site."""

from __future__ import annotations

import time

from django.core.management.base import BaseCommand

from benchsite.lib.progress_bar import Bar
from benchsite.operations.demo_runs import show_demo_run, start_demo_runs, still_drawing

TRIES = 300  # one per second


class Command(BaseCommand):
    help = "Draw a small run of every suite with the demo players, judge and publish it. Safe to run again."
    requires_system_checks = []  # they load every page, and this one serves none

    def handle(self, **options: object) -> None:
        runs = start_demo_runs()
        waiting = list(runs)
        with Bar(self.stderr, "Drawing and judging") as bar:
            for _ in range(TRIES):
                for run in [run for run in waiting if not still_drawing([run])]:
                    waiting.remove(run)
                    run.refresh_from_db()
                    show_demo_run(run)
                    bar.to(len(runs) - len(waiting), len(runs))
                if not waiting:
                    break
                time.sleep(1)
        self.stdout.write(f"{len(runs)} demo runs; {still_drawing(waiting)} drawings are still pending.")
