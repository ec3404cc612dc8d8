"""Weights of a crowd that nobody invited: how likely each of its judges looks at what is shown, by votes and by checks.

Some of an open crowd are scripts, people who press keys at random or always the same one, and friends of one entrant. Each is
a habit with a likelihood of its own; a judge's weight is the chance of none of them. Activity is weighed apart, in the fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from ranking.statistics.judges.fits import JudgeFits, fit_judges
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import Votes

Array = NDArray[Any]
PLANTED = 0.1  # the share that is expected to be of each kind, before anything is known of a judge
ROUNDS = 3  # ratings and weights in turn: the first ratings are still the crowd's with everybody in it
OFTEN, SELDOM = np.log(0.95), np.log(0.05)
OUT = 0.05  # a smaller weight is none


def crowd_weights(votes: Votes, *, checks: Mapping[str, float], settings: Settings | None = None) -> dict[str, float]:
    """What a vote of each judge counts, 0 to 1, by judge name.

    `checks` has natural log-odds, by judge, that answers to attention checks are a clicker's; a judge without any is missing.
    """
    settings = settings or Settings()
    weights = dict.fromkeys(votes.judges, 1.0)
    evidence = np.array([checks.get(name, 0.0) for name in votes.judges])
    for _ in range(ROUNDS):
        chosen = replace(settings, weights=weights)
        tallies = tally_votes(votes, weights=weights)
        fits = fit_judges(tallies, fit_overall(tallies, chosen), chosen)
        weights = dict(zip(votes.judges, _honest(fits, evidence).tolist(), strict=True))
    return weights


def _honest(fits: JudgeFits, evidence: Array) -> Array:
    """The chance of each judge to have none of the habits, over that of who is surest to have none [J]."""
    left, right = fits.outcomes[:, 0], fits.outcomes[:, 1]
    clicks = fits.random_keys + evidence
    # One side always: likelier than random keys by as much as its keys are alike.
    alike = np.maximum(left * OFTEN + right * SELDOM, right * OFTEN + left * SELDOM) + (left + right) * np.log(2)
    fan = fits.one_entrant - np.log(2 * max(fits.theta.shape[1], 1))  # the likeliest of so many, for or against
    habits = np.stack([clicks, clicks + alike - np.log(2), fan])
    doubt = logsumexp(habits, axis=0) + np.log(PLANTED / (1 - len(habits) * PLANTED))
    weight = expit(-doubt)
    weight = weight / max(weight.max(initial=0.0), 1e-9)
    return np.where(weight < OUT, 0.0, weight)
