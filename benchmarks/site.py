"""The site at size: an archive of many votes is written with flat memory, and its rate is printed.

Each size runs in a process of its own on a new SQLite file, so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table import make_parser, show, write_json

SMALL, FULL = (20_000, 100_000), (20_000, 1_000_000)
SEEDLING = 20_000  # votes made one by one; the rest are copies of them by SQL, which takes seconds instead of minutes
FLAT = 1.5  # the largest may take this much more memory than the smallest


def measure(votes: int, folder: Path) -> dict[str, float]:
    """One size, in this process: fill, export, and say how long and how much memory the export took."""
    os.environ |= {"VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "tests.settings", "LOG_LEVEL": "ERROR"}
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from judging.tallies import rebuild_tallies
    from ranking.archive import archive_chunks
    from tests.ranking.archive_run import add_votes, make_judged_run

    run = make_judged_run(votes=0, prompts=60, attempts=4)
    pid = os.fork()
    if pid == 0:  # votes are made in a child, so that only the export counts in our peak
        from django.db import connection

        connection.close()
        add_votes(run, judges=50, votes=SEEDLING)
        multiply(votes // SEEDLING)
        rebuild_tallies(run)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, size = time.perf_counter(), 0
    with (folder / "run.zip").open("wb") as file:
        for chunk in archive_chunks(run):
            size += file.write(chunk)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = {"votes": votes, "seconds": seconds, "votes_per_second": votes / seconds, "megabytes": size / 1e6}
    return {**told, "peak_mb": peak / 1024, "before_mb": before / 1024}


def multiply(times: int) -> None:
    """Each matchup and vote so many times over, with ids, codes, keys and orders of their own."""
    from django.db import connection

    from judging.models import Matchup, Vote

    shift, orders = f"{{k}} * {SEEDLING}", SEEDLING // 50
    fresh = {
        Matchup: {"id": f"id + {shift}", "code": "lower(hex(randomblob(6)))", "key": "key || '-' || {k}"}
        | {"order": f'"order" + {{k}} * {orders}', "repeat_of_id": "NULL"},
        Vote: {"id": f"id + {shift}", "matchup_id": f"matchup_id + {shift}"},
    }
    with connection.cursor() as cursor:
        for k in range(1, times):
            for table, changed in fresh.items():
                columns = [column.column for column in table._meta.concrete_fields]
                values = ", ".join(changed.get(name, f'"{name}"').format(k=k) for name in columns)
                names = ", ".join(f'"{name}"' for name in columns)
                cursor.execute(
                    f'INSERT INTO "{table._meta.db_table}" ({names}) SELECT {values} FROM "{table._meta.db_table}" '
                    f"WHERE id <= {SEEDLING}"
                )


def in_a_process(votes: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="benchsite-bench-") as folder:
        command = [sys.executable, "-m", "benchmarks.site", "--one", str(votes), "--folder", folder]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = make_parser(__doc__, "a million votes")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.folder)))
        return
    found = [in_a_process(votes) for votes in (FULL if options.full else SMALL)]
    show("Everything about a run as one zip", found)
    flat = found[-1]["peak_mb"] <= FLAT * found[0]["peak_mb"]
    print(f"memory is {'flat' if flat else 'NOT flat'}")
    write_json(options.json, {"export": found, "export_memory_flat": flat})
    sys.exit(0 if flat else 1)


if __name__ == "__main__":
    main()
