"""The list of leaderboards: what each says first, and whether more is to come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from generation.models import Entrant, Run
from generation.protocols import Protocol, load, protocols_of
from ranking.models import Fit
from ranking.people import hidden_from


def overview(runs: Iterable[Run], user: Any) -> list[dict[str, Any]]:
    """A line for each run and protocol: what its newest leaderboard says first."""
    fits = Fit.objects.newest_of(runs)
    labels: dict[int, dict[str, str]] = {}
    for run_id, name, label in Entrant.objects.filter(run__in=runs).values_list("run_id", "name", "label"):
        labels.setdefault(run_id, {})[name] = label
    hidden, lines = hidden_from(user, runs), []
    for run in runs:
        for name, entry in protocols_of(run).items():
            fit = fits.get((run.pk, name))
            tells = fit is not None and entry.sentence and run.pk not in hidden
            said = load(entry.sentence)(fit.result, labels[run.pk]) if tells else ""
            line = {"run": run, "protocol": name, "entry": entry, "fit": fit, "said": said, "hidden": run.pk in hidden}
            lines.append(line | {"state": state_words(run, entry)})
    return lines


def state_words(run: Run, entry: Protocol) -> str:
    """Whether more is to come; empty where the run says nothing of it."""
    if run.frozen_at:
        return "final"
    if run.judging_state == Run.Judging.OPEN and entry.by_people:
        return entry.judging_words
    if run.drawing_state == Run.Drawing.OPEN and run.finished_at is None:
        return "drawing"
    return "closed" if run.judging_state == Run.Judging.CLOSED else ""
