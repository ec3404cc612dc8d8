"""How a judge works, and what looks odd about it: advice to a curator, never a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, ndtri

from ranking.statistics.grouping import edges_of, grouped, portions
from ranking.statistics.judges.fits import JudgeFits
from ranking.statistics.votes import Votes, in_order_of_time

Array = NDArray[Any]
RANDOM_KEYS = np.log(200)  # the bound is cautious: at this one about 1 honest judge in 1000 is taken for a clicker
DOUBTFUL = float(ndtri(0.01))


@dataclass(frozen=True)
class Behaviour:
    """How a judge works, from rows in order of time: seconds, keys, and runs of one key."""

    median_ms: float | None
    p5_ms: float | None
    longest_run: int


def judge_behaviour(votes: Votes) -> list[Behaviour]:
    """One for each judge; repeats included, since they are keys pressed as well."""
    judges, votes = len(votes.judges), in_order_of_time(votes)
    votes = votes if votes.judge.min(initial=0) >= 0 else votes.take(votes.judge >= 0)
    edges = edges_of(votes.judge, judges)
    runs = _longest_runs(grouped(votes.outcome, votes.judge, judges), edges)
    pace = grouped(_narrowed(votes.response_ms), votes.judge, judges)
    return [_behave(pace[a:b], run) for (a, b), run in zip(pairwise(edges.tolist()), runs.tolist(), strict=True)]


def _narrowed(pace: Array) -> Array:
    """The same numbers in single precision, which sorts many times quicker, if each of them fits."""
    narrow = pace.astype(np.float32)
    for here in portions(len(pace)):
        if (narrow[here] != pace[here]).sum() > np.isnan(pace[here]).sum():
            return pace
    return narrow


def _longest_runs(outcome: Array, edges: Array) -> Array:
    """Of one outcome, by judge; votes of judge j are those from edges[j] on."""
    begins = np.zeros(len(outcome) + 1, bool)
    begins[1:-1] = outcome[1:] != outcome[:-1]
    begins[edges] = True
    at = np.flatnonzero(begins)
    longest = np.zeros(len(edges) - 1, int)
    some = edges[1:] > edges[:-1]
    if some.any():
        longest[some] = np.maximum.reduceat(np.diff(at), np.searchsorted(at, edges[:-1][some]))
    return longest


def _behave(pace: Array, longest_run: int) -> Behaviour:
    pace = np.sort(pace[~np.isnan(pace)]).astype(float)
    median, p5 = (_quantile(pace, 0.5), _quantile(pace, 0.05)) if len(pace) else (None, None)
    return Behaviour(median, p5, longest_run)


def _quantile(ordered: Array, share: float) -> float:
    """Of values in order, by a straight line between the two nearest."""
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (at - below) * (ordered[above] - ordered[below]))


def judge_flags(fits: JudgeFits, judge: int, behaviour: Behaviour | None, usual_ms: float | None) -> list[str]:
    """Codes of what looks odd: advice to a curator, never a verdict.

    Each test is passed by chance about 1 in 1000 times, but `doubtful`, the same question as `unreliable`, 1 in 100 times; these
    two more often among a handful of judges, whose ratings are unsure (docs/statistics.md has figures). A judge whose votes
    follow the reverse of the others' ratings has another taste, and is not flagged for it.
    """
    left, right, ties, fails = fits.outcomes[judge]
    votes = fits.outcomes[judge].sum()
    flags = []
    if fits.accord[judge] < DOUBTFUL and not fits.opposite[judge]:
        clear = fits.slope[judge] + 1.645 * fits.slope_se[judge] < 0.5 or fits.random_keys[judge] > RANDOM_KEYS
        flags.append("unreliable" if clear else "doubtful")
    if fits.one_entrant[judge] > np.log(1000 * fits.theta.shape[1]):
        flags.append("one_entrant")
    if left + right and 2 * bdtr(min(left, right), int(left + right), 0.5) < 0.001:
        flags.append("one_side")
    pooled = fits.outcomes[:, 2:].sum() / max(fits.votes.sum(), 1)
    if votes and ties + fails > 0.8 * votes and bdtrc(ties + fails - 1, int(votes), pooled) < 0.001:
        flags.append("few_decisions")
    if behaviour is not None:
        share = fits.outcomes[judge].max(initial=0) / max(votes, 1)
        expected_runs = votes * (1 - share) * share**behaviour.longest_run
        if behaviour.longest_run >= 10 and expected_runs < 0.001 * (1 + (share == 1)):
            flags.append("same_key")
        if behaviour.median_ms is not None and usual_ms and votes >= 20 and behaviour.median_ms < 0.25 * usual_ms:
            flags.append("fast")
    return flags
