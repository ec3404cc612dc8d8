"""Studies of adaptive pairs are played by the real planner, and what they save is read off two curves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks.pairs.adaptive_coverage import Study, adaptive_table, make_table, play, saving

SMALL = Study(7, 600, sd=1.5, judges=6, prompts=8)


def test_what_is_saved_is_read_off_two_lines():
    votes = np.arange(100, 2600, 100)
    wrong = 3 / np.sqrt(votes)

    assert saving(votes, wrong, wrong) == pytest.approx(0)
    assert saving(votes, wrong, 3 / np.sqrt(votes / 0.8)) == pytest.approx(0.2)
    assert saving(votes, wrong, 3 / np.sqrt(votes / 1.25)) == pytest.approx(-0.25)


def test_adaptive_pairs_spend_votes_on_close_entrants_and_keep_ratings_true():
    (row,) = adaptive_table(runs=1, studies=(SMALL,))

    assert (row["entrants"], row["votes"], row["runs"]) == (7, 600, 1)
    assert row["right"] > 0.8 and row["right_balanced"] > 0.8
    assert 0.5 < row["slope"] < 1.5


def test_both_ways_of_choosing_play_the_same_study_and_only_one_favours_close_pairs():
    def neighbours(adaptive):
        fit = play(SMALL, 5, adaptive=adaptive)[-1][1]
        counts = fit.counts.sum(-1)
        met = Counter({gap: int((np.diag(counts, gap) + np.diag(counts, -gap)).sum()) for gap in range(1, 7)})
        return met[1] / met.total()

    balanced, adaptive = neighbours(False), neighbours(True)

    assert len(make_table(SMALL).common) == 21
    assert balanced == pytest.approx(6 / 21, abs=0.03)
    assert adaptive > balanced + 0.05
