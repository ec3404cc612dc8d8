"""`manage.py leaderboard RUN --format md|json|csv`: the leaderboard of the database, the same as `analyse` of its votes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.lib.progress_bar import Bar
from benchsite.lib.times import parse_time
from benchsite.version import signed, stamped
from generation.management.run_commands import find_run
from generation.protocols import load, protocol_of, protocols_of
from ranking.fitting import fit_options


class Command(BaseCommand):
    """Computes from every vote; stores nothing."""

    help = "Write a run's leaderboard as LEADERBOARD.md, JSON or CSV."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="a run's code, or a suite (its newest run), or suite/label")
        parser.add_argument("--format", choices=("md", "json", "csv"), default="md")
        parser.add_argument("--protocol", default="", help="default: the run's first")
        parser.add_argument("--ties", choices=("half", "drop"), default="", help="default: the curator's choice")
        parser.add_argument("--fails", choices=("half", "drop"), default="", help="default: the curator's choice")
        parser.add_argument("--until", help="count the votes that stood at this time, such as 2026-05-01T12:00Z")
        parser.add_argument("--out", type=Path, help="write here instead of to the screen")

    def handle(self, *args: Any, run: str, **options: Any) -> None:
        scored = find_run(run)
        protocol = options["protocol"] or next(iter(protocols_of(scored)), "")
        entry = protocol_of(scored, protocol)
        if entry is None:
            raise CommandError(f"Run {scored.code} is not scored by {protocol or 'anything yet'}.")
        try:
            if options["until"]:
                parse_time(options["until"])
        except ValueError:
            raise CommandError(
                f"--until must be a time such as 2026-05-01T12:00:00Z, not {options['until']!r}."
            ) from None
        chosen = fit_options(scored, **{name: options[name] for name in ("until", "ties", "fails")})
        with Bar(self.stderr, f"Fitting {protocol}"):
            text = written(load(entry.analyse)(scored, options=chosen, full=True), options["format"])
        if options["out"]:
            options["out"].write_text(text, encoding="utf-8")
        else:
            self.stdout.write(text, ending="")


def written(result: dict[str, Any], form: str) -> str:
    if form != "json":
        text = result.get("run", {}).get(form)
        if text is None:
            raise CommandError(f"This protocol is not written as {form}.")
        return signed(text) if form == "md" else text
    return json.dumps(public(result), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def public(result: dict[str, Any]) -> dict[str, Any]:
    return stamped({key: value for key, value in result.items() if key != "run"})
