"""Run by benchmarks.peers.arena_rank in an environment of its own: arena-rank's published example, on a folder instead of a hub's name."""

from __future__ import annotations

import json
import sys

import datasets
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

frame = datasets.load_dataset(sys.argv[1], columns=["model_a", "model_b", "winner"])["train"].to_pandas()
dataset = PairDataset.from_pandas(frame)
model = BradleyTerry(n_competitors=len(dataset.competitors))
results = model.compute_ratings_and_cis(dataset, significance_level=0.05)
print(json.dumps(dict(zip(results["competitors"], map(float, results["ratings"]), strict=True))))
