"""The simulated model judges of a demo run: one that looks, and one that is biased. Both are marked as simulated."""

from __future__ import annotations

from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.suite import ModelEntry
from judging.model_judges.asking import KINDS, Plan, add_model_judge
from judging.model_judges.instructions import versioned
from judging.model_judges.kinds import Kind

JUDGES = (("demo/critic", "Demo Critic"), ("demo/flatterer", "Demo Flatterer"))
BUDGET = 20.0  # dollars for each


def add_simulated_model_judges(run: Run, *, wanted: int) -> int:
    """Once a run, each about so many pairs or drawings; workers ask them as they ask anybody. Says how many were added."""
    if not run.is_demo or run.model_judges.exists():
        return 0
    return sum(_add(run, kind, wanted) for kind in KINDS if kind.is_asked_in(run))


def _add(run: Run, kind: Kind, wanted: int) -> int:
    added = 0
    for model_id, label in JUDGES:
        entry = ModelEntry(model_id, label, provider="demo", price_in=0.5, price_out=2)
        try:
            add_model_judge(run, Plan(entry, versioned(run, "", kind), wanted, BUDGET, kind=kind))
        except RunError:  # a demo run without drawings has nothing to judge
            return added
        added += 1
    return added
