"""Ratings that use "both bad" as well: Davidson's model of wins and ties, and logit P(fail) = a - b (theta_i + theta_j).

A fail says that both drawings are weak, which half a win for each cannot hold. What judges and prompts differ in is taken from the
half-win fit, whose intervals know of busy judges and small panels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ranking.statistics.ratings.bradley_terry import connectivity
from ranking.statistics.ratings.intervals import squared_sums
from ranking.statistics.ratings.precision import t_quantile
from ranking.statistics.ratings.scopes import ScopeFit, judge_weights, prompt_weights, times
from ranking.statistics.tallies import Tallies
from ranking.statistics.votes import FAIL, LEFT, RIGHT, TIE

Array = NDArray[Any]
FEWEST_FAILS = 0.03  # share of votes under which half wins lose next to nothing
ROUNDS = 100


@dataclass(frozen=True)
class Parameters:
    """What a vote's chances follow from."""

    theta: Array
    log_tie: float  # -inf where nobody ever called a tie
    level: float
    slope: float

    def moved(self, step: Array) -> Parameters:
        theta = self.theta + step[:-3]
        return Parameters(theta - theta.mean(), self.log_tie + step[-3], self.level + step[-2], self.slope + step[-1])


@dataclass(frozen=True)
class JointFit:
    """Ratings (theta, mean 0, on Davidson's scale), their variances and degrees of freedom, and what fails say about them.

    `slope` is b: how much likelier a weak pair fails; about 0 where fails have nothing to do with the ratings.
    """

    theta: Array
    variance: Array
    df: float
    at: Parameters
    slope_error: float
    fails: float  # share of the votes

    @property
    def slope(self) -> float:
        return self.at.slope

    @property
    def drawing_scores(self) -> tuple[Array, Array]:
        """How much each outcome says for the left drawing and for the right one [K, K, 4], like points above expectation."""
        gap, _, fail = _scores(self.at)
        return gap - self.slope * fail, -gap - self.slope * fail

    def reach(self, level: float = 0.95) -> Array:
        return t_quantile(self.df, 0.5 + level / 2) * np.sqrt(self.variance)


def fit_joint(tallies: Tallies, overall: ScopeFit, *, fewest: float = FEWEST_FAILS) -> JointFit | None:
    """None where fails are few, or where wins and ties alone do not link all entrants both ways."""
    counts = overall.weighted
    shares = overall.counts.sum((0, 1)) / max(float(overall.counts.sum()), 1.0)
    decided = counts[..., LEFT] + counts[..., RIGHT].T + 0.5 * (counts[..., TIE] + counts[..., TIE].T)
    if shares[FAIL] < fewest or shares[FAIL] in (0, 1) or not overall.decided:
        return None
    if connectivity(decided).components > 1:
        return None
    log_tie = float(np.log(2 * shares[TIE] / shares[:2].sum())) if shares[TIE] else -np.inf
    fitted = _newton(counts, Parameters(overall.theta, log_tie, float(logit(shares[FAIL])), 0.0))
    return None if fitted is None else _with_errors(tallies, overall, *fitted, float(shares[FAIL]))


def _newton(counts: Array, start: Parameters) -> tuple[Parameters, Array] | None:
    """The maximum, and the inverse information there; None where Newton finds none, or the votes cannot tell parameters apart."""
    at = start
    try:
        for _ in range(ROUNDS):
            inverse = np.linalg.inv(_information(counts, at))
            by_vote = _scores(at)
            step = inverse @ _gathered(counts, by_vote, at)
            largest = float(np.abs(step).max())
            at = at.moved(step / max(1.0, largest))
            if largest < 1e-9:
                return at, np.linalg.inv(_information(counts, at))
    except np.linalg.LinAlgError:
        return None
    return None


def _chances(at: Parameters) -> tuple[Array, Array, Array, Array]:
    """Of left, right and tie where it is no fail, and of a fail [K, K]."""
    gap, total = np.subtract.outer(at.theta, at.theta), np.add.outer(at.theta, at.theta)
    up, down, tie = np.exp(gap / 2), np.exp(-gap / 2), float(np.exp(at.log_tie))
    whole = up + down + tie
    return up / whole, down / whole, tie / whole, expit(at.level - at.slope * total)


def _scores(at: Parameters) -> tuple[Array, Array, Array]:
    """Derivatives of a vote's log-likelihood [K, K, 4] by the gap, by log nu, and by the log-odds of a fail."""
    up, down, tie, fail = _chances(at)
    lead = up - down
    by_gap = np.stack([0.5 * (1 - lead), 0.5 * (-1 - lead), -0.5 * lead, np.zeros_like(lead)], axis=-1)
    by_tie = np.stack([-tie, -tie, 1 - tie, np.zeros_like(tie)], axis=-1) * (at.log_tie > -np.inf)
    by_fail = np.stack([-fail, -fail, -fail, 1 - fail], axis=-1)
    return by_gap, by_tie, by_fail


