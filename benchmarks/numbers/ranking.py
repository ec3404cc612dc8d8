"""script/bench ranking [--full] [--json FILE]: speed, growth and truth of the rankings, as ratios within one run.

Times are processor time of one core, best of a few; a ratio compares two things timed in the same run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads cost more than they give

import json
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import choix
import numpy as np

from benchmarks.figures.table import Row, make_parser, show, write_json
from benchmarks.numbers.simulation import START, World, simulate_votes
from benchmarks.numbers.worlds import FieldWorld, simulate_field
from benchmarks.peers.coverage_peers import peer_python
from ranking.statistics.leaderboard import Settings, fit_counts
from ranking.statistics.ratings.bradley_terry import ELO, fit_ratings, half_wins
from ranking.statistics.ratings.categories.fits import fit_categories
from ranking.statistics.ratings.scopes import as_cells, fit_overall
from ranking.statistics.tallies import Tallies, activity_class, count_cells, tally_votes
from ranking.statistics.votes import KINDS, OUTCOMES, Votes

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / "benchmarks" / "peers" / "ranking_evalica.py"


def big_world(entrants: int = 100, judges: int = 200, prompts: int = 40) -> World:
    theta = tuple(np.random.default_rng(1).normal(0, 0.6, entrants))
    return World(theta, judges=judges, prompts=prompts, judge_sd=0.3, prompt_sd=0.3)


def best_of(action: Callable[[], Any], rounds: int = 5) -> float:
    """Least processor seconds of a few rounds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def fit_all(votes: Votes) -> None:
    """Overall and categories with two-way intervals, from integer columns."""
    tallies = tally_votes(votes)
    overall = fit_overall(tallies, Settings())
    for category in fit_categories(tallies, overall, Settings()):
        category.covariance.sum()


def one_pass(votes: Votes) -> None:
    """Read each column that a fit needs once."""
    for column in (votes.left, votes.right, votes.outcome, votes.judge, votes.prompt, votes.category):
        column.sum()


def speed(sizes: list[int]) -> list[dict[str, Any]]:
    rows = []
    for size in sizes:
        votes = simulate_votes(big_world(), size, seed=2)
        seconds = best_of(lambda v=votes: fit_all(v), 3 if size > 1_000_000 else 5)
        tracemalloc.start()
        fit_all(votes)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        row = {"votes": size, "seconds": seconds, "peak_mb": peak / 2**20}
        row["growth"] = seconds / rows[-1]["seconds"] if rows else 1.0
        rows.append(row | {"times_one_pass": seconds / best_of(lambda v=votes: one_pass(v))})
    return rows


def against_evalica(votes: Votes) -> dict[str, Any]:
    """The same integer columns through evalica's point fit and a percentile bootstrap of it, in its own process."""
    python = peer_python("evalica")
    if python is None:
        return {"compared": False}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.npz"
        columns = {"left": votes.left.astype(np.int64), "right": votes.right.astype(np.int64)}
        np.savez(path, **columns, outcome=votes.outcome, size=len(votes.entrants))
        done = subprocess.run([python, PEER, path], capture_output=True, text=True, check=True)
    peer = json.loads(done.stdout)
    ours = best_of(lambda: fit_all(votes))
    half = half_wins(
        count_cells(tally_votes(votes).by_judge, scopes=1, scope=None, size=len(votes.entrants), n=None)[0]
    )
    scores = np.log(np.array(peer["scores"]))
    return {
        "compared": True,
        "evalica_point_fit_seconds": peer["fit"],
        "evalica_bootstrap_100_seconds": peer["bootstrap_round"] * 100,
        "our_fits_with_intervals_seconds": ours,
        "point_fit_over_ours": peer["fit"] / ours,
        "bootstrap_over_ours": peer["bootstrap_round"] * 100 / ours,
        "largest_difference_elo": float(ELO * np.abs(scores - scores.mean() - fit_ratings(half)).max()),
    }


def against_choix() -> dict[str, Any]:
    """Counts against choix on raw pairs, ties as half a win (each vote twice: a win both times, a tie once each way)."""
    votes = simulate_votes(big_world(entrants=30), 20_000, seed=3)
    swap = votes.outcome == 1
    winner, loser = np.where(swap, votes.right, votes.left), np.where(swap, votes.left, votes.right)
    drawn = votes.outcome >= 2
    pairs = [*zip(winner, loser, strict=True)]
    pairs += [*zip(np.where(drawn, loser, winner), np.where(drawn, winner, loser), strict=True)]
    raw = choix.ilsr_pairwise(30, pairs, alpha=0.0)
    counted = fit_overall(tally_votes(votes), Settings()).theta
    theirs = best_of(lambda: choix.ilsr_pairwise(30, pairs, alpha=0.0), 1)
    ours = best_of(lambda: fit_overall(tally_votes(votes), Settings()).spread.variance.sum())
    return {
        "choix_point_fit_seconds": theirs,
        "our_fit_with_intervals_seconds": ours,
        "raw_over_ours": theirs / ours,
        "largest_difference_elo": float(ELO * np.abs(raw - counted).max()),
    }


