"""Grades on a rubric to scores out of 100: the formula of seed 002, general in subjects, attempts, stages and dimensions.

- A judge's grades of one drawing, weighed by the stage's dimensions, are that judge's score of it (0 to the scale's top).
- A drawing's score is the mean of its judges; a stage's the mean of its drawings; the total weighs the stages:
  `Σ S·w · 100 / (high · Σ w)`. The number of drawings cancels.
- An invalid answer scores 0 (`missing: zero`) or is left out (`missing: skip`). A drawing that can be graded and has not
  been yet is left out either way, and counted as pending. An answer that was lost on the way is in none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchsite.lib.file_errors import FileError
from generation.suites.suite import Rubric, Suite
from judging.files.model_grade_lines import read_model_grades
from ranking.rubric.agreement import ITEM, JudgeSeverity, agreement_of, judge_severity
from ranking.rubric.differences import Differences, compare_entrants
from ranking.rubric.files import OUTPUTS, read_grades
from ranking.rubric.intervals import GradedItems, mean_interval
from ranking.rubric.model_judges.study import GraderStudy, study_graders
from ranking.statistics.agreement.coefficients import Estimate
from ranking.statistics.agreement.consistency import Consistency, score_consistency
from ranking.statistics.ranks import shared_ranks


@dataclass(frozen=True)
class EntrantScore:
    """One row of a rubric leaderboard; `total` is out of 100, stages and dimensions are on the rubric's own scale."""

    entrant: str
    rank: int | None
    total: Estimate
    stages: dict[str, Estimate]
    dimensions: dict[str, dict[str, float | None]]  # stage -> dimension -> mean
    drawings: int  # expected of this entrant
    graded: int
    invalid: int  # answers without a drawing
    pending: int  # valid, but graded by nobody yet
    judges: int
    consistency: Consistency  # of drawings' scores across attempts


@dataclass(frozen=True)
class RubricBoard:
    """All that grades say, with what it rests on."""

    scores: tuple[EntrantScore, ...]
    judges: tuple[JudgeSeverity, ...]
    icc1: Estimate  # ICC(2,1): how far one judge can be relied on
    icck: Estimate  # ICC(2,k): the mean of these judges
    icc_targets: int
    icc_judges: int
    alpha: Estimate  # Krippendorff's, interval metric, over every drawing with two or more judges
    alpha_units: int
    missing: str
    grades: int
    unfinished: int  # judgements left out because a dimension has no grade
    notes: tuple[str, ...] = ()
    differences: Mapping[str, Differences] = field(default_factory=dict, compare=False)  # by stage; "" is the total
    items: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)  # ITEM, score, judges, state
    models: tuple[GraderStudy, ...] = ()  # model judges, compared with these grades


def score_judgements(grades: pd.DataFrame, rubric: Rubric) -> tuple[pd.DataFrame, int]:
    """Weighted score of each (judge, drawing), columns `judge`, ITEM and `score`; and how many lack a dimension.

    `grades` has one row a grade, columns `judge`, ITEM, `dimension` and `value`; at most one for a judge, drawing and dimension.
    """
    weights = [(stage.key, d.key, d.weight, len(stage.dimensions)) for stage in rubric.stages for d in stage.dimensions]
    table = pd.DataFrame(weights, columns=["stage", "dimension", "weight", "needed"])
    table["weight"] /= table.groupby("stage")["weight"].transform("sum")
    joined = grades.merge(table, on=["stage", "dimension"], how="inner")
    joined["part"] = joined["value"] * joined["weight"]
    by_judgement = joined.groupby(["judge", *ITEM], as_index=False).agg(
        score=("part", "sum"), seen=("dimension", "size"), needed=("needed", "first")
    )
    whole = by_judgement["seen"] == by_judgement["needed"]
    return by_judgement.loc[whole, ["judge", *ITEM, "score"]].reset_index(drop=True), int((~whole).sum())


def score_items(judgements: pd.DataFrame, expected: pd.DataFrame, rubric: Rubric) -> pd.DataFrame:
    """Every expected drawing with `score` (mean of judges, 0, or NaN where it does not count), `judges` and `state`.

    `expected` has the columns of ITEM and `valid`, False for an answer without a drawing.
    """
    means = judgements.groupby(ITEM, as_index=False).agg(score=("score", "mean"), judges=("judge", "nunique"))
    items = expected[[*ITEM, "valid"]].merge(means, on=ITEM, how="left")
    items["judges"] = items["judges"].fillna(0).astype(int)
    valid = items["valid"].astype(bool)
    items["state"] = np.select([~valid, items["judges"] > 0], ["invalid", "graded"], "pending")
    items.loc[~valid, "judges"] = 0
    items.loc[~valid, "score"] = 0.0 if rubric.missing == "zero" else np.nan
    return items.drop(columns="valid")


