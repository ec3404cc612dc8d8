"""How a judge works, and what looks odd about it: advice to a curator, never a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, ndtri

from ranking.statistics.judges.fits import JudgeFits
from ranking.statistics.votes import Votes

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
    order = np.lexsort((votes.time, votes.judge))
    judge, outcome, pace = votes.judge[order], votes.outcome[order], votes.response_ms[order]
    edges = np.searchsorted(judge, np.arange(len(votes.judges) + 1))
    return [_behave(outcome[a:b], pace[a:b]) for a, b in pairwise(edges)]


def _behave(outcome: Array, pace: Array) -> Behaviour:
    changes = np.flatnonzero(np.diff(outcome)) + 1
    runs = np.diff(np.concatenate(([0], changes, [len(outcome)])))
    pace = pace[~np.isnan(pace)]
    median, p5 = (float(np.median(pace)), float(np.quantile(pace, 0.05))) if len(pace) else (None, None)
    return Behaviour(median, p5, int(runs.max(initial=0)))


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
