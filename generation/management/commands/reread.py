"""`manage.py reread RUN`: reads stored answers again by today's rules."""

from __future__ import annotations

from typing import Any

from generation.management.run_commands import RunCommand
from generation.models import Run
from generation.reading import reread_run


class Command(RunCommand):
    """Reads again; nothing is asked."""

    help = "Extract every stored answer again by today's rules; earlier readings are kept."

    def act(self, run: Run, *, reason: str, **options: Any) -> str:
        return f"Run {run.code}: {reread_run(run, reason=reason)} readings changed."