def expected_from(grades: pd.DataFrame) -> pd.DataFrame:
    """What a bare file of grades lets us expect: each drawing that any entrant has, from every entrant.

    A drawing without a grade counts as invalid, as a file cannot say that one is still waiting.
    """
    made = grades[["stage", "subject", "attempt"]].drop_duplicates()
    expected = grades[["entrant"]].drop_duplicates().merge(made, how="cross")
    present = grades[ITEM].drop_duplicates().assign(valid=True)
    expected = expected.merge(present, on=ITEM, how="left")
    return expected.assign(valid=expected["valid"].notna())


def score_rubric(grades: pd.DataFrame, *, rubric: Rubric, expected: pd.DataFrame | None = None) -> RubricBoard:
    """The whole analysis of a frame of grades; `expected` as in `score_items`, else taken from the grades."""
    expected = expected_from(grades) if expected is None else expected
    wanted = expected.loc[expected["valid"].astype(bool), ITEM]
    judgements, unfinished = score_judgements(grades.merge(wanted, on=ITEM), rubric)
    items = score_items(judgements, expected, rubric)
    dimensions = _dimension_means(grades.merge(wanted, on=ITEM), items, rubric)
    scores = [_entrant_score(name, judgements, items, dimensions, rubric) for name in sorted(items["entrant"].unique())]
    ranked = _ranked(scores)
    return RubricBoard(
        scores=ranked,
        judges=judge_severity(judgements),
        **agreement_of(judgements),
        missing=rubric.missing,
        grades=len(grades),
        unfinished=unfinished,
        notes=_notes(judgements),
        differences=_differences(ranked, items, judgements, rubric),
        items=items,
    )


def _differences(
    scores: Sequence[EntrantScore], items: pd.DataFrame, judgements: pd.DataFrame, rubric: Rubric
) -> dict[str, Differences]:
    """Of the total and of each stage, between the entrants that have it."""
    subjects = {
        key: place for place, key in enumerate(dict.fromkeys(zip(items["stage"], items["subject"], strict=True)))
    }
    judges = {name: place for place, name in enumerate(sorted(judgements["judge"].unique()))}
    graded = {}
    for score in scores:
        mine = items[items["entrant"] == score.entrant].reset_index(drop=True)
        own = judgements[judgements["entrant"] == score.entrant]
        columns = _columns(mine, own, rubric)
        graded[score.entrant] = replace(
            columns,
            subject=np.array([subjects[key] for key in zip(mine["stage"], mine["subject"], strict=True)], int),
            judge=np.array([judges[name] for name in own["judge"]], int),
        )
    size = {"subjects": len(subjects), "judges": len(judges)}
    total = [score.entrant for score in scores if score.total.value is not None]
    weights = np.array([*weights_to_hundred(rubric).values()])
    result = {"": compare_entrants(graded, total, weights, top=100.0, **size)}
    for place, stage in enumerate(rubric.stages):
        known = [(value, s.entrant) for s in scores if (value := s.stages[stage.key].value) is not None]
        order = [name for _, name in sorted(known, key=lambda pair: (-pair[0], pair[1]))]
        alone = np.eye(len(rubric.stages))[place]
        result[stage.key] = compare_entrants(graded, order, alone, top=float(rubric.high), **size)
    return result


def analyse_file(path: Path, *, suite: Suite, out_format: str = "json", model_grades: Path | None = None) -> str:
    """Scores of a bare grades.jsonl as `json`, `markdown` or `csv`; raises FileError with file, line and field.

    `model_grades` is a file of model judges' answers, which are compared with the grades.
    """
    if suite.rubric is None:
        raise FileError(path.name, 0, "", f"the suite {suite.slug} has no rubric.")
    grades = read_grades(path, suite=suite)
    board = score_rubric(grades, rubric=suite.rubric)
    if model_grades:
        lines = read_model_grades(model_grades, rubric=suite.rubric)
        board = replace(board, models=study_graders(grades, lines, suite.rubric))
    return OUTPUTS[out_format](board, suite.rubric)


def weights_to_hundred(rubric: Rubric) -> dict[str, float]:
    """What a point of each stage's score is worth in the total: `w · 100 / (high · Σ w)`."""
    total = sum(stage.weight for stage in rubric.stages)
    return {stage.key: stage.weight * 100 / (rubric.high * total) for stage in rubric.stages}


