"""The simulated model judges of a demo run: one that looks, and one that is biased. Both are marked as simulated."""

from __future__ import annotations

from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.suite import ModelEntry
from judging.model_judges.asking import Plan, add_model_judge, is_judged_in_pairs
from judging.model_judges.instructions import versioned

JUDGES = (("demo/critic", "Demo Critic"), ("demo/flatterer", "Demo Flatterer"))
PAIRS, BUDGET = 250, 20.0


def add_simulated_model_judges(run: Run) -> int:
    """Once a run; workers ask them as they ask anybody. Says how many were added."""
    if not run.is_demo or not is_judged_in_pairs(run) or run.model_judges.exists():
        return 0
    added = 0
    for model_id, label in JUDGES:
        entry = ModelEntry(model_id, label, provider="demo", price_in=0.5, price_out=2)
        try:
            add_model_judge(run, Plan(entry, versioned(run, ""), PAIRS, BUDGET))
        except RunError:  # a demo run without two drawings of a prompt has nothing to judge
            return added
        added += 1
    return added
