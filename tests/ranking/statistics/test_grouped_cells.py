"""Many votes are grouped before they are counted, and give the same board to the last digit."""

from __future__ import annotations

import numpy as np

from benchmarks.speed.parquet import write_votes
from ranking.pairwise.as_json import leaderboard_dict
from ranking.pairwise.files.votes import read_votes
from ranking.statistics import tallies
from ranking.statistics.leaderboard import Leaderboard, fit_counts
from ranking.statistics.votes import make_votes


def board(votes):
    return leaderboard_dict(Leaderboard(fit_counts(tallies.tally_votes(votes))))


def test_grouped_votes_give_the_same_board(tmp_path, monkeypatch):
    write_votes(tmp_path / "votes.parquet", votes=40_000, judges=6, prompts=4)
    votes = read_votes(tmp_path / "votes.parquet").votes
    plain = board(votes)

    monkeypatch.setattr(tallies, "MANY", 1000)
    cells = tallies.tally_votes(votes).by_prompt

    assert len(cells.left) < 20_000 and cells.n.sum() == 40_000
    assert board(votes) == plain


def test_votes_of_unknown_judges_stand_alone(monkeypatch):
    monkeypatch.setattr(tallies, "MANY", 10)
    votes = make_votes(
        entrants=("a", "b"), judges=(), prompts=("p",), categories=(), left=np.zeros(50, int), right=np.ones(50, int),
        outcome=np.arange(50) % 2, prompt=np.zeros(50, int),
    )  # fmt: skip

    made = tallies.tally_votes(votes)

    assert len(made.by_judge.left) == 50 and made.by_judge.n is None
    assert made.by_prompt.n.sum() == 50 and len(made.by_prompt.left) == 2
