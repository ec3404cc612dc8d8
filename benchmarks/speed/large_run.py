"""A very large run from its start to its export, and the processor time of each of its pages.

It is started from a suite of as many prompts as a page starts it, set up by a worker's job, drawn by a crew from the demo provider,
judged over the judges' own pages on top of earlier votes, fitted, published and exported, in one process on SQLite.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.figures.table import Row

ROOT = Path(__file__).resolve().parents[2]
MODELS, ATTEMPTS, JUDGES = 40, 5, 100
VOTES, CALLS = 20_000, 64
SLOW = 1_000.0  # milliseconds of processor time that no page may take
MORE_PLAYERS = """
import sys
from dataclasses import replace
from generation.demo import __main__ as demo
from generation.demo.players import PLAYERS

known = list(PLAYERS.values())
for number in range(int(sys.argv.pop(1))):
    player = replace(known[number % len(known)], name=f"demo/{number}")
    PLAYERS[player.name] = player
demo.main()
"""


@contextmanager
def demo_provider() -> Iterator[str]:
    """The demo provider with forty players, in a process of its own."""
    command = [sys.executable, "-c", MORE_PLAYERS, str(MODELS), "--latency", "0.05", "--faults", "0"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def measure(prompts: int, folder: Path) -> Row:
    """In a process of its own."""
    with demo_provider() as address:
        os.environ |= {"DEMO_PROVIDER_URL": address, "VAR_DIR": str(folder), "LOG_LEVEL": "ERROR"}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "benchmarks.peers.unhurried"}
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/large.sqlite3"
        import django

        django.setup()
        from django.core.management import call_command

        from generation import jobs
        from generation.drawing import crew

        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        began = time.process_time()
        run = start(prompts)
        row: Row = {"start_ms": milliseconds_since(began)}
        began = time.process_time()
        jobs.set_up(run.pk)
        row |= {"samples": run.samples.count(), "set_up_ms": milliseconds_since(began)}
        began = time.process_time()
        asyncio.run(crew.draw(run_id=run.pk, concurrency=CALLS))
        row["draw_ms_a_sample"] = round(milliseconds_since(began) / row["samples"], 2)
        row["drawn"] = run.samples.filter(state="drawn").count()
    return row | after_drawing(run, folder)


def start(prompts: int) -> Any:
    from django.conf import settings

    from generation.runs.lifecycle import start_run
    from generation.suites.loading import load_suite
    from generation.suites.suite import ModelEntry, PromptEntry

    suite = load_suite(settings.SUITES_DIR / "ascii")
    keys = [category.key for category in suite.categories]
    asked = (
        PromptEntry(f"p{n}", f"Draw a cat, version {n}, in ASCII art", keys[n % len(keys)], "cat")
        for n in range(prompts)
    )
    models = (ModelEntry(f"demo/{n}", f"Player {n}", provider="demo", price_in=1, price_out=5) for n in range(MODELS))
    suite = replace(suite, models=tuple(models), prompts=tuple(asked), concurrency=CALLS)
    return start_run(suite, attempts=ATTEMPTS, budget=None, wait=False)


def after_drawing(run: Any, folder: Path) -> Row:
    """Judged, fitted, looked at and exported."""
    from benchmarks.speed.growth import least, milliseconds_a_vote
    from benchmarks.speed.judging_rows import fill_votes, make_judges
    from generation.models import Run
    from ranking.archive.writing import archive_chunks
    from ranking.fitting import fit_run

    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.OPEN)
    row: Row = {"votes": fill_votes(run, VOTES)}
    sessions = make_judges(run, JUDGES)
    row["vote_ms"] = milliseconds_a_vote(run, sessions)
    pages = dict(pages_of(run, while_judged(run), session=sessions[0]))
    row["fit_ms"] = least(lambda: fit_run(run, full=False), times=1)
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    pages |= pages_of(run, when_closed(run))
    pages |= {f"{name}, curator": page for name, page in pages_of(run, for_curators(run), session=curator_session())}
    began, size = time.process_time(), 0
    with (folder / "run.zip").open("wb") as file:
        for chunk in archive_chunks(run):
            row.setdefault("export_first_ms", milliseconds_since(began))
            size += file.write(chunk)
    row |= {"export_ms": milliseconds_since(began), "export_mb": round(size / 1e6, 1)}
    row["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    slowest = max(pages, key=lambda name: pages[name]["first_ms"])
    over = [name for name, page in pages.items() if page["first_ms"] > SLOW]
    return row | {
        "pages": [{"page": name, **page} for name, page in sorted(pages.items())],
        "slowest_page": slowest,
        "slowest_page_ms": pages[slowest]["first_ms"],
        "over_a_second": len(over),
    }


def while_judged(run: Any) -> dict[str, str]:
    return {"judge": f"/judge/{run.code}/", "judge home": "/judge/"}


def when_closed(run: Any) -> dict[str, str]:
    """A visitor's pages of a published run, and its files up to their first piece."""
    prompt, sample = run.prompts.first(), run.samples.filter(verdict="valid").first()
    at, entrant = f"/runs/{run.code}", run.entrants.first()
    return {
        "home": "/",
        "drawings": "/drawings/",
        "leaderboards": "/leaderboards/",
        "suite": f"{at}/suite/",
        "leaderboard": f"{at}/leaderboard/",
        "prompts": f"{at}/prompts/",
        "prompts, last": f"{at}/prompts/?page=9999",
        "prompt": f"{at}/prompts/{prompt.code}/",
        "gallery": f"{at}/gallery/",
        "gallery, last": f"{at}/gallery/?page=9999",
        "model": f"{at}/entrants/{entrant.code}/",
        "drawing": f"/gallery/{sample.code}/",
        "differences": f"{at}/leaderboard/pairwise/differences/",
        "cost and speed": f"{at}/leaderboard/pairwise/frontier/",
        "votes": f"{at}/leaderboard/?tab=votes",
        "leaderboard.json": f"{at}/leaderboard.json",
        "leaderboard.csv": f"{at}/leaderboard.csv",
        "leaderboard.md": f"{at}/leaderboard.md",
    }


