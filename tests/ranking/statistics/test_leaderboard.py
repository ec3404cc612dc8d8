from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.numbers.worlds import FieldWorld, simulate_field
from ranking.pairwise.as_json import leaderboard_csv, leaderboard_dict
from ranking.pairwise.as_markdown import leaderboard_markdown
from ranking.statistics.leaderboard import Settings, analyse_votes, fit_counts
from ranking.statistics.ratings.scopes import as_cells
from ranking.statistics.tallies import Tallies, tally_votes
from ranking.statistics.votes import Votes, make_votes
from tests.ranking.statistics.make_votes import simulate

QUICK = Settings(draws=200)


def document(votes: Votes, settings: Settings = QUICK) -> dict:
    board = analyse_votes(votes, settings=settings)
    result = leaderboard_dict(board)
    json.dumps(result, allow_nan=False)
    assert "nan" not in leaderboard_markdown(leaderboard_dict(board)).lower().split()
    leaderboard_csv(board)
    return result


def ratings(found: dict) -> dict[str, float]:
    return {row["entrant"]: row["rating"] for row in found["overall"]}


def test_it_works():
    result = document(simulate(1500, judge_sd=0.2, prompt_sd=0.2, seed=1))
    assert result["votes"] == 1500
    assert (result["judges_count"], result["prompts_count"]) == (8, 8)
    assert [row["rating"] for row in result["overall"]] == sorted(ratings(result).values(), reverse=True)
    first = result["overall"][0]
    assert first["entrant"] == "model/000"
    assert first["low"] < first["rating"] < first["high"]
    assert first["rank_low"] <= first["rank"] <= first["rank_high"]
    assert first["wins"] + first["losses"] + first["ties"] + first["fails"] == first["votes"]
    assert set(result["categories"]) == {"category-0", "category-1", "category-2", "category-3"}
    assert result["agreement"]["raw"]["value"] > result["agreement"]["alpha_nominal"]["value"]
    assert result["side_bias"]["low"] < result["side_bias"]["logit"] < result["side_bias"]["high"]
    assert result["consistency"]["model/000"]["variance"] >= 0
    assert result["connectivity"]["components"] == [[f"model/00{i}" for i in range(6)]]
    assert sum(judge["votes"] for judge in result["judges"].values()) == 1500


def test_category_tables_differ_where_their_votes_differ():
    votes = simulate(4000, prompts=8, prompt_sd=0.8, seed=3)
    result = document(votes)
    tables = {name: ratings({"overall": rows}) for name, rows in result["categories"].items()}
    assert len({json.dumps(table, sort_keys=True) for table in tables.values()}) == 4
    raw = {row["entrant"]: row["raw_rating"] for row in result["categories"]["category-1"]}
    alone = ratings(document(votes.take(votes.category == 1)))
    # A judge is less active in one category than in all of them, and so may weigh a little more there.
    assert raw == pytest.approx(alone, abs=0.1)
    even = replace(QUICK, activity="even")
    raw = {row["entrant"]: row["raw_rating"] for row in document(votes, even)["categories"]["category-1"]}
    assert raw == pytest.approx(ratings(document(votes.take(votes.category == 1), even)), abs=1e-4)


def test_thirty_votes_crown_nobody():
    votes = simulate(3030, seed=4)
    category = np.zeros(3030, int)
    category[3000:] = 1
    lucky = replace(votes, category=category, categories=("big", "small"))
    lucky.outcome[3000:] = np.where(lucky.right[3000:] == 5, 1, 0)  # the weakest never loses on the right
    rows = document(lucky)["categories"]["small"]
    assert all(row["rank_high"] > 1 for row in rows)
    assert max(rows, key=lambda row: row["raw_rating"])["entrant"] == "model/005"


# What must not matter


