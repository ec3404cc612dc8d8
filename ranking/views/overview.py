"""The list of leaderboards: what each says first, and whether more is to come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from generation.models import Entrant, Run
from generation.protocols import Protocol, load, protocols_of
from judging.disclosure import is_judged_blind
from judging.models import PublicState
from ranking.models import Fit
from ranking.people import hidden_from, is_closed_to
from ranking.public_states import newest_states, public_sentence


def overview(runs: Iterable[Run], user: Any) -> list[dict[str, Any]]:
    """A line for each run and protocol: what its newest leaderboard says first."""
    fits = Fit.objects.newest_of(runs)
    labels: dict[int, dict[str, str]] = {}
    for run_id, name, label in Entrant.objects.filter(run__in=runs).values_list("run_id", "name", "label"):
        labels.setdefault(run_id, {})[name] = label
    hidden, lines = hidden_from(user, runs), []
    states = newest_states([run for run in runs if not user.is_staff and is_judged_blind(run)])
    for run in runs:
        for name, entry in protocols_of(run).items():
            fit: Fit | PublicState | None = fits.get((run.pk, name))
            said = ""
            if run.pk not in hidden and is_closed_to(user, run, name):
                fit = states.get((run.pk, name))
                said = public_sentence(fit, labels.get(run.pk, {}))
            elif isinstance(fit, Fit) and entry.sentence and run.pk not in hidden:
                said = load(entry.sentence)(fit.result, labels[run.pk])
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
