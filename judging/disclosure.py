"""Who may see drawings together with the names of those who drew them: nobody who might still judge them blind."""

from __future__ import annotations

from typing import Any

from generation.models import Run
from generation.protocols import protocols_of


def drawings_are_open(run: Run) -> bool:
    """Nobody judges this run, or judging is over. Never of a run with a protocol that this site does not know."""
    if set(protocols_of(run)) != set(run.protocols):
        return False
    return run.judging_state == Run.Judging.CLOSED or not run.judged_by


def may_see_drawings(run: Run, user: Any) -> bool:
    """Curators always; everybody else once the run is published and its judging cannot be swayed any more.

    Not only judges are kept out: a judge can log out and look.
    """
    return user.is_staff or (run.visibility == Run.Visibility.PUBLISHED and drawings_are_open(run))
