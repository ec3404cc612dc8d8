"""Why a verb about a run is refused."""

from __future__ import annotations

from generation.models import Run


class RunError(Exception):
    """Why a run cannot do what was asked, in one sentence for the person who asked."""


def refuse_frozen(run: Run) -> None:
    """Every verb that could change a score asks this first."""
    if run.frozen_at is not None:
        raise RunError(f"{run} is frozen: its leaderboard is final. Thaw it first.")
