"""What a worker of the queue `fit` does: an id in, a verb called, nothing else."""

from __future__ import annotations

from generation.bell import ring
from generation.models import Run
from ranking.fitting import refit_fully


def refit(run_id: int) -> None:
    """The slower, full fit of a run, if its newest is stale."""
    refit_fully(run_id)


def ring_for_refit(run: Run) -> None:
    ring("fit", "ranking.jobs.refit", run.pk)
