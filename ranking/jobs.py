"""What a worker of the queue `fit` does: an id in, a verb called, nothing else."""

from __future__ import annotations

from generation.models import Run
from ranking.fitting import fit_run, refit_fully
from ranking.webhooks.sending import send_deliveries


def refit(run_id: int) -> None:
    """The slower, full fit of a run, if its newest is stale."""
    refit_fully(run_id)


def fit_past(run_id: int, protocol: str, until: str) -> None:
    """A past leaderboard, made again from the votes that stood then."""
    run = Run.objects.filter(pk=run_id).first()
    if run is not None:
        fit_run(run, protocol=protocol, until=until)


def send_webhooks() -> None:
    """What is due of the webhooks' news."""
    send_deliveries()
