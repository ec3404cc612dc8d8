"""Rubric scores against examples worked by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.suites.suite import Dimension, Rubric, Stage
from ranking.rubric.agreement import complete_block, judge_severity
from ranking.rubric.files import COLUMNS
from ranking.rubric.intervals import GradedItems, mean_interval
from ranking.rubric.scores import (
    ITEM,
    expected_from,
    score_judgements,
    score_rubric,
    weights_to_hundred,
)

WEIGHTS = np.array([1.0, 1.8]) * 100 / 28
NAMES = {"s1": ("geometry", "color"), "s2": ("signature", "proportion"), "s3": ("structure", "detail")}


def make_rubric(missing: str = "zero", weights: tuple[float, ...] = (1.0, 1.8, 3.2)) -> Rubric:
    stages = tuple(
        Stage(
            key,
            key.upper(),
            weight,
            tuple(Dimension(d, d, w) for d, w in zip((*names, "impression"), (0.4, 0.2, 0.4), strict=True)),
        )
        for (key, names), weight in zip(NAMES.items(), weights, strict=False)
    )
    return Rubric(step=0.5, low=0, high=10, missing=missing, stages=stages)


def grade(judge: str, entrant: str, stage: str, subject: str, attempt: int, values: tuple[float, ...]) -> list[tuple]:
    names = (*NAMES[stage], "impression")
    return [(judge, entrant, stage, subject, attempt, name, value) for name, value in zip(names, values, strict=True)]


def frame(*items: list[tuple]) -> pd.DataFrame:
    return pd.DataFrame([row for item in items for row in item], columns=COLUMNS)


def flat(
    judge: str, entrant: str, value: float, *, subjects: int = 2, attempts: int = 1, stages: str = "123"
) -> list[tuple]:
    """The same value everywhere."""
    return [
        row
        for stage in stages
        for subject in range(subjects)
        for attempt in range(1, attempts + 1)
        for row in grade(judge, entrant, f"s{stage}", f"p{subject}", attempt, (value,) * 3)
    ]


def score(board, entrant: str = "m"):
    return next(score for score in board.scores if score.entrant == entrant)


def test_it_works():
    # S = 0.4·8 + 0.2·5 + 0.4·7 = 7.0; 0.4·6 + 0.2·10 + 0.4·4 = 6.0; 0.4·5 + 0.2·0 + 0.4·5 = 4.0.
    # Total = (7·1.0 + 6·1.8 + 4·3.2) · 100 / 60 = 30.6 · 100 / 60 = 51.0.
    grades = frame(
        grade("ann", "m", "s1", "a", 1, (8, 5, 7)),
        grade("ann", "m", "s2", "b", 1, (6, 10, 4)),
        grade("ann", "m", "s3", "c", 1, (5, 0, 5)),
    )

    scored = score(score_rubric(grades, rubric=make_rubric()))

    assert [scored.stages[key].value for key in ("s1", "s2", "s3")] == pytest.approx([7.0, 6.0, 4.0])
    assert scored.total.value == pytest.approx(51.0)
    assert scored.dimensions["s1"] == {"geometry": 8.0, "color": 5.0, "impression": 7.0}
    assert (scored.rank, scored.drawings, scored.graded, scored.invalid, scored.judges) == (1, 3, 3, 0, 1)


def test_seed_formula_with_ten_drawings_a_stage():
    # The seed's own form: (S1·N·W1 + S2·N·W2 + S3·N·W3) · 100 / 600 with N = 10.
    grades = frame(
        *(
            flat("ann", "m", value, subjects=5, attempts=2, stages=stage)
            for stage, value in zip("123", (9, 6, 3.5), strict=True)
        )
    )

    scored = score(score_rubric(grades, rubric=make_rubric()))

    assert scored.total.value == pytest.approx((9 * 10 * 1.0 + 6 * 10 * 1.8 + 3.5 * 10 * 3.2) * 100 / 600)
    assert scored.drawings == 30


@pytest.mark.parametrize("value, total", [(0, 0.0), (10, 100.0), (2.5, 25.0)])
def test_flat_grades_give_their_share_of_a_hundred(value, total):
    assert score(score_rubric(frame(flat("ann", "m", value)), rubric=make_rubric())).total.value == pytest.approx(total)


def test_two_stages_with_other_weights():
    rubric = make_rubric(weights=(3.0, 1.0))
    grades = frame(grade("ann", "m", "s1", "a", 1, (8, 8, 8)), grade("ann", "m", "s2", "b", 1, (4, 4, 4)))

    assert weights_to_hundred(rubric) == pytest.approx({"s1": 7.5, "s2": 2.5})
    assert score(score_rubric(grades, rubric=rubric)).total.value == pytest.approx(8 * 7.5 + 4 * 2.5)


def test_judges_are_averaged_for_each_drawing_first():
    # Ann and Bob give drawing 1 a 10 and a 4 (mean 7), Ann alone gives drawing 2 a 3: the stage is 5, not 17/3.
    rubric = make_rubric(weights=(1.0,))
    grades = frame(
        grade("ann", "m", "s1", "a", 1, (10, 10, 10)),
        grade("bob", "m", "s1", "a", 1, (4, 4, 4)),
        grade("ann", "m", "s1", "b", 1, (3, 3, 3)),
    )

    scored = score(score_rubric(grades, rubric=rubric))

    assert scored.stages["s1"].value == pytest.approx(5.0)
    assert scored.dimensions["s1"]["geometry"] == pytest.approx(5.0)


@pytest.mark.parametrize("missing, stage", [("zero", 4.0), ("skip", 8.0)])
def test_missing_drawing_scores_zero_or_is_left_out(missing, stage):
    grades = frame(flat("ann", "full", 5), flat("ann", "m", 8)[: 3 * 5])

    scored = score(score_rubric(grades, rubric=make_rubric(missing)))

    assert scored.stages["s3"].value == pytest.approx(stage)
    assert scored.dimensions["s3"]["detail"] == pytest.approx(stage)
    assert (scored.drawings, scored.graded, scored.invalid) == (6, 5, 1)


def test_invalid_drawing_scores_zero_even_if_someone_graded_it():
    grades = frame(flat("ann", "m", 8))
    expected = expected_from(grades)
    expected.loc[(expected["stage"] == "s1") & (expected["subject"] == "p0"), "valid"] = False

    scored = score(score_rubric(grades, rubric=make_rubric(), expected=expected))

    assert scored.stages["s1"].value == pytest.approx(4.0)
    assert (scored.graded, scored.invalid) == (5, 1)


def test_drawing_that_waits_for_a_judge_is_pending_not_zero():
    grades = frame(flat("ann", "m", 8))
    waiting = pd.DataFrame([("m", "s1", "new", 1, True)], columns=[*ITEM, "valid"])
    expected = pd.concat([expected_from(grades), waiting])

    scored = score(score_rubric(grades, rubric=make_rubric(), expected=expected))

    assert scored.stages["s1"].value == pytest.approx(8.0)
    assert (scored.drawings, scored.graded, scored.pending) == (7, 6, 1)


def test_total_waits_for_every_stage():
    board = score_rubric(frame(flat("ann", "m", 8, stages="12")), rubric=make_rubric())

    assert (score(board).total.value, score(board).rank) == (None, None)
    assert score(board).stages["s2"].value == pytest.approx(8.0)


def test_run_without_any_grade_has_a_board_of_zeros_and_blanks():
    rows = [("m", stage, "a", attempt, stage != "s1") for stage in NAMES for attempt in (1, 2)]
    expected = pd.DataFrame(rows, columns=[*ITEM, "valid"])

    board = score_rubric(frame(), rubric=make_rubric(), expected=expected)

    assert (score(board).total.value, score(board).stages["s1"].value) == (None, 0.0)
    assert (score(board).invalid, score(board).pending, board.judges, board.alpha.value) == (2, 4, (), None)


def test_unfinished_judgement_is_left_out_and_counted():
    judgements, unfinished = score_judgements(frame(flat("ann", "m", 8))[:-1], make_rubric())

    assert (len(judgements), unfinished) == (5, 1)


def test_equal_totals_share_a_rank():
    board = score_rubric(frame(flat("a", "x", 5), flat("a", "y", 7), flat("a", "z", 5)), rubric=make_rubric())

    assert [(found.entrant, found.rank) for found in board.scores] == [("y", 1), ("x", 2), ("z", 2)]


def test_severity_is_the_mean_offset_from_the_others():
    # On p0 Ann 8, Bob 5, Cy 5: Ann +3, Bob −1.5, Cy −1.5. On p1 Ann 6, Bob 4: ±2. Cy's p2 is shared with nobody.
    grades = frame(
        *(grade(judge, "m", "s1", subject, 1, (value,) * 3)
          for judge, subject, value in [("ann", "p0", 8), ("bob", "p0", 5), ("cy", "p0", 5), ("ann", "p1", 6), ("bob", "p1", 4), ("cy", "p2", 9)])
    )  # fmt: skip
    ann, bob, cy = judge_severity(score_judgements(grades, make_rubric())[0])

    assert (ann.offset, bob.offset, cy.offset) == pytest.approx((2.5, -1.75, -1.5))
    assert (ann.shared, cy.shared, cy.drawings) == (2, 1, 2)
    assert cy.mean == pytest.approx(7.0)


def test_consistency_is_the_variance_across_attempts():
    # Attempts 4 and 6 of one subject, 5 and 5 of the other: variances 2 and 0, pooled 1.
    rubric = make_rubric(weights=(1.0,))
    values = {("p0", 1): 4, ("p0", 2): 6, ("p1", 1): 5, ("p1", 2): 5}
    grades = frame(*(grade("ann", "m", "s1", s, a, (v,) * 3) for (s, a), v in values.items()))

    assert score(score_rubric(grades, rubric=rubric)).consistency.variance == pytest.approx(1.0)


def test_agreement_is_that_of_shrout_and_fleiss():
    # Table 2 of Shrout and Fleiss (1979): ICC(2,1) = .29, ICC(2,k) = .62.
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    grades = frame(
        *(
            grade(f"j{judge}", "m", "s1", f"p{row}", 1, (value,) * 3)
            for row, values in enumerate(table)
            for judge, value in enumerate(values)
        )
    )

    board = score_rubric(grades, rubric=make_rubric(weights=(1.0,)))

    assert (round(board.icc1.value, 2), round(board.icck.value, 2)) == (0.29, 0.62)
    assert (board.icc_targets, board.icc_judges, board.alpha_units) == (6, 4, 6)


def test_alpha_of_two_judges_by_hand():
    # Units (1,2), (3,3): observed 2·1/1 = 2 over 4 values; expected over the 12 ordered pairs of 1,2,3,3: 2·(1+4+4+1+1+0)=22.
    # alpha = 1 − (2/4) / (22/12) = 1 − 3/11.
    rubric = make_rubric(weights=(1.0,))
    cells = [("ann", "p0", 1), ("bob", "p0", 2), ("ann", "p1", 3), ("bob", "p1", 3), ("ann", "p2", 9)]
    grades = frame(*(grade(judge, "m", "s1", subject, 1, (value,) * 3) for judge, subject, value in cells))

    board = score_rubric(grades, rubric=rubric)

    assert board.alpha.value == pytest.approx(1 - 3 / 11)
    assert board.alpha_units == 2


def test_complete_block_drops_the_judge_with_gaps():
    gap = np.nan
    table = np.array([[1, 2, gap], [3, 4, gap], [5, 6, 7], [gap, 8, 9]])

    assert complete_block(table).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert complete_block(np.array([[1, gap], [gap, 2]])).size == 0


# Intervals


def test_interval_of_one_judge_is_that_of_the_subjects():
    # One stage, subjects 4, 6, 8: mean 6, variance of the mean 4/3, t(2) at 97.5 % = 4.3027: 6 ± 4.9683.
    rubric = make_rubric(weights=(1.0,))
    grades = frame(*(grade("ann", "m", "s1", f"p{v}", 1, (v,) * 3) for v in (4, 6, 8)))

    board = score_rubric(grades, rubric=rubric)

    assert (score(board).stages["s1"].low, score(board).stages["s1"].high) == pytest.approx((1.0317, 10.0), abs=1e-4)
    assert score(board).total.low == pytest.approx(10.317, abs=1e-3)
    assert "One judge" in board.notes[0]


def test_interval_of_two_judges_adds_both_ways():
    # Ann 2, 4, 6 and Bob 4, 6, 8 on three subjects. By subject: means 3, 5, 7, variance of the mean 4/3. By judge: 4 and 6,
    # variance of the mean 1. Independent: Σ (x − 5)² / 36 = (9+1+1+1+1+9)/36 = 22/36. V = 4/3 + 1 − 22/36; t(1) = 12.7062.
    rubric = make_rubric(weights=(1.0,))
    cells = [
        (judge, subject, value + lift)
        for judge, lift in (("ann", 0), ("bob", 2))
        for subject, value in zip("abc", (2, 4, 6), strict=True)
    ]
    grades = frame(*(grade(judge, "m", "s1", subject, 1, (value,) * 3) for judge, subject, value in cells))
    half = 12.7062 * math.sqrt(4 / 3 + 1 - 22 / 36)

    scored = score(score_rubric(grades, rubric=rubric)).stages["s1"]

    assert scored.value == pytest.approx(5.0)
    assert (scored.low, scored.high) == (max(0.0, 5 - half), min(10.0, 5 + half)) == (0.0, 10.0)


def test_interval_covers_the_truth_when_judges_and_subjects_differ():
    rng = np.random.default_rng(5)
    stage = np.repeat([0, 1], 12)
    subject = np.repeat(np.arange(12), 2)
    item, judge = np.divmod(np.arange(24 * 6), 6)
    covered = blind = 0
    for _ in range(400):
        value = 5 + rng.normal(0, 0.7, 12)[subject[item]] + rng.normal(0, 0.5, 6)[judge] + rng.normal(0, 0.5, 144)
        score = np.bincount(item, value) / 6
        both = mean_interval(GradedItems(stage, subject, score, item, judge, value), WEIGHTS, within=(0, 100))
        lone = mean_interval(GradedItems(stage, subject, score, item, 0 * judge, value), WEIGHTS, within=(0, 100))
        covered += both.low <= 50 <= both.high
        blind += lone.low <= 50 <= lone.high

    assert 0.92 <= covered / 400 <= 0.99
    assert blind < covered


# Whatever comes


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from(["s1", "s2", "s3"]), st.integers(0, 2), st.integers(1, 2), st.integers(0, 20)),
        min_size=1,
        max_size=40,
        unique_by=lambda cell: cell[:5],
    ),
    st.sampled_from(["zero", "skip"]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_scores_stay_on_their_scale(cells, missing):
    grades = frame(*(grade(j, e, s, f"p{p}", a, (v / 2,) * 3) for j, e, s, p, a, v in cells))
    board = score_rubric(grades, rubric=make_rubric(missing))

    for found in board.scores:
        assert found.graded + found.invalid + found.pending == found.drawings
        for estimate, top in [(found.total, 100), *((stage, 10) for stage in found.stages.values())]:
            assert estimate.value is None or -1e-9 <= estimate.value <= top + 1e-9
            assert estimate.low is None or estimate.low <= estimate.value + 1e-9 <= estimate.high + 2e-9
    json.dumps([found.total.value for found in board.scores], allow_nan=False)
