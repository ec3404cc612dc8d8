"""script/bench fire: two hundred judges vote over HTTP at once, and misbehave, while curators open and close the run.

A real gunicorn (2 processes of 4 threads) on PostgreSQL; refits run all the while. Judges click twice, vote differently in
two tabs at the same moment, replay old votes, undo several at a time and try other judges' pairs; curators pause, close and
open judging, set judges aside, let them in again, and switch accounts off and on. At the end:

- lost: votes that the server acknowledged and nobody undid, but that do not stand (or stand with another choice)
- double: votes that stand although nobody was told so, or twice on one pair
- wrong tallies: rows that do not equal a GROUP BY of the standing votes
- the leaderboard that the workers made equals `analyse` of the exported file
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.faults.fire_judge import Judge, Tab
from benchmarks.figures.table import Row, make_parser, show, write_json
from benchmarks.speed.judging import gunicorn

ROOT = Path(__file__).resolve().parents[2]
NOT_NUMBERS = ("settings", "run", "notes", "samples", "answers", "benchsite_version")


def main() -> None:
    parser = make_parser(__doc__, "100,000 votes instead of 3,000")
    parser.add_argument("--votes", type=int)
    parser.add_argument("--judges", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=200, help="stop then: too few votes are a failure")
    options = parser.parse_args()
    votes = options.votes or (100_000 if options.full else 3_000)
    with ExitStack() as stack:
        figures = Fire(stack, judges=options.judges, seed=options.seed).burn(votes, 60 * options.minutes)
    figures["share of the votes asked for"] = min(figures["votes cast"] / votes, 1.0)
    figures["held"] = figures["held"] and figures["votes cast"] >= votes
    show("Votes under fire", [{"what": key, "figure": value} for key, value in figures.items() if key != "surprises"])
    for surprise, times in figures["surprises"].items():
        print(f"  unexpected: {surprise} ({times} times)")
    write_json(options.json, figures)
    sys.exit(0 if figures["held"] else 1)


class Fire:
    """The servers, the run and the crowd."""

    def __init__(self, stack: ExitStack, *, judges: int, seed: int) -> None:
        self.rng = Random(seed)
        self.curated: Counter[str] = Counter()
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchsite-fire-")))
        self.open_servers(stack)
        from benchmarks.speed.judging_rows import make_judges, make_run

        self.run, shared = make_run(), []
        keys = make_judges(self.run, judges)
        self.seats = list(self.run.seats.all())
        self.judges = [
            Judge(self.run.code, Random(f"{seed}-{n}"), (Tab(self.host, key), Tab(self.host, key)), shared)
            for n, key in enumerate(keys)
        ]

    def open_servers(self, stack: ExitStack) -> None:
        from tests.services import postgres, valkey_server

        database, queue = stack.enter_context(postgres(durable=True)), stack.enter_context(valkey_server())
        os.environ |= {"DATABASE_URL": database.url, "REDIS_URL": queue.url, "VAR_DIR": str(self.folder)}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "benchsite.settings", "LOG_LEVEL": "ERROR"}
        import django

        django.setup()
        from django.core.management import call_command

        from tests.processes import floor

        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        site = stack.enter_context(
            floor(
                redis_url=queue.url, demo_url="http://127.0.0.1:9/v1", database=database.url, VAR_DIR=str(self.folder)
            )
        )
        site.start("refit", "--forever")
        site.start("work", "fit")
        base, _ = stack.enter_context(gunicorn())
        self.host = base.removeprefix("http://")

    def burn(self, votes: int, longest: float) -> Row:
        start = time.monotonic()

        def go_on() -> bool:
            return self.cast() < votes and time.monotonic() - start < longest

        threads = [threading.Thread(target=judge.work, args=(go_on,), daemon=True) for judge in self.judges]
        for thread in threads:
            thread.start()
        while go_on():
            self.curate()
        self.set_state("open")
        for thread in threads:
            thread.join()
        return self.verdict(time.monotonic() - start)

    def cast(self) -> int:
        return sum(judge.did["votes"] for judge in self.judges)

    def curate(self) -> None:
        """One thing that curators do in the middle of voting, undone a moment later."""
        from django.contrib.auth.models import User

        from judging.curating.runs import weigh_judge

        act = self.rng.choice(("pause", "close", "set aside", "switch off"))
        self.curated[act] += 1
        seat = self.rng.choice(self.seats)
        if act in ("pause", "close"):
            self.set_state(act)
            time.sleep(0.3)
            self.set_state("open")
        elif act == "set aside":
            weigh_judge(seat=seat, weight=0, by=self.boss, reason="fire drill")
            time.sleep(0.3)
            weigh_judge(seat=seat, weight=1, by=self.boss, reason="fire drill is over")
        else:
            User.objects.filter(pk=seat.judge_id).update(is_active=False)
            time.sleep(0.5)
            User.objects.filter(pk=seat.judge_id).update(is_active=True)
        time.sleep(self.rng.uniform(1, 4))

    @property
    def boss(self) -> Any:
        from django.contrib.auth.models import User

        return User.objects.get_or_create(username="boss", defaults={"is_staff": True})[0]

    def set_state(self, verb: str) -> None:
        from judging.curating.runs import set_judging

        set_judging(run=self.run, verb=verb, by=self.boss, reason="fire drill")

    def verdict(self, seconds: float) -> Row:
        from judging.models import Matchup, Vote
        from judging.pairs.tallies import differences

        acknowledged = {code: outcome for judge in self.judges for code, outcome in judge.ledger.items()}
        did = sum((judge.did for judge in self.judges), Counter())
        standing = self.run.votes.standing()
        stored = dict(standing.values_list("matchup__code", "outcome"))
        surprises = Counter(surprise for judge in self.judges for surprise in judge.surprises)
        figures = {
            "judges": len(self.judges),
            "votes cast": did["votes"],
            "seconds": round(seconds, 1),
            "votes a second": round(did["votes"] / seconds, 1),
            **{key: did[key] for key in sorted(did) if key != "votes"},
            "sent again, as no thread was free": sum(tab.turned_away for judge in self.judges for tab in judge.tabs),
            **{f"curators: {act}": times for act, times in sorted(self.curated.items())},
            "standing": standing.count(),
            "lost": sum(stored.get(code) != outcome for code, outcome in acknowledged.items()),
            "double": len(stored.keys() - acknowledged.keys()) + standing.count() - len(stored),
            "withdrawn too many or few": abs(
                Vote.objects.filter(run=self.run).exclude(withdrawn_at=None).count() - did["undone"]
            ),
            "pairs open twice": Matchup.objects.filter(run=self.run, state="voted").count() - standing.count(),
            "wrong tallies": differences(self.run),
        }
        if difference := self.compare():
            surprises[f"the leaderboard is not that of analyse: {difference}"] += 1
        figures |= {"leaderboard equals analyse": not difference, "unexpected answers": sum(surprises.values())}
        wrong = ("lost", "double", "withdrawn too many or few", "pairs open twice", "wrong tallies")
        wrong += ("unexpected answers",)
        return {**figures, "held": not any(figures[key] for key in wrong), "surprises": dict(surprises)}

    def compare(self) -> str:
        """What the workers' own last fit says, against `analyse` of the exported votes; the first difference or nothing."""
        from ranking.fitting import stale_fits
        from ranking.models import Fit
        from tests.ranking.alike import assert_alike

        end = time.monotonic() + 180
        while stale_fits("full") or stale_fits("fast"):
            if time.monotonic() > end:
                return "the workers made no fit of the last votes within 180 s"
            time.sleep(0.5)
        exported, board = self.folder / "votes.jsonl", self.folder / "board.json"
        for command in (["export", "votes", self.run.code, "--out", exported], ["analyse", exported, "--out", board]):
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, check=True, capture_output=True)
        fit = Fit.objects.filter(run=self.run, kind="full").latest("id")
        shown, stored = json.loads(board.read_text()), json.loads(json.dumps(fit.result))
        try:
            assert_alike(numbers(stored), numbers(shown))
        except AssertionError as error:
            return next(iter(str(error).splitlines()), "") or f"parts {sorted(set(stored) ^ set(shown))}"
        return ""


def numbers(result: Row) -> Row:
    return {key: value for key, value in result.items() if key not in NOT_NUMBERS}


if __name__ == "__main__":
    main()
