"""The site at size: an archive of many votes is written with flat memory; pages ask the database no more than before.

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
from typing import Any

from benchmarks.figures.table import make_parser, show, write_json

SMALL, FULL = (1_000, 20_000, 100_000), (1_000, 20_000, 1_000_000)
SEEDLING = 20_000  # votes made one by one; the rest are copies of them by SQL, which takes seconds instead of minutes
FLAT = 1.5  # the largest may take this much more memory than the smallest


def measure(votes: int, folder: Path) -> dict[str, Any]:
    """One size, in this process: fill, export, and say how long and how much memory that took; then ask for pages."""
    os.environ |= {"VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "tests.settings", "LOG_LEVEL": "ERROR"}
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from benchmarks.speed.site_pages import measure_pages
    from judging.pairs.tallies import rebuild_tallies
    from ranking.archive.writing import archive_chunks
    from tests.ranking.archive_run import add_votes, make_judged_run

    run = make_judged_run(votes=0, prompts=60, attempts=4)
    pid = os.fork()
    if pid == 0:  # votes are made in a child, so that only the export counts in our peak
        from django.db import connection

        connection.close()
        add_votes(run, judges=50, votes=min(votes, SEEDLING))
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
    row = {"votes": votes, "seconds": seconds, "votes_per_second": votes / seconds, "megabytes": size / 1e6}
    export = {**row, "peak_mb": peak / 1024, "before_mb": before / 1024}
    return {"export": export, "pages": measure_pages(run, votes=votes)}


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


def in_a_process(votes: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="benchsite-bench-") as folder:
        command = [sys.executable, "-m", "benchmarks.speed.site", "--one", str(votes), "--folder", folder]
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
    rows = [in_a_process(votes) for votes in (FULL if options.full else SMALL)]
    exports, pages = [size["export"] for size in rows], [page for size in rows for page in size["pages"]]
    show("Everything about a run as one zip", exports)
    growth = exports[-1]["peak_mb"] / exports[0]["peak_mb"]
    flat = growth <= FLAT
    print(
        f"memory is {'flat' if flat else 'NOT flat'}: {growth:.2f} times for {exports[-1]['votes'] // exports[0]['votes']} times the votes"
    )
    pages.sort(key=lambda page: (page["page"], page["votes"]))
    show("Pages", pages)
    asked = {(page["page"], page["queries"]) for page in pages}
    constant = len(asked) == len({name for name, _ in asked})
    print(f"statements a page are {'constant' if constant else 'NOT constant'}")
    figures = {"export": exports, "pages": pages, "page_queries_constant": constant}
    figures |= {"export_memory_growth": growth, "most_votes": exports[-1]["votes"]}
    figures["slowest_page_p95_ms"] = max(page["p95_ms"] for page in pages)
    write_json(options.json, figures)
    sys.exit(0 if flat and constant else 1)


if __name__ == "__main__":
    main()