def _entrant_score(
    entrant: str,
    judgements: pd.DataFrame,
    items: pd.DataFrame,
    dimensions: dict[tuple[str, ...], float],
    rubric: Rubric,
) -> EntrantScore:
    mine = items[items["entrant"] == entrant].reset_index(drop=True)
    graded = _columns(mine, judgements[judgements["entrant"] == entrant], rubric)
    state = mine["state"].to_numpy()
    alone = np.eye(len(rubric.stages))
    return EntrantScore(
        entrant=str(entrant),
        rank=None,
        total=mean_interval(graded, np.array([*weights_to_hundred(rubric).values()]), within=(0.0, 100.0)),
        stages={
            stage.key: mean_interval(graded, alone[place], within=(0.0, rubric.high))
            for place, stage in enumerate(rubric.stages)
        },
        dimensions={
            stage.key: {d.key: dimensions.get((entrant, stage.key, d.key)) for d in stage.dimensions}
            for stage in rubric.stages
        },
        drawings=len(mine),
        graded=int((state == "graded").sum()),
        invalid=int((state == "invalid").sum()),
        pending=int((state == "pending").sum()),
        judges=len(np.unique(graded.judge)),
        consistency=score_consistency(_by_attempt(graded)),
    )


def _columns(items: pd.DataFrame, judgements: pd.DataFrame, rubric: Rubric) -> GradedItems:
    """One entrant's frames as numbers."""
    places = {stage.key: place for place, stage in enumerate(rubric.stages)}
    keys = list(zip(items["stage"], items["subject"], strict=True))
    subjects = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    rows = {key: row for row, key in enumerate(zip(*(items[name] for name in ITEM[1:]), strict=True))}
    graded = zip(*(judgements[name] for name in ITEM[1:]), strict=True)
    return GradedItems(
        stage=np.array([places[stage] for stage, _ in keys], int),
        subject=np.array([subjects[key] for key in keys], int),
        score=items["score"].to_numpy(float),
        item=np.array([rows[key] for key in graded], int),
        judge=pd.factorize(judgements["judge"])[0],
        value=judgements["score"].to_numpy(float),
    )


def _by_attempt(graded: GradedItems) -> np.ndarray:
    """Scores [subjects, attempts], NaN where there is none."""
    order = np.argsort(graded.subject, kind="stable")
    subject = graded.subject[order]
    sizes = np.bincount(subject)
    place = np.arange(len(subject)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.full((len(sizes), int(sizes.max(initial=0))), np.nan)
    table[subject, place] = graded.score[order]
    return table


def _dimension_means(grades: pd.DataFrame, items: pd.DataFrame, rubric: Rubric) -> dict[tuple[str, ...], float]:
    """Mean of each dimension by (entrant, stage, dimension): judges first, then drawings; invalid ones as in scores."""
    by_item = grades.groupby([*ITEM, "dimension"], as_index=False)["value"].mean()
    invalid = items.loc[(items["state"] == "invalid") & items["score"].notna(), ITEM]
    names = pd.DataFrame([(s.key, d.key) for s in rubric.stages for d in s.dimensions], columns=["stage", "dimension"])
    zeros = invalid.merge(names, on="stage").assign(value=0.0)
    together = pd.concat([by_item, zeros]) if len(zeros) else by_item
    means = together.groupby(["entrant", "stage", "dimension"], as_index=False)["value"].mean()
    keys = zip(means["entrant"], means["stage"], means["dimension"], strict=True)
    return dict(zip(keys, means["value"].astype(float), strict=True))


def _ranked(scores: list[EntrantScore]) -> tuple[EntrantScore, ...]:
    """Best first; equal totals share a rank, and an entrant without a total has none."""
    known = [(total, score) for score in scores if (total := score.total.value) is not None]
    known.sort(key=lambda pair: (-pair[0], pair[1].entrant))
    ranks = shared_ranks([total for total, _ in known])
    ranked = [replace(score, rank=rank) for (_, score), rank in zip(known, ranks, strict=True)]
    return (*ranked, *(score for score in scores if score.total.value is None))


def _notes(judgements: pd.DataFrame) -> tuple[str, ...]:
    judges = judgements["judge"].nunique()
    if judges == 1:
        return ("One judge: the intervals cover the choice of subjects and speak for this judge alone.",)
    if judges and judgements.groupby(ITEM)["judge"].nunique().max() < 2:
        return ("No drawing was graded by two judges: agreement is unknown.",)
    return ()
