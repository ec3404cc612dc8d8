"""Run by benchmarks.peers.coverage_peers in an environment of its own: intervals of evalica and arena-rank for many studies.

Both print ratings on scales of their own; here they are log-odds around the mean of all entrants.
"""

from __future__ import annotations

import json
import sys

import evalica
import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

ROUNDS = 100
ELO = 400 / np.log(10)
NAMES = ("model_a", "model_b", "tie", "both_bad")
WINNERS = (evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.Draw)


def by_evalica(left: np.ndarray, right: np.ndarray, outcome: np.ndarray, seed: int) -> list[list[float]]:
    """Percentiles of its own bootstrap over votes."""
    winners = [WINNERS[o] for o in outcome]
    result = evalica.bootstrap(
        evalica.bradley_terry,
        left.tolist(),
        right.tolist(),
        winners,
        n_resamples=ROUNDS,
        bootstrap_method="percentile",
        random_state=seed,
    )
    scores = np.log(result.distribution[sorted(result.distribution.columns)].to_numpy())
    scores -= scores.mean(1, keepdims=True)
    return np.quantile(scores, (0.025, 0.975), axis=0).tolist()


def by_arena_rank(left: np.ndarray, right: np.ndarray, outcome: np.ndarray) -> list[list[float]]:
    """Its sandwich intervals."""
    frame = pd.DataFrame({"model_a": left, "model_b": right, "winner": [NAMES[o] for o in outcome]})
    dataset = PairDataset.from_pandas(frame)
    fit = BradleyTerry(len(dataset.competitors)).compute_ratings_and_cis(dataset)
    order = np.argsort(dataset.competitors)
    low, high, rating = (np.asarray(fit[key])[order] / ELO for key in ("rating_lower", "rating_upper", "ratings"))
    return [(low - rating.mean()).tolist(), (high - rating.mean()).tolist()]


def main() -> None:
    studies = np.load(sys.argv[1])
    rows = list(zip(studies["left"], studies["right"], studies["outcome"], strict=True))
    bounds = {
        "evalica": [by_evalica(*row, seed) for seed, row in enumerate(rows)],
        "arena_rank": [by_arena_rank(*row) for row in rows],
    }
    json.dump(bounds, sys.stdout)


if __name__ == "__main__":
    main()