def from_tallies(world: World, millions: int) -> Tallies:
    """Tallies of so many million votes, gathered a million at a time; all judges are of one class of activity."""
    size, total = len(world.theta), {"judge": 0, "prompt": 0}
    for part in range(millions):
        votes = simulate_votes(world, 1_000_000, seed=10 + part)
        for name, cluster, groups in (("judge", votes.judge, world.judges), ("prompt", votes.prompt, world.prompts)):
            code = cluster.astype(np.int64)
            for column, base in ((votes.category, 4), (votes.left, size), (votes.right, size), (votes.outcome, 4)):
                code = code * base + column
            total[name] = total[name] + np.bincount(code, minlength=groups * 4 * size * size * 4)
    cells = {}
    activity = activity_class(total["judge"].reshape(world.judges, -1).sum(1))
    for name, counts in total.items():
        groups = world.judges if name == "judge" else world.prompts
        at = np.flatnonzero(counts)
        columns = np.unravel_index(at, (groups, 4, size, size, 4))
        named = dict(zip((name, "category", "left", "right", "outcome"), columns, strict=True))
        level = np.full(len(at), np.median(activity))
        cells[name] = as_cells({**named, "n": counts[at], "activity": level}, name)
    names = (votes.entrants, votes.judges, votes.prompts, votes.categories)
    return Tallies(*names, cells["judge"], cells["prompt"], np.ones(world.judges), activity)


def as_read(tallies: Tallies) -> Tallies:
    """The same tallies, of which nothing has been worked out yet."""
    return replace(tallies, by_judge=replace(tallies.by_judge), by_prompt=replace(tallies.by_prompt))


def refit_growth(many: int) -> dict[str, Any]:
    world = big_world(entrants=20, judges=50)
    one, more = (from_tallies(world, millions) for millions in (1, many))
    first, later = (best_of(lambda t=t: fit_counts(as_read(t)), 5) for t in (one, more))
    return {"votes": many * 1_000_000, "seconds_1m": first, "seconds_more": later, "ratio": later / first}


def uneven_tallies(entrants: int) -> Tallies:
    """A million votes by judges of whom each casts votes in proportion to 1 over his place."""
    theta = big_world(entrants=entrants).theta
    world = FieldWorld(theta, 1_000_000, judges=200, prompts=40, categories=4, judge_sd=0.3, zipf=1.0)
    return tally_votes(simulate_field(world, seed=20).votes)


def whole_fit(entrants: int, *, uneven: bool = False) -> dict[str, Any]:
    """A million votes by 200 judges on 40 prompts, from tallies: ratings and categories alone, and everything that a board shows."""
    tallies = uneven_tallies(entrants) if uneven else from_tallies(big_world(entrants=entrants), 1)
    settings = Settings()

    def core() -> None:
        fresh = as_read(tallies)
        fit_categories(fresh, fit_overall(fresh, settings), settings)

    return {
        "entrants": entrants,
        "uneven": uneven,
        "cells": len(tallies.by_judge.left),
        "core_seconds": best_of(core),
        "everything_seconds": best_of(lambda: fit_counts(as_read(tallies))),
    }


def write_votes(votes: Votes, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for i in range(len(votes)):
            row = {
                "run": "bench",
                "suite": "ascii",
                "judge": votes.judges[votes.judge[i]],
                "prompt_text": f"{votes.prompts[votes.prompt[i]]} in ASCII art",
                "category": votes.categories[votes.category[i]],
                "left_model": votes.entrants[votes.left[i]],
                "right_model": votes.entrants[votes.right[i]],
                "left_attempt": int(votes.left_attempt[i]),
                "right_attempt": int(votes.right_attempt[i]),
                "outcome": OUTCOMES[votes.outcome[i]],
                "voted_at": datetime.fromtimestamp(START + i, UTC).isoformat(),
                "response_ms": int(votes.response_ms[i]),
                "kind": KINDS[0],
                "withdrawn": False,
            }
            file.write(json.dumps(row) + "\n")


def analyse_a_file(size: int) -> dict[str, Any]:
    """The whole command in a process of its own, against json.loads on each line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.jsonl"
        write_votes(simulate_votes(big_world(entrants=20, judges=50), size, seed=4), path)
        parse = f"import json\nfor line in open({str(path)!r}): json.loads(line)"
        loads = child_seconds([sys.executable, "-c", parse])
        command = [sys.executable, ROOT / "manage.py", "analyse", path, "--out", Path(folder) / "board.json"]
        analyse = child_seconds(command)
    return {"lines": size, "json_loads_seconds": loads, "analyse_seconds": analyse, "ratio": analyse / loads}


def child_seconds(command: list[Any]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    options = make_parser(__doc__, "5 M votes too").parse_args()
    sizes = [10_000, 100_000, 1_000_000] + ([5_000_000] if options.full else [])
    votes = simulate_votes(big_world(), 1_000_000, seed=2)
    sections: dict[str, tuple[str, Callable[[], list[Row]]]] = {
        "speed": ("Overall + 4 categories with two-way intervals, 100 entrants", lambda: speed(sizes)),
        "evalica": ("Against evalica, 1 M votes, 100 entrants", lambda: [against_evalica(votes)]),
        "choix": ("Against choix on raw pairs, 20,000 votes, 30 entrants", lambda: [against_choix()]),
        "whole": (
            "From tallies of 1 M votes, 200 judges, 40 prompts",
            lambda: [whole_fit(100), whole_fit(20), whole_fit(20, uneven=True)],
        ),
        "refit": ("Refit from tallies, 20 entrants, 50 judges, 40 prompts", lambda: [refit_growth(5)]),
        "analyse": ("analyse FILE against json.loads", lambda: [analyse_a_file(1_000_000)]),
    }
    figures = {}
    for name, (title, measure) in sections.items():
        figures[name] = measure()
        show(title, figures[name])
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
