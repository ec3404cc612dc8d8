"""script/bench study_votes [--full] [--json FILE]: processor time of a vote in a study, beside that of an invited judge, in one run.

Participants and invited judges sit down in turn for 20 pairs each, on SQLite in this process, so that web and database count alike:
400 votes of each kind, 5,000 in the long form. The ratio says what a study costs more; the growth, whether hundreds of short seats
make votes dearer.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from itertools import count
from statistics import median
from typing import Any

from benchmarks.figures.table import make_parser, write_json

VOTES = {False: 400, True: 5_000}
SEAT = 20


def sit(client: Any, run: str) -> list[float]:
    """The milliseconds of processor time of each vote, with its next pair, as the page's script sends it."""
    headers = {"accept": "application/json"}
    line = client.post(f"/judge/{run}/start/", headers=headers).json()
    times = []
    while line["current"]:
        have = line["next"]["code"] if line["next"] else ""
        fields = {"code": line["current"]["code"], "outcome": "left", "have": have, "response_ms": "4000"}
        began = time.process_time()
        response = client.post("/judge/vote/", fields, headers=headers)
        times.append(1000 * (time.process_time() - began))
        line = response.json()
    return times


def measure(votes: int) -> dict[str, Any]:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client
    from django.test.utils import setup_test_environment

    setup_test_environment()
    settings.MIN_VOTE_SECONDS = 0
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    from tests.judging.make import make_run, make_seat
    from tests.judging.studies.make import Guest, make_study

    run = make_run(entrants=6, prompts=20, attempts=3, overlap=0, repeats=0)
    study = make_study(run, pairs=SEAT, per_address=100_000)
    times: dict[str, list[float]] = {"study": [], "invited": []}
    for number in count():
        if len(times["study"]) >= votes:
            break
        guest = Guest(study)
        guest.enter()
        times["study"] += sit(guest.client, run.code)
        client = Client()
        client.force_login(make_seat(run, f"judge{number}", quota=SEAT).judge)
        times["invited"] += sit(client, run.code)
    quarter = len(times["study"]) // 4
    return {
        "votes": len(times["study"]),
        "study_ms": round(median(times["study"]), 2),
        "invited_ms": round(median(times["invited"]), 2),
        "ratio": round(sum(times["study"]) / sum(times["invited"]), 3),
        "growth": round(median(times["study"][-quarter:]) / median(times["study"][:quarter]), 3),
    }


def main() -> int:
    parser = make_parser(__doc__, "5,000 votes of each kind")
    parser.add_argument("--votes", type=int)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchsite-votes-") as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "benchsite.settings", "VAR_DIR": folder, "LOG_LEVEL": "CRITICAL"}
        os.environ.pop("DATABASE_URL", None)
        figures = measure(asked.votes or VOTES[asked.full])
    for name, value in figures.items():
        print(f"  {name:12}{value}")
    write_json(asked.json, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