def same_numbers(a: dict, b: dict, *, scale: float = 1e-3) -> None:
    assert ratings(a) == pytest.approx(ratings(b), abs=scale)
    widths = [{row["entrant"]: row["se"] for row in d["overall"]} for d in (a, b)]
    assert widths[0] == pytest.approx(widths[1], abs=scale)
    for key in ("alpha_nominal", "alpha_interval", "ac1", "raw"):
        assert a["agreement"][key] == pytest.approx(b["agreement"][key], abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_order_of_votes_does_not_matter(seed):
    votes = simulate(400, judge_sd=0.4, seed=seed)
    shuffled = votes.take(np.random.default_rng(seed).permutation(400))
    a, b = document(votes), document(shuffled)
    same_numbers(a, b)
    assert a["judges"] == b["judges"]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_swapping_sides_turns_only_the_side_bias(seed):
    votes = simulate(400, judge_sd=0.4, side=0.3, seed=seed)
    outcome = votes.outcome.copy()
    outcome[votes.outcome == 0], outcome[votes.outcome == 1] = 1, 0
    swapped = replace(
        votes,
        left=votes.right,
        right=votes.left,
        outcome=outcome,
        left_attempt=votes.right_attempt,
        right_attempt=votes.left_attempt,
    )
    a, b = document(votes), document(swapped)
    same_numbers(a, b)
    assert a["side_bias"]["logit"] == pytest.approx(-b["side_bias"]["logit"], abs=1e-5)
    assert a["consistency"] == b["consistency"]


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(6)), seed=st.integers(0, 100))
def test_renaming_entrants_renames_the_result(order, seed):
    votes = simulate(400, judge_sd=0.4, seed=seed)
    number = np.array(order)
    names = np.array(votes.entrants)
    renamed = replace(votes, left=number[votes.left], right=number[votes.right])
    renamed = replace(renamed, entrants=tuple(f"new/{i}" for i in range(6)))
    a, b = document(votes), document(renamed)
    back = {f"new/{order[i]}": str(names[i]) for i in range(6)}
    for row in b["overall"]:
        row["entrant"] = back[row["entrant"]]
    same_numbers(a, b)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_doubling_the_data_keeps_ratings_and_clustered_errors(seed):
    votes = simulate(400, judge_sd=0.4, prompt_sd=0.4, seed=seed)
    doubled = votes.take(np.tile(np.arange(400), 2))
    a, b = (document(v, replace(QUICK, activity="even")) for v in (votes, doubled))
    assert ratings(a) == pytest.approx(ratings(b), abs=1e-3)
    for one, two in zip(a["overall"], b["overall"], strict=True):
        # The same votes twice are no new judges or prompts: only the i.i.d. interval is fooled into shrinking.
        assert two["se"] >= 0.85 * one["se"]
        width = one["iid_high"] - one["iid_low"]
        assert (two["iid_high"] - two["iid_low"]) == pytest.approx(width / np.sqrt(2), rel=1e-3)


def test_tallies_give_what_rows_give():
    votes = simulate_field(FieldWorld(votes=900, judges=8, prompts=8, categories=4, busiest=0.5), seed=5).votes
    rows = tally_votes(votes)

    def grouped(cluster, name):
        keys = np.stack([cluster, votes.category, votes.left, votes.right, votes.outcome, rows.activity[votes.judge]])
        cells, n = np.unique(keys, axis=1, return_counts=True)
        columns = dict(zip((name, "category", "left", "right", "outcome", "activity"), cells, strict=True))
        return as_cells({**columns, "n": n}, name)

    tallies = Tallies(
        entrants=votes.entrants,
        judges=votes.judges,
        prompts=votes.prompts,
        categories=votes.categories,
        by_judge=grouped(votes.judge, "judge"),
        by_prompt=grouped(votes.prompt, "prompt"),
        weights=np.ones(8),
        activity=rows.activity,
    )
    a, b = fit_counts(rows, settings=QUICK), fit_counts(tallies, settings=QUICK)
    assert a.overall_fit.spread.covariance == pytest.approx(b.overall_fit.spread.covariance, abs=1e-12)
    assert [row.entrant for row in a.overall] == [row.entrant for row in b.overall]
    assert a.judge_fits.theta == pytest.approx(b.judge_fits.theta, abs=1e-9)
    assert a.side_bias.low == pytest.approx(b.side_bias.low, abs=1e-9)
    assert a.categories.theta == pytest.approx(b.categories.theta, abs=1e-9)


def test_repeats_never_enter_a_rating_and_measure_self_agreement():
    votes = simulate(400, seed=6)
    kind = np.zeros(400, int)
    again = votes.take(np.arange(40))
    outcome = again.outcome.copy()
    outcome[again.outcome == 0], outcome[again.outcome == 1] = 1, 0
    outcome[:10] = (outcome[:10] + 1) % 4
    columns = {
        name: np.concatenate([getattr(votes, name), column])
        for name, column in (
            ("left", again.right),
            ("right", again.left),
            ("left_attempt", again.right_attempt),
            ("right_attempt", again.left_attempt),
            ("outcome", outcome),
            ("judge", again.judge),
            ("prompt", again.prompt),
            ("category", again.category),
            ("time", again.time + 1000),
            ("response_ms", again.response_ms),
            ("withdrawn", again.withdrawn),
        )
    }
    both = replace(votes, kind=np.concatenate([kind, np.full(40, 2)]), **columns)
    a, b = document(votes), document(both)
    assert ratings(a) == ratings(b)
    assert b["votes"] == 400
    assert b["agreement"]["self"]["repeats"] == 40
    assert b["agreement"]["self"]["value"] == pytest.approx(0.75)
    assert a["agreement"]["units"] == b["agreement"]["units"]


# Edges: a clear answer, never a traceback or NaN


def tiny(rows, entrants=("a", "b", "c", "d"), **columns):
    left, right, outcome = np.array(rows).reshape(-1, 3).T
    return make_votes(entrants=entrants, left=left, right=right, outcome=outcome, **columns)


def test_no_votes():
    result = document(make_votes(entrants=(), left=[], right=[], outcome=[]))
    assert (result["votes"], result["overall"], result["stability"]["stable"]) == (0, [], False)
    assert "no votes" in result["notes"][0]