def _gathered(counts: Array, by_vote: tuple[Array, Array, Array], at: Parameters) -> Array:
    """The gradient [K + 3] of all votes."""
    gap, tie, fail = ((counts * table).sum(-1) for table in by_vote)
    total = np.add.outer(at.theta, at.theta)
    theta = gap.sum(1) - gap.sum(0) - at.slope * (fail.sum(1) + fail.sum(0))
    return np.append(theta, [tie.sum(), fail.sum(), -(total * fail).sum()])


def _information(counts: Array, at: Parameters) -> Array:
    """Fisher's information [K + 3, K + 3], with the mean of the ratings held at 0."""
    size = len(at.theta)
    up, down, tie, fail = _chances(at)
    total = np.add.outer(at.theta, at.theta)
    votes = counts.sum(-1)
    kept, spread = votes - counts[..., FAIL], votes * fail * (1 - fail)
    gap = 0.25 * kept * (up + down - (up - down) ** 2)
    result = np.zeros((size + 3, size + 3))
    both, sums = gap + gap.T, spread + spread.T
    each = np.arange(size)
    result[:size, :size] = at.slope**2 * sums - both + 1 / size
    result[each, each] += both.sum(1) + at.slope**2 * sums.sum(1)
    crossed = -0.5 * kept * tie * (up - down)
    result[-3, :size] = crossed.sum(1) - crossed.sum(0)
    result[-3, -3] = float((kept * tie * (1 - tie)).sum()) if at.log_tie > -np.inf else 1.0
    result[-2, :size] = -at.slope * sums.sum(1)
    weighted = spread * total
    result[-1, :size] = at.slope * (weighted + weighted.T).sum(1)
    result[-2, -2], result[-1, -1] = spread.sum(), (spread * total**2).sum()
    result[-1, -2] = -(spread * total).sum()
    lower = np.tril(result, -1)
    result[:, -3:] = (lower + lower.T + np.diag(np.diag(result)))[:, -3:]
    result[-3:, :] = result[:, -3:].T
    return result


def _with_errors(tallies: Tallies, overall: ScopeFit, at: Parameters, inverse: Array, fails: float) -> JointFit:
    """What judges and prompts add to a half-win rating they add here as well, on a scale that ties and fails do not press together."""
    by_vote = _scores(at)
    single = _single_votes(overall.squared, by_vote, at, inverse)
    spread, decided = overall.spread, overall.decided / max(float(overall.counts.sum()), 1.0)
    own = float(overall.theta @ overall.theta)
    stretch = max(1 / decided, float(at.theta @ overall.theta) / own if own else 0.0)
    beyond = stretch**2 * np.maximum(spread.variance - np.diag(spread.iid_covariance), 0.0)
    slope_error = np.sqrt(_slope_variance(tallies, overall, by_vote, at, inverse[-1], float(single[-1])))
    return JointFit(at.theta, single[:-3] + beyond, spread.usual_df, at, float(slope_error), fails)


def _slope_variance(
    tallies: Tallies, overall: ScopeFit, by_vote: tuple[Array, Array, Array], at: Parameters, row: Array, single: float
) -> float:
    """Clustered by judge and by prompt, from what each vote pulls the slope by; `row` is that of the inverse information."""
    gap, tie, fail = by_vote
    own, total = row[:-3], np.add.outer(at.theta, at.theta)[..., None]
    table = own[:, None, None] * (gap - at.slope * fail) - own[None, :, None] * (gap + at.slope * fail)
    table = table + row[-3] * tie + (row[-2] - row[-1] * total) * fail
    judges, prompts = tallies.by_judge, tallies.by_prompt
    ways = (
        squared_sums(judges, table, times(judges.n, judge_weights(overall, judges)), len(tallies.judges)),
        squared_sums(prompts, table, times(prompts.n, prompt_weights(overall, prompts)), len(tallies.prompts)),
    )
    known = [groups / (groups - 1) * squares for squares, groups in ways if groups > 1]
    return max([single, *known, sum(known) - single if len(known) == 2 else single])


def _single_votes(squared: Array, by_vote: tuple[Array, Array, Array], at: Parameters, inverse: Array) -> Array:
    """Variances [K + 3] as if votes were independent: the outer products of all votes' gradients, summed by pair."""
    gap, tie, fail = by_vote
    up, down, size = gap - at.slope * fail, gap + at.slope * fail, len(at.theta)
    products = np.zeros_like(inverse)
    both = (squared * up * down).sum(-1)
    products[:size, :size] = -both - both.T
    each = np.arange(size)
    products[each, each] += (squared * up**2).sum((1, 2)) + (squared * down**2).sum((0, 2))
    others = (tie, fail, -np.add.outer(at.theta, at.theta)[..., None] * fail)
    for k, one in enumerate(others):
        cross = (squared * up * one).sum((1, 2)) - (squared * down * one).sum((0, 2))
        products[:size, size + k] = products[size + k, :size] = cross
        products[size + k, size:] = [float((squared * one * other).sum()) for other in others]
    return np.einsum("ij,ji->i", inverse @ products, inverse)
