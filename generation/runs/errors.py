"""Why a verb about a run is refused."""

from __future__ import annotations

from generation.models import Run


class RunError(Exception):
    """Why a run cannot do what was asked, in one sentence for the person who asked."""


def refuse_model_judge(run: Run) -> None:
    """What a judge answered comes from what it was asked, and only so; its run has no drawings."""
    if run.judged_run_id is not None:
        raise RunError(f"{run} is a model judge, not a run of drawings: only its budget can change.")


def refuse_frozen(run: Run) -> None:
    """Every verb that could change a score asks this first."""
    if run.frozen_at is not None:
        raise RunError(f"{run} is frozen: its leaderboard is final. Thaw it first.")


def keep_unfrozen(run: Run) -> None:
    """Asked again in the transaction that writes: the run may have been frozen since. Nobody freezes it until this commits."""
    run.frozen_at = Run.objects.select_for_update(no_key=True).values_list("frozen_at", flat=True).get(pk=run.pk)
    refuse_frozen(run)
