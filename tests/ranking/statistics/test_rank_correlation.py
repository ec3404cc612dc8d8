"""Two rankings compared, against numbers worked out by hand or published."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ranking.statistics.rank_correlation import compare_rankings, disagreements, kendall_tau, spearman_rho

FIRST = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
SECOND = {"a": 2, "b": 1, "c": 3, "d": 5, "e": 4}


def test_it_works():
    # Two of ten pairs are the other way round: (8 − 2) / 10. Squared rank differences add up to 4: 1 − 6 · 4 / (5 · 24).
    comparison = compare_rankings(FIRST, SECOND)

    assert (comparison.kendall.value, comparison.spearman.value, comparison.count) == (
        pytest.approx(0.6),
        pytest.approx(0.8),
        5,
    )


def test_intervals_follow_the_papers():
    # atanh 0.6 = 0.693147 ± 1.959964 · sqrt(0.437 / 1); atanh 0.8 = 1.098612 ± 1.959964 · sqrt(1.32 / 2).
    comparison = compare_rankings(FIRST, SECOND)

    assert (comparison.kendall.low, comparison.kendall.high) == (
        pytest.approx(-0.53879, abs=1e-4),
        pytest.approx(0.96321, abs=1e-4),
    )
    assert (comparison.spearman.low, comparison.spearman.high) == (
        pytest.approx(-0.45712, abs=1e-4),
        pytest.approx(0.99084, abs=1e-4),
    )


def test_spearman_of_the_published_example():
    # Intelligence and hours of television: rho = −29/165.
    iq = dict(zip("abcdefghij", (106, 100, 86, 101, 99, 103, 97, 113, 112, 110), strict=True))
    hours = dict(zip("abcdefghij", (7, 27, 2, 50, 28, 29, 20, 12, 6, 17), strict=True))

    assert compare_rankings(iq, hours).spearman.value == pytest.approx(-29 / 165)


def test_only_names_in_both_count():
    assert compare_rankings(FIRST, {**SECOND, "z": 9}).count == 5


def test_under_five_names_there_is_no_interval():
    comparison = compare_rankings({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3})

    assert (comparison.kendall.value, comparison.kendall.low, comparison.spearman.high) == (1.0, None, None)


def test_perfect_agreement_of_few_is_not_certainty():
    comparison = compare_rankings(FIRST, FIRST)

    assert comparison.kendall.high == comparison.spearman.high == 1.0
    assert 0 < comparison.kendall.low < 0.9
    assert compare_rankings(FIRST, {name: -value for name, value in FIRST.items()}).kendall.low == -1.0


def test_all_ties_or_one_name_have_no_correlation():
    assert compare_rankings(FIRST, dict.fromkeys(FIRST, 1)).kendall.value is None
    assert compare_rankings({"a": 1}, {"a": 1}).spearman.value is None


def test_disagreements_come_widest_first():
    table = disagreements({"a": 0.1, "b": 0.9, "c": 0.5}, {"a": 30, "b": 20, "c": 10}, most=2)

    # Places of a: 1/6 by the first score, 5/6 by the second.
    assert table["name"].tolist() == ["a", "b"]
    assert table["gap"].tolist() == [pytest.approx(-2 / 3), pytest.approx(1 / 3)]


def test_disagreements_of_nothing_are_none():
    assert disagreements({}, {}).empty


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=30))
def test_the_correlations_are_scipys(pairs):
    left, right = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    if len(set(left)) < 2 or len(set(right)) < 2:
        return

    assert kendall_tau(left, right) == pytest.approx(scipy.stats.kendalltau(left, right).statistic, abs=1e-12)
    assert spearman_rho(left, right) == pytest.approx(scipy.stats.spearmanr(left, right).statistic, abs=1e-12)
