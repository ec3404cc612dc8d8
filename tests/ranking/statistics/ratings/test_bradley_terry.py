from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ranking.statistics.ratings.bradley_terry import (
    ELO,
    connectivity,
    fit_davidson,
    fit_ratings,
    half_wins,
    map_ratings,
    to_elo,
)
from tests.ranking.statistics.make_votes import counts_of

VECTORS = Path(__file__).resolve().parents[3] / "vectors"


def vector(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


CLOSED = vector("bt_closed_forms")


@pytest.mark.parametrize("case", CLOSED["cases"])
def test_two_entrants_follow_the_closed_form(case):
    counts = counts_of(2, [[0, 1, 0, case["wins_a"]], [0, 1, 1, case["wins_b"]], [0, 1, 2, case["ties"]]])
    theta = fit_ratings(half_wins(counts))
    assert theta[0] - theta[1] == pytest.approx(case["halfwin_logit"], abs=1e-8)
    rating = to_elo(theta)
    assert rating[0] - rating[1] == pytest.approx(case["halfwin_elo_gap"], abs=1e-6)
    assert rating.mean() == pytest.approx(1000)
    davidson = fit_davidson(counts)
    assert davidson.theta[0] - davidson.theta[1] == pytest.approx(case["davidson"]["logit"], abs=1e-8)
    assert davidson.nu == pytest.approx(case["davidson"]["nu"], abs=1e-8)


def test_elo_scale_is_the_published_one():
    assert pytest.approx(CLOSED["elo_scale"]) == ELO


@pytest.mark.parametrize("case", CLOSED["structures"], ids=lambda case: case["name"][:20])
def test_existence_is_checked_before_a_fit(case):
    wins = half_wins(counts_of(case["K"], case["votes_left_right_y"]))
    graph = connectivity(wins)
    assert graph.components == case.get("strong_components", 1)
    if "labels" in case:
        assert graph.component.tolist() == case["labels"]
    expected = case.get("map_rating", case.get("rating"))
    assert fit_ratings(wins) == pytest.approx(expected, abs=1e-8)


def test_undefeated_has_no_upper_bound_and_the_rest_are_bounded():
    graph = connectivity(half_wins(counts_of(3, CLOSED["structures"][1]["votes_left_right_y"])))
    assert graph.no_upper.tolist() == [True, False, False]
    assert graph.no_lower.tolist() == [False, False, False]
    assert graph.islands == 1


def test_winless_has_no_lower_bound():
    graph = connectivity(half_wins(counts_of(3, [[0, 1, 0], [1, 0, 0], [0, 2, 0], [1, 2, 0]])))
    assert graph.no_lower.tolist() == [False, False, True]
    assert not graph.no_upper.any()


def test_an_entrant_nobody_saw_has_no_bound_at_all():
    graph = connectivity(half_wins(counts_of(3, [[0, 1, 0], [1, 0, 0]])))
    assert graph.no_upper.tolist() == graph.no_lower.tolist() == [False, False, True]


def test_an_entrant_nobody_saw_does_not_move_the_others():
    rows = [[0, 1, 0, 5], [1, 0, 0, 3], [0, 1, 2, 2]]
    alone, beside = (fit_ratings(half_wins(counts_of(size, rows))) for size in (2, 3))
    assert beside.tolist() == [*alone.tolist(), 0.0]


def test_stigler_citations():
    data = vector("bt_citations_stigler")
    cited = np.array(data["cited_by_matrix"])
    np.fill_diagonal(cited, 0)
    theta = fit_ratings(cited)
    for i, name in enumerate(data["journals"][1:], start=1):
        assert round(theta[i] - theta[0], 4) == data["published"]["coef_ref_Biometrika"][name]


def test_davidson_pudding():
    data = vector("davidson_pudding_ties")
    counts = np.zeros((6, 6, 4))
    for i, j, _, wins, losses, ties in data["data"]:
        counts[i - 1, j - 1, :3] = wins, losses, ties
    fitted = fit_davidson(counts)
    worth = np.exp(fitted.theta) / np.exp(fitted.theta).sum()
    assert np.round(worth, 4).tolist() == data["published"]["worth_4dp"]
    assert round(fitted.nu, 4) == data["published"]["nu_4dp"]


def test_davidson_says_nothing_of_ties_when_all_are_ties():
    assert fit_davidson(counts_of(2, [[0, 1, 2, 9]])).nu is None


def test_dropping_ties_and_fails_leaves_wins():
    counts = counts_of(2, [[0, 1, 0, 3], [1, 0, 0, 1], [0, 1, 2, 8], [0, 1, 3, 5]])
    assert half_wins(counts, ties="drop", fails="drop").tolist() == [[0, 3], [1, 0]]
    assert half_wins(counts, fails="drop").tolist() == [[0, 7], [5, 0]]
    assert half_wins(counts).tolist() == [[0, 9.5], [7.5, 0]]


def test_newton_agrees_with_choix():
    rng = np.random.default_rng(3)
    wins = rng.integers(1, 30, (12, 12)).astype(float)
    np.fill_diagonal(wins, 0)
    assert map_ratings(wins, ridge=1e-12) == pytest.approx(fit_ratings(wins), abs=1e-6)


def test_batched_fits_equal_single_ones():
    rng = np.random.default_rng(4)
    wins = rng.integers(0, 3, (5, 7, 7)).astype(float)
    wins[:, range(7), range(7)] = 0
    prior = rng.normal(0, 0.5, 7)
    batch = map_ratings(wins, prior=prior, ridge=4.0)
    for one, together in zip(wins, batch, strict=True):
        assert map_ratings(one, prior=prior, ridge=4.0) == pytest.approx(together, abs=1e-9)
