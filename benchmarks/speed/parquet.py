"""script/bench parquet [--full] [--json FILE]: processor time and memory from a Parquet file of votes to a board, in one process each.

- load: the program's modules and libraries; read: the file to columns; counts: tallies, ratings, intervals, ranks, judges and verdicts; rows: agreement, consistency and
  judges' pace, which look at each vote.
- The promise is 10 million votes to a board in 3 seconds beyond reading, on one core. `--full` measures that many.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.figures.table import Row, make_parser, show, write_json

ENTRANTS, CATEGORIES, PORTION = 30, 5, 1_000_000
PANELS = ((200, 40), (500, 300))  # judges and prompts
ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def write_votes(path: Path, *, votes: int, judges: int, prompts: int, seed: int = 1) -> None:
    """Votes of a Bradley–Terry world in the columns that arenas use."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(seed), None
    strength = np.linspace(1, -1, ENTRANTS)
    names = [f"lab/model-{i:02}" for i in range(ENTRANTS)]

    def words(numbers: np.ndarray, values: list[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(values)).cast(pa.string())

    for done in range(0, votes, PORTION):
        n = min(PORTION, votes - done)
        a = rng.integers(ENTRANTS, size=n)
        b = (a + rng.integers(1, ENTRANTS, size=n)) % ENTRANTS
        prompt, luck = rng.integers(prompts, size=n), rng.random(n)
        won = rng.random(n) > 1 / (1 + np.exp(strength[b] - strength[a]))
        winner = np.where(luck < 0.15, 2, np.where(luck < 0.2, 3, won))
        moments = pa.array(1_700_000_000_000_000 + (np.arange(done, done + n) * 1_000_000)).cast(
            pa.timestamp("us", "UTC")
        )
        table = pa.table(
            {
                "model_a": words(a, names),
                "model_b": words(b, names),
                "winner": words(winner, ["model_a", "model_b", "tie", "both_bad"]),
                "judge": words(rng.integers(judges, size=n), [f"judge-{i}" for i in range(judges)]),
                "prompt": words(prompt, [f"Draw thing {i}" for i in range(prompts)]),
                "category": words(prompt % CATEGORIES, [f"category {i}" for i in range(CATEGORIES)]),
                "attempt_a": rng.integers(1, 5, size=n),
                "attempt_b": rng.integers(1, 5, size=n),
                "response_ms": rng.integers(300, 9000, size=n),
                "timestamp": moments,
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer:
        writer.close()


def measure(path: Path) -> Row:
    """Processor seconds of each part, in this process; loading the program itself is a part too."""
    clock = [time.process_time()]

    def lap() -> float:
        clock.append(time.process_time())
        return clock[-1] - clock[-2]

    import choix  # noqa: F401 (the ratings' library, which is loaded when it is first needed)
    import pyarrow.parquet  # noqa: F401

    from ranking.pairwise.files.votes import read_votes
    from ranking.statistics.leaderboard import fit_counts, study_rows
    from ranking.statistics.tallies import tally_votes
    from ranking.statistics.votes import standing_votes, without_unseen

    load_s = lap()
    votes = read_votes(path).votes
    row: Row = {"votes": len(votes), "judges": len(votes.judges), "prompts": len(votes.prompts)}
    row |= {"load_s": load_s, "read_s": lap()}
    votes = without_unseen(standing_votes(votes))
    fit = fit_counts(tally_votes(votes))
    row |= {"counts_s": lap(), "counts_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    study_rows(votes, fit)
    row |= {"rows_s": lap(), "whole_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    return row | {"board_s": row["counts_s"] + row["rows_s"]}


def measure_apart(votes: int, judges: int, prompts: int) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.parquet"
        write_votes(path, votes=votes, judges=judges, prompts=prompts)
        program = f"import json; from pathlib import Path; from benchmarks.speed.parquet import measure; print(json.dumps(measure(Path({str(path)!r}))))"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ | ONE_CORE
        )
    import json

    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def main() -> None:
    options = make_parser(__doc__ or "", "10 million votes instead of 300,000").parse_args()
    votes = 10_000_000 if options.full else 300_000
    rows = [measure_apart(votes, judges, prompts) for judges, prompts in PANELS]
    show("From Parquet to a board, processor seconds on one core", rows)
    write_json(options.json, {"ten_million" if options.full else "sample": rows})


if __name__ == "__main__":
    main()
