"""Whether being shown on the left helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from ranking.statistics.ratings.bradley_terry import RIDGE, laplacian, residual_table
from ranking.statistics.ratings.intervals import Z95, squared_sums
from ranking.statistics.ratings.scopes import ScopeFit, Settings, judge_weights, prompt_weights, times
from ranking.statistics.tallies import Tallies

Array = NDArray[Any]
LARGEST = 12.0  # log-odds: beyond it one side won every vote


@dataclass(frozen=True)
class SideBias:
    """How much being shown left helps, in log-odds, with a two-way clustered interval; None without votes."""

    logit: float | None
    low: float | None
    high: float | None


def side_bias(tallies: Tallies, overall: ScopeFit, settings: Settings) -> SideBias:
    """One extra logit column beside the ratings; its variance is summed by judge and by prompt like a rating's."""
    fitted = _fit_bias(overall, settings) if len(tallies.entrants) > 1 and overall.decided else None
    if fitted is None:
        return SideBias(None, None, None)
    theta, bias, leverage, weight = fitted
    table = (
        residual_table(theta, side_bias=bias, **settings.halves)
        * ((1 - leverage[:, None] + leverage[None, :]) / weight)[..., None]
    )
    iid = float((overall.squared * table**2).sum())
    by_judge, by_prompt = tallies.by_judge, tallies.by_prompt
    ways = [
        squared_sums(by_judge, table, times(by_judge.n, judge_weights(overall, by_judge)), len(tallies.judges)),
        squared_sums(by_prompt, table, times(by_prompt.n, prompt_weights(overall, by_prompt)), len(tallies.prompts)),
    ]
    ways = [(g / (g - 1) * total, g) for total, g in ways if g > 1]
    one_way = [total for total, _ in ways]
    variance = max([iid, *one_way, sum(one_way) - iid])  # few groups may agree, or cancel, by chance
    half = float(stdtrit(min(g for _, g in ways) - 1, 0.975) if ways else Z95) * float(np.sqrt(variance))
    return SideBias(bias, bias - half, bias + half)


def _fit_bias(overall: ScopeFit, settings: Settings) -> tuple[Array, float, Array, float] | None:
    """Ratings and bias together by Newton; also the leverage of each rating on the bias and the bias's information."""
    size = len(overall.theta)
    theta, bias = overall.theta.copy(), 0.0
    shown = (overall.weighted * settings.counted).sum(-1)  # counted votes with i on the left of j
    for _ in range(50):
        table = residual_table(theta, side_bias=bias, **settings.halves)
        residual = (overall.weighted * table).sum(-1)
        p = expit(theta[:, None] - theta[None, :] + bias)
        spread = shown * p * (1 - p)
        bread = laplacian(spread) + RIDGE * 1e-6 * np.eye(size)
        cross = spread.sum(1) - spread.sum(0)
        leverage = np.linalg.solve(bread, cross)
        weight = float(spread.sum() - cross @ leverage)
        if weight < 1e-9:
            return None
        gradient = residual.sum(1) - residual.sum(0)
        step_bias = (residual.sum() - leverage @ gradient) / weight
        step_bias = float(np.clip(step_bias, -1, 1))
        step = np.clip(np.linalg.solve(bread, gradient - cross * step_bias), -1, 1)
        theta, bias = theta + step - step.mean(), bias + step_bias
        if abs(bias) > LARGEST:
            return None
        if max(abs(step_bias), float(np.abs(step).max())) < 1e-9:
            break
    return theta, bias, leverage, weight
