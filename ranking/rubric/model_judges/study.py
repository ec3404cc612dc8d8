"""Model judges' grades compared with people's, by dimension and as the drawing's score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchsite.lib.model_families import family_of
from generation.suites.suite import Rubric
from judging.files.model_grade_lines import ModelGradeLine
from ranking.rubric.agreement import ITEM
from ranking.statistics.agreement.coefficients import Estimate
from ranking.statistics.model_judges.grades import GradeAgreement, GradePairs, favour, grade_agreement

Array = NDArray[Any]
Item = tuple[str, str, str, int]
SCORE = ("", "")  # stage and dimension of the drawing's score: all of its dimensions, weighed
WORST, LEAST_APART = 6, 0.2  # cases shown, and the share of the scale under which they are none


@dataclass(frozen=True)
class DimensionStudy:
    """One dimension of a stage, or the drawing's score: with people, and people among each other on the same drawings."""

    stage: str
    dimension: str
    with_people: GradeAgreement
    among_people: GradeAgreement


@dataclass(frozen=True)
class WorstGrade:
    """A drawing and dimension on which people, as sure as their number makes them, and a model judge are furthest apart."""

    entrant: str
    stage: str
    subject: str
    attempt: int
    dimension: str
    people: int
    people_grade: float
    model_grade: float
    reason: str


@dataclass(frozen=True)
class GraderStudy:
    """`spread` and `people_spread` are standard deviations of scores over shared drawings; `own_family` is in points of the scale."""

    judge: str
    model: str
    version: int
    simulated: bool
    answers: int
    unreadable: int
    cost_nano: int | None
    priced: int
    dimensions: tuple[DimensionStudy, ...]
    spread: float | None
    people_spread: float | None
    own_family: Estimate
    own_drawings: int
    worst: tuple[WorstGrade, ...]


def study_graders(grades: pd.DataFrame, lines: Iterable[ModelGradeLine], rubric: Rubric) -> tuple[GraderStudy, ...]:
    """`grades` are people's standing ones, columns as a grades file has them; judges in the order of their names."""
    people = people_grades(grades, rubric)
    by_judge: dict[str, list[ModelGradeLine]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: line.key):
        by_judge[line.judge].append(line)
    return tuple(_study(own, people, rubric) for _, own in sorted(by_judge.items()))


Grades = dict[tuple[str, str], dict[Item, dict[str, float]]]  # by stage and dimension, drawing, and person


def people_grades(grades: pd.DataFrame, rubric: Rubric) -> Grades:
    """With the score of each drawing that a person graded on every dimension, under SCORE."""
    people: Grades = defaultdict(lambda: defaultdict(dict))
    columns = (grades[name] for name in (*ITEM, "judge", "dimension", "value"))
    sheets: dict[tuple[Item, str], dict[str, float]] = defaultdict(dict)
    for entrant, stage, subject, attempt, judge, dimension, value in zip(*columns, strict=True):
        item = (entrant, stage, subject, int(attempt))
        people[stage, dimension][item][judge] = value
        sheets[item, judge][dimension] = value
    for (item, judge), sheet in sheets.items():
        if (score := score_of(sheet, item[1], rubric)) is not None:
            people[SCORE][item][judge] = score
    return people


def score_of(sheet: dict[str, float], stage: str, rubric: Rubric) -> float | None:
    """The drawing's score by these grades; None while a dimension lacks one."""
    dimensions = rubric.stage(stage).dimensions
    if any(dimension.key not in sheet for dimension in dimensions):
        return None
    total = sum(dimension.weight for dimension in dimensions)
    return sum(sheet[dimension.key] * dimension.weight for dimension in dimensions) / total


