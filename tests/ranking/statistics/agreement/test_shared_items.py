from __future__ import annotations

import numpy as np
import pytest

from ranking.statistics import grouping
from ranking.statistics.agreement import cohen, shared_items
from ranking.statistics.agreement.shared_items import measure_agreement
from ranking.statistics.grouping import packed_in_order
from ranking.statistics.votes import make_votes
from tests.ranking.statistics.agreement.plain_agreement import (
    COEFFICIENTS,
    first_answers,
    plain_interval,
    plain_kappa,
)


def votes_on_few_items(rows=700, *, seed, judges=7):
    """Votes in no order of time, many on one item, some by one judge twice, some of an unknown judge, prompt or attempt."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 4, rows)
    judge = rng.integers(-1, judges, rows)
    return make_votes(
        entrants=tuple("abcd"),
        judges=tuple(f"judge-{j}" for j in range(judges)),
        prompts=("one", "two", "three"),
        left=left,
        right=(left + rng.integers(1, 4, rows)) % 4,
        outcome=np.where(rng.random(rows) < 0.15 * (judge + 2), rng.integers(0, 4, rows), left % 2),
        judge=judge,
        prompt=rng.integers(-1, 3, rows),
        left_attempt=rng.integers(-1, 2, rows),
        right_attempt=rng.integers(-1, 2, rows),
        time=rng.permutation(rows).astype(float),
    )


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_agreement_equals_the_sums_over_single_answers(name, seed):
    votes = votes_on_few_items(seed=seed)

    estimate = getattr(measure_agreement(votes), name)

    value, half = plain_interval(first_answers(votes), name)
    assert estimate.value == pytest.approx(value, rel=1e-10)
    assert estimate.value - estimate.low == pytest.approx(half, rel=1e-9)


def test_answers_are_the_same_where_they_cannot_be_packed(monkeypatch):
    votes = votes_on_few_items(2000, seed=3)
    packed = measure_agreement(votes)
    monkeypatch.setattr(shared_items, "packed_in_order", lambda rows, *columns: None)

    assert repr(measure_agreement(votes)) == repr(packed)


def test_rows_are_packed_only_where_their_bits_suffice():
    numbers = np.array([5, 1, 5, 0])

    assert packed_in_order(4, (numbers, 6), (None, 4)).tolist() == [0 << 2 | 3, 1 << 2 | 1, 5 << 2, 5 << 2 | 2]
    assert packed_in_order(4, (numbers, 2**32), (numbers, 2**31)) is not None
    assert packed_in_order(4, (numbers, 2**32), (numbers, 2**31 + 1)) is None


@pytest.mark.parametrize("way", ["pair by pair", "tables", "product"])
def test_kappa_of_two_judges_is_the_same_however_pairs_are_counted(way, monkeypatch):
    votes = votes_on_few_items(2000, seed=3)
    units = first_answers(votes)
    monkeypatch.setattr(cohen, "DENSE", 0.0 if way == "tables" else np.inf)
    monkeypatch.setattr(cohen, "MOST", 0 if way == "product" else 2500)
    monkeypatch.setattr(cohen, "BLOCK", 31 if way == "tables" else 4095)
    monkeypatch.setattr(cohen, "PAIRS", 100)
    monkeypatch.setattr(grouping, "PORTION", 100)

    pairs = measure_agreement(votes).cohen

    assert [(one, other) for one, other, *_ in pairs] == [
        (f"judge-{a}", f"judge-{b}") for a in range(7) for b in range(a + 1, 7)
    ]
    for one, other, shared, kappa in pairs:
        expected = plain_kappa(units, int(one[-1]), int(other[-1]))
        assert (kappa, shared) == (pytest.approx(expected[0], rel=1e-12), expected[1])
