"""script/bench arena_rank [--full] [--json FILE]: arena-rank's own example on a run that we publish, beside our ratings of it.

The run is drawn and judged in a new SQLite file and published as a dataset; arena-rank loads that folder as it loads its own data. Compared are the
ratings in which every judge counts alike, as arena-rank's do. The promise is 0.01 Elo.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures.table import Row, make_parser, show, write_json
from benchmarks.peers.coverage_peers import peer_python

EXAMPLE = Path(__file__).parent / "arena_example.py"


def publish(folder: Path, *, votes: int) -> Path:
    os.environ |= {"VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "benchmarks.peers.unhurried", "LOG_LEVEL": "ERROR"}
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/export.sqlite3"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from benchmarks.speed.judging_rows import fill_votes, make_run
    from generation.models import Run
    from ranking.dataset.about import About
    from ranking.dataset.publishing import publish_dataset

    run = make_run(entrants=8, prompts=20, attempts=2)
    fill_votes(run, votes, each=100)
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.CLOSED)
    run.refresh_from_db()
    return publish_dataset(run, folder / "dataset", About(("Bench",), "Nobody judged; the votes are made up."))


def ratings_of(folder: Path) -> dict[str, float]:
    board = json.loads((folder / "leaderboard-pairwise.json").read_text())
    rows = (board.get("activity") or {}).get("unweighted") or board["overall"]
    return {row["entrant"]: row["rating"] for row in rows}


def measure(*, votes: int) -> Row:
    python = peer_python("arena_rank")
    if python is None:
        sys.exit("Nothing is compared without arena-rank.")
    with tempfile.TemporaryDirectory() as place:
        folder = publish(Path(place), votes=votes)
        offline = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": place}
        # -P: this module has the name of arena-rank's package.
        done = subprocess.run([python, "-P", EXAMPLE, folder], capture_output=True, text=True, check=True, env=offline)
        theirs, ours = json.loads(done.stdout.splitlines()[-1]), ratings_of(folder)
    gap = max(abs(theirs[name] - ours[name]) for name in ours)
    return {
        "votes": votes,
        "entrants": len(ours),
        "widest": max(ours.values()) - min(ours.values()),
        "largest_gap": gap,
        "within_0.01": gap <= 0.01,
    }


def main() -> None:
    options = make_parser(__doc__ or "", "20,000 votes instead of 2,000").parse_args()
    row = measure(votes=20_000 if options.full else 2_000)
    show("arena-rank's example on our export, Elo", [row])
    write_json(options.json, row)


if __name__ == "__main__":
    main()
