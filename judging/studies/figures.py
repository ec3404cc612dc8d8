"""What a curator sees of a study: how many ended in which way, how long they took, and where people left."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db.models import Count

from generation.suites.studies.study import OUTCOMES
from judging.models import Participation, Study
from judging.studies.entering import places_taken
from judging.studies.steps import TITLES, steps_of
from judging.studies.writing import content_of, newest_version

LISTED = 500


@dataclass(frozen=True)
class Funnel:
    """How many came to a step, and how many passed it."""

    title: str
    entered: int
    passed: int


def study_figures(study: Study) -> dict[str, Any]:
    content = content_of(newest_version(study))
    counts = dict(study.participations.order_by().values_list("outcome").annotate(Count("id")))
    took = [
        (ended - started).total_seconds()
        for started, ended in study.participations.filter(outcome=Participation.Outcome.DONE).values_list(
            "started_at", "ended_at"
        )
        if ended
    ]
    return {
        "content": content,
        "outcomes": [
            (label, counts.get(name, 0), content.ending(name))
            for name, label in OUTCOMES.items()
            if content.reaches(name) or counts.get(name)
        ],
        "running": counts.get(Participation.Outcome.RUNNING, 0),
        "done": counts.get(Participation.Outcome.DONE, 0),
        "came": sum(counts.values()),
        "taken": places_taken(study),
        "median": median(took) if took else None,
        "funnel": _funnel(study, steps_of(content)),
    }


def _funnel(study: Study, steps: list[str]) -> list[Funnel]:
    rows = study.participations.order_by().values_list("steps__step")
    counts = {
        step: (entered, passed) for step, entered, passed in rows.annotate(Count("id"), Count("steps__passed_at"))
    }
    return [Funnel(TITLES[step], *counts.get(step, (0, 0))) for step in steps]


def participants(study: Study) -> list[Participation]:
    """The newest first, as many as a page holds."""
    rows = study.participations.select_related("seat", "version").defer("seat__plan", "version__content")
    return list(rows.order_by("-id")[:LISTED])