def test_a_single_vote():
    result = document(tiny([[0, 1, 0]]))
    assert [row["entrant"] for row in result["overall"]] == ["a", "b"]
    best, worst = result["overall"]
    assert best["unbounded"] and worst["unbounded"]
    assert best["high"] is None and worst["low"] is None
    assert result["connectivity"]["components"] == [["a"], ["b"]]


def test_one_entrant_on_tallies():
    nothing = as_cells({key: [] for key in ("judge", "prompt", "category", "left", "right", "outcome", "n")}, "judge")
    tallies = Tallies(("only",), (), (), (), nothing, nothing, np.ones(0), np.zeros(0, int))
    fit = fit_counts(tallies, settings=QUICK)
    assert [(row.entrant, row.rating, row.rank) for row in fit.overall] == [("only", 1000, 1)]


def test_all_ties_are_equal():
    result = document(tiny([[0, 1, 2]] * 6 + [[1, 2, 3]] * 6))
    assert set(ratings(result).values()) == {1000.0}
    assert result["ties"]["nu"] is None
    assert {(row["low"], row["high"]) for row in result["overall"]} == {(None, None)}
    assert {row["p_best"] for row in result["overall"]} == {0.333333}
    assert "tie or a fail" in result["notes"][0]


def test_dropping_every_vote_leaves_nobody_compared():
    result = document(tiny([[0, 1, 2]] * 6), Settings(ties="drop", draws=50))
    assert result["connectivity"]["connected"] is False
    assert all(row["unbounded"] for row in result["overall"])


def test_undefeated_is_marked_and_said():
    rows = [[0, 1, 0]] * 5 + [[0, 2, 0]] * 5 + [[1, 2, 0]] * 3 + [[2, 1, 0]] * 2
    result = document(tiny(rows))
    first, *rest = result["overall"]
    assert first["entrant"] == "a" and first["unbounded"] and first["high"] is None and first["low"] is not None
    assert not any(row["unbounded"] for row in rest)
    assert any("a" in note and "no upper limit" in note for note in result["notes"])
    assert result["stability"]["stable"] is False


def test_islands_are_said_and_ranked_apart():
    result = document(tiny([[0, 1, 0]] * 4 + [[1, 0, 0]] * 2 + [[2, 3, 0]] * 3 + [[3, 2, 0]] * 3))
    assert result["connectivity"]["islands"] == [["a", "b"], ["c", "d"]]
    assert {row["entrant"]: row["rank"] for row in result["overall"]} == {"a": 1, "b": 2, "c": 1, "d": 1}
    assert any("never compared" in note for note in result["notes"])


def test_one_judge_is_said():
    votes = simulate(200, judges=1)
    assert any("one judge" in note for note in document(votes)["notes"])
    assert any("independent" in note for note in document(simulate(200, judges=1, prompts=1))["notes"])


def test_excluded_judge_leaves_every_part():
    votes = simulate(600, seed=8)
    left_out = document(votes, Settings(weights={"judge-003": 0.0}, draws=200))
    without = document(votes.take(votes.judge != 3))
    assert left_out["settings"].pop("weights") == {"judge-003": 0.0}
    assert without["settings"].pop("weights") == {}
    assert left_out == without


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 3), st.integers(-1, 2), st.integers(-1, 2)),
        max_size=12,
    ),
    ties=st.sampled_from(["half", "drop"]),
    fails=st.sampled_from(["half", "drop"]),
)
@example(rows=[(2, 1, 0, -1, 0), (3, 1, 2, 0, 0), (2, 1, 1, 0, 0), (2, 1, 0, 0, 0)], ties="half", fails="half")
@example(
    rows=[(2, 1, 0, -1, 0), (3, 1, 2, 0, 0), (2, 1, 1, 0, 0), (2, 1, 0, 0, 0), (2, 1, 3, 0, 0)],
    ties="half",
    fails="half",
)
@example(rows=[(0, 1, 2, 0, 0), (3, 3, 0, 0, -1)], ties="half", fails="half")  # ties alone, and a judge of none
def test_any_few_votes_give_a_sound_document(rows, ties, fails):
    left = [a for a, *_ in rows]
    votes = make_votes(
        entrants=("a", "b", "c", "d"),
        judges=("x", "y", "z"),
        prompts=("p", "q", "r"),
        categories=("one", "two"),
        left=left,
        right=[(a + shift) % 4 for a, shift, *_ in rows],
        outcome=[row[2] for row in rows],
        judge=[row[3] for row in rows],
        prompt=[row[4] for row in rows],
        category=[min(row[4], 1) for row in rows],
    )
    result = document(votes, Settings(ties=ties, fails=fails, draws=50))
    for table in (result["overall"], *result["categories"].values()):
        for row in table:
            assert 1 <= row["rank_low"] <= row["rank"] <= row["rank_high"] <= 4
            assert row["se"] is None or row["se"] >= 0
            assert row["low"] is None or row["low"] <= row["rating"]
            assert row["high"] is None or row["rating"] <= row["high"]