def for_curators(run: Any) -> dict[str, str]:
    at, sample = f"/runs/{run.code}", run.samples.first()
    return {
        "runs": "/runs/",
        "run": f"{at}/",
        "progress": f"{at}/progress/",
        "samples": f"{at}/samples/",
        "sample": f"/samples/{sample.code}/",
        "costs": f"{at}/costs/",
        "extend": f"{at}/extend/",
        "gallery": f"{at}/gallery/",
        "leaderboard": f"{at}/leaderboard/",
        "invitations": f"{at}/invitations/",
        "model judges": f"{at}/model-judges/",
        "samples.jsonl": f"{at}/samples.jsonl",
        "votes.jsonl": f"{at}/judging/votes.jsonl",
        "archive.zip": f"{at}/archive.zip",
        "admin: samples": "/admin/generation/sample/",
        "admin: votes": "/admin/judging/vote/",
    }


def curator_session() -> str:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.create_superuser("bench-curator"))
    return client.cookies["sessionid"].value


def pages_of(run: Any, addresses: dict[str, str], *, session: str = "") -> Iterable[tuple[str, Row]]:
    """Processor time of each: the first time it is asked for, and the least of three; a file up to its first piece."""
    from django.db import connection
    from django.test import Client

    client = Client(headers={"host": "127.0.0.1"})
    if session:
        client.cookies["sessionid"] = session
    for name, address in addresses.items():
        spent, asked = [], []
        with connection.execute_wrapper(lambda run, sql, *rest, seen=asked: (seen.append(sql), run(sql, *rest))[1]):
            for _ in range(3):
                began = time.process_time()
                answer = client.get(address)
                if answer.streaming:
                    next(iter(answer.streaming_content), None)
                spent.append(milliseconds_since(began))
                answer.close()
            if answer.status_code != 200:
                sys.exit(f"{address} answered {answer.status_code}.")
        print(f"{name}: {spent} ms", file=sys.stderr, flush=True)
        yield name, {"first_ms": spent[0], "ms": min(spent), "queries": len(asked) // 3}


def milliseconds_since(began: float) -> float:
    return round(1000 * (time.process_time() - began), 1)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), Path(sys.argv[2]))))