def _study(lines: Sequence[ModelGradeLine], people: Grades, rubric: Rubric) -> GraderStudy:
    first = lines[0]
    readable = [line for line in lines if line.grades is not None]
    costs = [line.cost_nano for line in lines if line.cost_nano is not None]
    by_dimension: dict[tuple[str, str], dict[Item, float]] = defaultdict(dict)
    for line in readable:
        sheet = line.grades or {}
        for dimension, value in sheet.items():
            by_dimension[line.stage, dimension][line.item] = value
        if (score := score_of(sheet, line.stage, rubric)) is not None:
            by_dimension[SCORE][line.item] = score
    reach = rubric.high - rubric.low
    keys = [SCORE, *((stage.key, one.key) for stage in rubric.stages for one in stage.dimensions)]
    scores = _pairs(by_dimension[SCORE], people[SCORE])
    own, own_drawings = _own_family(by_dimension[SCORE], people[SCORE], family_of(first.model))
    return GraderStudy(
        judge=first.judge,
        model=first.model,
        version=first.version,
        simulated=any(line.simulated for line in lines),
        answers=len(readable),
        unreadable=len(lines) - len(readable),
        cost_nano=sum(costs) if costs else None,
        priced=len(costs),
        dimensions=tuple(
            DimensionStudy(
                *key,
                grade_agreement(_pairs(by_dimension[key], people[key]), reach=reach),
                grade_agreement(_among(by_dimension[key], people[key]), reach=reach),
            )
            for key in keys
        ),
        spread=float(scores.first.std()) if len(scores) else None,
        people_spread=float(scores.second.std()) if len(scores) else None,
        own_family=own,
        own_drawings=own_drawings,
        worst=_worst(readable, people, rubric),
    )


def _pairs(model: dict[Item, float], people: dict[Item, dict[str, float]]) -> GradePairs:
    """The model's grade and each person's of the same drawing."""
    rows = [
        (value, given, item, (person,))
        for item, value in model.items()
        for person, given in people.get(item, {}).items()
    ]
    return _columns(rows)


def _among(model: dict[Item, float], people: dict[Item, dict[str, float]]) -> GradePairs:
    """Any two people's grades of a drawing that the model graded; whose comes first is only a name."""
    rows = [
        (a, b, item, (one, other))
        for item in model
        for (one, a), (other, b) in combinations(sorted(people.get(item, {}).items()), 2)
    ]
    return _columns(rows)


def _columns(rows: Sequence[tuple[float, float, Item, tuple[str, ...]]]) -> GradePairs:
    numbers: dict[Any, int] = {}

    def number(name: Any) -> int:
        return numbers.setdefault(name, len(numbers))

    return GradePairs(
        first=np.array([row[0] for row in rows], float),
        second=np.array([row[1] for row in rows], float),
        drawing=np.array([number(item) for _, _, item, _ in rows], int),
        subject=np.array([number(item[1:3]) for _, _, item, _ in rows], int),
        person=np.array([[number((name,)) for name in names] for *_, names in rows], int),
    )


def _own_family(model: dict[Item, float], people: dict[Item, dict[str, float]], family: str) -> tuple[Estimate, int]:
    """How many points better than people the judge scores its own family's drawings, less the same of all others."""
    pairs = _pairs(model, people)
    related = np.array([family_of(item[0]) == family for item in model for _ in people.get(item, {})], bool)
    drawings = len(np.unique(pairs.drawing[related])) if len(pairs) else 0
    return favour(pairs.first - pairs.second, related, pairs.person, pairs.subject), drawings


def _worst(lines: Sequence[ModelGradeLine], people: Grades, rubric: Rubric) -> tuple[WorstGrade, ...]:
    """The furthest of each drawing, and the furthest of these."""
    cases: list[tuple[float, WorstGrade]] = []
    for line in lines:
        own: list[tuple[float, WorstGrade]] = []
        for dimension, value in (line.grades or {}).items():
            given = people.get((line.stage, dimension), {}).get(line.item, {})
            if not given:
                continue
            mean = float(np.mean(list(given.values())))
            if abs(value - mean) > LEAST_APART * (rubric.high - rubric.low):
                weight = abs(value - mean) * len(given) / (len(given) + 1)
                reason = line.reasons.get(dimension, "")
                own.append((weight, WorstGrade(*line.item, dimension, len(given), mean, value, reason)))
        cases += sorted(own, key=lambda case: -case[0])[:1]
    return tuple(case for _, case in sorted(cases, key=lambda case: -case[0])[:WORST])
