"""How many of a run's answers a leaderboard rests on, and how many are missing: lost by us or on the way, not by the model."""

from __future__ import annotations

from collections import Counter

from django.db.models import Count

from generation.models import Run, Sample
from ranking.results import AnswersResult
from ranking.words import notes_section


def count_answers(run: Run) -> AnswersResult:
    """Of entrants that compete, without what a curator excluded; while the run draws, what is to come is not missing."""
    samples = run.samples.filter(excluded_reason="", entrant__disqualified="", entrant__approved=True)
    grouped = samples.order_by().values_list("entrant__name", "state").annotate(Count("id"))
    coming = {Sample.State.PENDING, Sample.State.ASKING} if run.drawing_state == Run.Drawing.OPEN else set()
    expected, waiting, missing = 0, 0, Counter[str]()
    for name, state, count in grouped:
        expected += count
        if state in coming:
            waiting += count
        elif state != Sample.State.DRAWN:
            missing[name] += count
    return {
        "expected": expected,
        "missing": missing.total(),
        "waiting": waiting,
        "missing_by_entrant": dict(sorted(missing.items())),
    }


def notes_markdown(run: Run) -> list[str]:
    return notes_section(run.entrants.exclude(note="").order_by("id").values_list("name", "note"))
