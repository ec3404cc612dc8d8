"""Run by benchmarks.numbers.ranking in evalica's own environment: times its point fit and rounds of a bootstrap of it."""

from __future__ import annotations

import json
import sys
import time

import evalica
import numpy as np

ROUNDS = 3


def main() -> None:
    data = np.load(sys.argv[1])
    left, right = data["left"], data["right"]
    names = [evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.Draw]
    winners = np.array([int(name) for name in names], np.uint8)[data["outcome"]]
    times = []
    for _ in range(5):
        start = time.process_time()
        result = evalica.bradley_terry(left, right, winners, tolerance=1e-8, limit=1000)
        times.append(time.process_time() - start)
    rng = np.random.default_rng(1)
    start = time.process_time()
    for _ in range(ROUNDS):
        rows = rng.integers(0, len(left), len(left))
        evalica.bradley_terry(left[rows], right[rows], winners[rows])
    each = (time.process_time() - start) / ROUNDS
    default = time.process_time()
    evalica.bradley_terry(left, right, winners)
    default = time.process_time() - default
    scores = result.scores.sort_index().tolist()
    json.dump({"fit": min(default, *times), "bootstrap_round": each, "scores": scores}, sys.stdout)


if __name__ == "__main__":
    main()
