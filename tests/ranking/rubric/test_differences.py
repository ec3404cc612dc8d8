"""Rubric scores compared on the same subjects by the same judges."""

from __future__ import annotations

import numpy as np

from ranking.rubric.differences import compare_entrants
from ranking.rubric.intervals import GradedItems

SUBJECTS, JUDGES = 10, 4


def graded(level, rng, *, subject, judge, noise=0.3, absent=()):
    """One stage, one drawing of each subject, graded by every judge; subjects and judges differ far more than entrants."""
    kept = [s for s in range(SUBJECTS) if s not in absent]
    value = np.array([[level + subject[s] + judge[j] + rng.normal(0, noise) for j in range(JUDGES)] for s in kept])
    items = np.arange(len(kept))
    return GradedItems(
        stage=np.zeros(len(kept), int),
        subject=np.array(kept),
        score=value.mean(1),
        item=np.repeat(items, JUDGES),
        judge=np.tile(np.arange(JUDGES), len(kept)),
        value=value.ravel(),
    )


def compare(levels, seed=1, **options):
    rng = np.random.default_rng(seed)
    common = {"subject": rng.normal(0, 1.5, SUBJECTS), "judge": rng.normal(0, 1, JUDGES)}
    names = [f"e{n}" for n in range(len(levels))]
    columns = {n: graded(level, rng, **common, **options) for n, level in zip(names, levels, strict=True)}
    order = sorted(names, key=lambda name: -columns[name].score.mean())
    return compare_entrants(columns, order, np.array([1.0]), subjects=SUBJECTS, judges=JUDGES, top=10.0)


def test_what_judges_and_subjects_share_cancels():
    differences = compare([6.0, 5.0])

    (pair,) = differences.table["pairs"]
    assert (pair["upper"], pair["lower"]) == ("e0", "e1")
    assert pair["state"] == "ahead"
    assert pair["low"] < 1 < pair["high"]
    assert differences.ranges == {"e0": (1, 1), "e1": (2, 2)}


def test_equals_are_seldom_called_different():
    states = [compare([5.0, 5.0, 5.0], seed=seed).table["pairs"] for seed in range(60)]
    false = sum(any(pair["state"] == "ahead" for pair in pairs) for pairs in states)

    assert false <= 6


def test_without_a_shared_subject_there_is_no_comparison():
    rng = np.random.default_rng(3)
    common = {"subject": np.zeros(SUBJECTS), "judge": np.zeros(JUDGES)}
    columns = {
        "a": graded(6, rng, absent=range(5), **common),
        "b": graded(5, rng, absent=range(5, 10), **common),
    }
    differences = compare_entrants(columns, ["a", "b"], np.array([1.0]), subjects=SUBJECTS, judges=JUDGES, top=10.0)

    assert [pair["state"] for pair in differences.table["pairs"]] == ["apart"]
