"""`manage.py reread RUN`: reads stored answers again by today's rules."""

from __future__ import annotations

from typing import Any

from benchsite.lib.progress_bar import Bar
from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.reading.answers import reread_run


class Command(RunCommand):
    """Reads again; nothing is asked."""

    help = "Extract every stored answer again with the current rules; earlier readings are kept."

    def act(self, run: Run, *, reason: str, **options: Any) -> str:
        with Bar(self.stderr, "Reading again") as bar:
            changed = reread_run(run, reason=reason, progress=bar.to)
        return f"Run {run.code}: {changed} readings changed."
