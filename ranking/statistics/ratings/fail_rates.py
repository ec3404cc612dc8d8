"""How often an entrant's votes are "both bad", with intervals that know of judges' own thresholds and hard prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.records import entrant_records
from ranking.statistics.tallies import Tallies
from ranking.statistics.votes import FAIL

Array = NDArray[Any]


@dataclass(frozen=True)
class FailRates:
    """Per entrant [K]: votes, fails, and the 95% interval of their share; NaN without votes."""

    votes: Array
    fails: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class _Way:
    """Variance of the rates [K] by group, and how many groups there are in effect."""

    variance: Array
    groups: Array


def fail_rates(tallies: Tallies, *, level: float = 0.95) -> FailRates:
    """Of all votes."""
    return scoped_fail_rates(tallies, level=level)[0]


def scoped_fail_rates(tallies: Tallies, *, level: float = 0.95) -> list[FailRates]:
    """Of all votes, then of each category's own."""
    size, many = len(tallies.entrants), len(tallies.categories)
    by_judge = _by_group(entrant_records(tallies.by_judge, len(tallies.judges), size, many))
    by_prompt = _by_group(entrant_records(tallies.by_prompt, len(tallies.prompts), size, many))
    whole = _rates((by_judge[0].sum(0), by_judge[1].sum(0)), (by_prompt[0].sum(0), by_prompt[1].sum(0)), level)
    scopes = range(1, many + 1)  # the first is of votes without a category
    own = [_rates((by_judge[0][c], by_judge[1][c]), (by_prompt[0][c], by_prompt[1][c]), level) for c in scopes]
    return [whole, *own]


def _rates(by_judge: tuple[Array, Array], by_prompt: tuple[Array, Array], level: float) -> FailRates:
    """From fails and votes [G + 1, K], two-way clustered by judge and by prompt, on the logit scale.

    An entrant's own design effect is drawn to that of all entrants: with few fails it says little by itself.
    """
    fails, votes = by_judge[0].sum(0), by_judge[1].sum(0)
    safe = np.maximum(votes, 1)
    rate = fails / safe
    smooth = (fails + 0.5) / (safe + 1)
    iid = smooth * (1 - smooth) / safe
    ways = [_way(*counts, rate) for counts in (by_judge, by_prompt)]
    total, spent = -iid, np.zeros(len(rate))
    for way in ways:
        usable = way.groups > 1
        variance = iid * np.maximum(np.where(usable, _moderate(way, iid, votes), 1.0), 1.0)
        total = total + variance
        # Satterthwaite; what chance alone makes of a variance is known, unless there are too few groups to tell it from the rest.
        own = np.maximum(way.groups - 1, 1.0)
        spent += np.where(usable, variance * (variance - iid * (1 - 1 / own)) / own, 0.0)
    variance = np.maximum(total, iid)
    df = np.where(spent > 0, variance**2 / np.where(spent > 0, spent, 1), np.inf)
    half = t_quantile(df, 0.5 + level / 2) * np.sqrt(variance) / (smooth * (1 - smooth))
    low, high = expit(logit(smooth) - half), expit(logit(smooth) + half)
    low, high = np.where(fails == 0, 0.0, low), np.where(fails == votes, 1.0, high)
    unknown = np.where(votes > 0, 0.0, np.nan)
    return FailRates(votes, fails, np.minimum(low, rate) + unknown, np.maximum(high, rate) + unknown)


def _by_group(records: Array) -> tuple[Array, Array]:
    """Fails and votes [C + 1, G + 1, K] by category, group and entrant; the unknown group is the first."""
    return records[..., FAIL], records.sum(-1)


def _way(fails: Array, votes: Array, rate: Array) -> _Way:
    """Squared sums by group of (fails - rate x votes), over the squared votes; unknown votes stand alone.

    A busy judge pulls the rate towards his own, so part of what judges differ in does not show. With shares a of the votes,
    1 - 2 Σa³/Σa² + Σa² of it does (at least half is taken to), and 1 - Σa² of what chance does.
    """
    total = np.maximum(votes.sum(0), 1)
    share = votes[1:] / total
    excess = ((fails - rate * votes)[1:] ** 2).sum(0) / total**2
    squares, cubes = (share**2).sum(0), (share**3).sum(0)
    chance = share.sum(0) * rate * (1 - rate) / total
    shows = np.clip(1 - 2 * cubes / np.maximum(squares, 1e-12) + squares, 0.5, 1.0)
    beyond = excess - chance * (1 - squares)
    between = chance + np.where(beyond > 0, beyond / shows, beyond / np.maximum(1 - squares, 0.5))
    loners = votes[0] / total * rate * (1 - rate) / total
    return _Way(np.maximum(between, 0.0) + loners, 1 / np.maximum(squares + votes[0] / total**2, 1 / total))


def _moderate(way: _Way, iid: Array, votes: Array) -> Array:
    """Each entrant's design effect, drawn to the pooled one as strongly as that rests on more groups."""
    seen = votes > 0
    own = way.variance / np.where(iid > 0, iid, 1)
    pooled = float((way.variance[seen]).sum() / iid[seen].sum()) if seen.any() else 1.0
    df = np.maximum(way.groups - 1, 0.0)
    prior = np.maximum(float(df[seen].sum()) - df, 0.0) / 2 if seen.any() else 0.0
    return (df * own + prior * pooled) / np.maximum(df + prior, 1e-9)
