"""What other packages print for the same votes: how often evalica's and arena-rank's 95 % intervals hold the truth, beside ours.

They run in an environment of their own, made on request; without it the table has our columns only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures.table import Notebook
from benchmarks.numbers.ranking_coverage import FIRST_SEED, Row, held, truth_of, vote_bootstrap
from benchmarks.numbers.worlds import WORLDS, simulate_field
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.tallies import tally_votes
from ranking.statistics.votes import Votes

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "var" / "bench-venv"
PACKAGES = {"evalica": "evalica==0.4.2", "arena_rank": "arena-rank==0.1.1"}
PROGRAM = Path(__file__).parent / "peer_intervals.py"
COMPARED = (
    "baseline, 20 judges x 20 prompts",
    "one judge casts 60 % (12 judges)",
    "Zipf activity, 50 judges",
)


def peer_python(*modules: str) -> Path | None:
    """A Python that has these packages; None (and why, on the screen) if it cannot be made."""
    python = VENV / "bin" / "python"
    wanted = modules or tuple(PACKAGES)
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True, capture_output=True)
        if subprocess.run([python, "-c", f"import {', '.join(wanted)}"], capture_output=True, check=False).returncode:
            command = [python, "-m", "pip", "install", "-q", *(PACKAGES[name] for name in wanted)]
            subprocess.run(command, check=True, capture_output=True, timeout=600)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"{', '.join(wanted)} could not be installed, so it is not compared: {error}")
        return None
    return python


def peer_table(*, runs: int, notes: Notebook) -> list[Row]:
    """Share of intervals of ratings that hold the truth: ours, a bootstrap over votes, arena-rank's and evalica's bootstrap.

    `notes` keeps each world's row."""
    python = peer_python()
    known = ", ".join(PACKAGES) if python else "nobody else"
    return [
        notes.noted(
            f"peers, {name}, {runs} from {FIRST_SEED}, {known}", lambda name=name: _world_row(name, runs, python)
        )
        for name in COMPARED
    ]


def _world_row(name: str, runs: int, python: Path | None) -> Row:
    world = WORLDS[name]
    drawn = [simulate_field(world, seed=seed) for seed in range(FIRST_SEED, FIRST_SEED + runs)]
    truths = np.array([truth_of(world, one) for one in drawn])
    fits = [fit_overall(tally_votes(one.votes), Settings()) for one in drawn]
    even = [fit_overall(tally_votes(one.votes), Settings(activity="even")) for one in drawn]
    bootstrap = np.array([vote_bootstrap(fit, seed) for seed, fit in enumerate(even)])
    row: Row = {"world": name, "runs": runs}
    row["benchsite"] = float(np.mean([held(fit, truth)[0] for fit, truth in zip(fits, truths, strict=True)]))
    row["vote_bootstrap"] = _covered(bootstrap, truths)
    peers = _ask(python, [one.votes for one in drawn]) if python else {}
    for peer in PACKAGES:
        row[peer] = _covered(np.array(peers[peer]), truths) if peer in peers else None
    row["benchsite_width"] = float(np.median([ELO * 2 * fit.spread.reach() for fit in fits]))
    row["arena_rank_width"] = float(ELO * np.median(np.diff(peers["arena_rank"], axis=1))) if peers else None
    return row


def _covered(bounds: Any, truths: Any) -> float:
    return float(((bounds[:, 0] <= truths) & (truths <= bounds[:, 1])).mean())


def _ask(python: Path, studies: list[Votes]) -> dict[str, Any]:
    """Lower and upper bounds [runs, 2, K] of each peer, in log-odds around the mean of all entrants."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.npz"
        columns = {name: np.array([getattr(v, name) for v in studies]) for name in ("left", "right", "outcome")}
        np.savez(path, **columns)
        # -P: a module of ours beside the program has the name of arena-rank's package.
        done = subprocess.run([python, "-P", PROGRAM, path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
