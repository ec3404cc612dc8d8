"""What judges answered in studies: published only where the publisher chooses so, and never what sets a small group apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchsite.lib.text import clean_text
from generation.models import Run
from generation.suites.studies.study import Question
from judging.models import Study, StudyAnswer
from judging.studies.steps import CLOSING, PROFILE, questions_of
from judging.studies.writing import content_of
from ranking.dataset.about import About

SMALLEST = 5  # judges of whom the same is published, at least
STEP = 10  # numbers are published as the ten that they are in
FREE = "text"
Key = tuple[str, str]  # a study's code and a question's key


@dataclass(frozen=True)
class StudyAnswers:
    """Answers to publish by seat; how many are left out; and what was written, without who wrote it."""

    questions: dict[Key, tuple[str, Question]]  # with the study's name
    answers: dict[int, dict[Key, str]]
    left_out: int
    written: list[tuple[Key, str]]


def answers_to_publish(run: Run, about: About) -> StudyAnswers:
    questions = {
        (study.code, key): (study.name, question)
        for study in run.studies.order_by("id")
        for key, question in _asked(study).items()
    }
    chosen: dict[int, dict[Key, str]] = {}
    written: list[tuple[Key, str]] = []
    for row in _standing(run):
        key = (row.participation.study.code, row.question)
        if key not in questions or row.value in (None, "", []):
            continue
        if questions[key][1].kind == FREE:
            written.append((key, clean_text(str(row.value))[0]))
        elif row.participation.seat_id is not None:
            chosen.setdefault(row.participation.seat_id, {})[key] = _word(row.value, questions[key][1])
    kept = shared_only(chosen)
    left_out = sum(map(len, chosen.values())) - sum(map(len, kept.values()))
    return StudyAnswers(
        questions,
        kept if about.answers else {},
        left_out if about.answers else 0,
        sorted(written) if about.comments else [],
    )


def shared_only(answers: Mapping[int, Mapping[Key, str]], smallest: int = SMALLEST) -> dict[int, dict[Key, str]]:
    """Answers by judge without those that set few apart: all that is left of one judge is left of `smallest` judges.

    The rarest answer of each judge who is one of too few is taken away, until there is none such.
    """
    kept = {judge: dict(given) for judge, given in answers.items()}
    while True:
        alike = Counter(frozenset(given.items()) for given in kept.values())
        rare = [given for given in kept.values() if given and alike[frozenset(given.items())] < smallest]
        if not rare:
            return {judge: given for judge, given in kept.items() if given}
        common = Counter(item for given in kept.values() for item in given.items())
        for given in rare:
            del given[min(given.items(), key=lambda item: (common[item], item))[0]]


def _standing(run: Run) -> Any:
    """Answers that stand, of participants who judged and whose data were not erased."""
    rows = StudyAnswer.objects.filter(participation__study__run=run, replaced_at=None, participation__erased_at=None)
    rows = rows.filter(step__in=(PROFILE, CLOSING)).exclude(participation__seat=None)
    return rows.select_related("participation__study").order_by("id")


def _asked(study: Study) -> dict[str, Question]:
    """The questions of every version, as the newest one words them."""
    contents = [content_of(version) for version in study.versions.all()]
    steps = (PROFILE, CLOSING)
    return {asked.key: asked for content in contents for step in steps for asked in questions_of(content, step)}


def _word(value: Any, question: Question) -> str:
    if question.kind == "number" and isinstance(value, int | float):
        low = int(value // STEP) * STEP
        return f"{low}–{low + STEP - 1}"
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
