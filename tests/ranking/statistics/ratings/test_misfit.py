from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.numbers.worlds import FieldWorld, simulate_field
from ranking.statistics.leaderboard import analyse_votes
from ranking.statistics.notes import notes
from ranking.statistics.ratings.misfit import find_misfits
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import make_votes

WORLD = FieldWorld(theta=(0.4, 0.2, 0.0, -0.2, -0.4), votes=2000)


def misfits(world, seed):
    return find_misfits(fit_overall(tally_votes(simulate_field(world, seed=seed).votes), Settings()))


def test_votes_that_follow_ratings_are_seldom_called_misfits():
    runs = [bool(misfits(WORLD, seed)) for seed in range(40)]

    assert np.mean(runs) <= 0.1


def test_a_preference_that_no_rating_can_hold_is_found_and_its_pairs_are_named():
    world = FieldWorld(theta=(0.0,) * 5, votes=3000, cycle=1.2)

    misfitting = misfits(world, 1)

    assert {(pair.winner, pair.loser) for pair in misfitting} <= {((i + 1) % 5, i) for i in range(5)}
    assert len(misfitting) >= 3
    assert all(pair.share > pair.expected for pair in misfitting)


def test_pair_effects_of_sd_08_are_found_at_2000_votes():
    misfitting = [
        misfits(replace(WORLD, theta=tuple(np.linspace(0.8, -0.8, 8)), pair_sd=0.8), seed) for seed in range(5)
    ]

    assert all(misfitting)


def test_a_perfect_cycle_is_said_on_the_board():
    rows = [(0, 1, 0), (1, 2, 0), (2, 0, 0)]
    votes = [(*row, judge, prompt) for row in rows for judge in range(6) for prompt in range(4)]
    left, right, outcome, judge, prompt = np.array(votes).T
    names = {"judges": tuple("uvwxyz"), "prompts": tuple("pqrs")}
    cast = make_votes(
        entrants=("a", "b", "c"), left=left, right=right, outcome=outcome, judge=judge, prompt=prompt, **names
    )

    sentences = notes(analyse_votes(cast))

    assert any("do not describe the votes well" in note and "a beats b" in note for note in sentences)
