from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ranking.statistics.leaderboard import fit_counts
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.precision import Parts, no_precision
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.verdicts.forecast import forecast_pairs
from ranking.statistics.verdicts.sequence import sequence_quantile
from tests.ranking.statistics.make_votes import simulate


def spread_of(votes=0.0, judges=0.0, prompts=0.0, df=np.inf):
    """The precision of two entrants whose gap has these variances in Elo², with 10 judges and 20 prompts."""
    parts = Parts(*(np.full((2, 2), part / ELO**2) for part in (votes, judges, prompts)))
    whole = parts.votes + parts.judges + parts.prompts
    return replace(
        no_precision(2), parts=parts, pair_variance=whole, pair_df=np.full((2, 2), df), judges=10.0, prompts=20.0
    )


def forecast(spread):
    """Of the only pair, until its bound is 20 Elo."""
    return forecast_pairs(spread, [0], [1], width=np.array([20 / ELO]), votes=1000, alpha=0.05)[0]


def test_bound_is_wider_than_a_single_look_and_widest_early():
    assert sequence_quantile(1000) == pytest.approx(3.03, abs=0.05)
    assert sequence_quantile(30) > sequence_quantile(1000) > 1.96
    assert sequence_quantile(1000, df=5) > sequence_quantile(1000)


def test_votes_needed_are_enough_and_not_too_many():
    spread = spread_of(votes=15.0**2)
    more = forecast(spread).votes
    for total, enough in ((1000 + more, True), (1000 + more * 0.97, False)):
        half = 15.0 * np.sqrt(1000 / total) * sequence_quantile(total, alpha=0.05)
        assert (half <= 20.0 * 1.0001) == enough


def test_what_judges_differ_in_needs_more_judges_and_not_more_votes():
    more = forecast(spread_of(votes=25, judges=400))

    assert more.votes is None
    assert 10 < more.judges < 1000


def test_what_prompts_differ_in_needs_more_prompts():
    more = forecast(spread_of(votes=25, prompts=400))

    assert (more.votes, more.judges) == (None, None)
    assert more.prompts > 20


@pytest.mark.long
def test_looking_every_25_votes_separates_equals_seldom():
    """Two equal entrants, looked at 19 times: 1.96 errs often, the sequence hardly ever."""
    runs, naive, sequence = 30, 0, 0
    for seed in range(runs):
        votes = simulate(500, entrants=2, spread=0.0, judges=300, prompts=300, seed=seed)
        outside = np.zeros(2, bool)
        for seen in range(50, 501, 25):
            fit = fit_overall(tally_votes(votes.take(np.arange(500) < seen)), Settings())
            z = abs(fit.theta[0] - fit.theta[1]) / np.sqrt(fit.spread.iid_covariance[0, 0] * 4)
            outside |= [z > 1.96, z > sequence_quantile(seen)]
        naive, sequence = naive + outside[0], sequence + outside[1]
    assert naive >= 5
    assert sequence <= 1


def test_every_neighbour_has_a_state_and_what_would_settle_it():
    fit = fit_counts(tally_votes(simulate(1500, judge_sd=0.5, seed=3)), settings=Settings(draws=200))

    assert len(fit.pairs) == 5
    for pair in fit.pairs:
        assert pair.state == fit.verdicts.name(pair.upper, pair.lower)
        assert (pair.forecast.votes == 0) == (pair.status != "open")
