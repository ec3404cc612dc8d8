"""The same rows pushed by two programs at the same moment, and by one that is killed: the short form of `script/bench pushes`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from benchmarks.faults.pushes import drawings, votes
from generation.models import Run, Sample
from ranking.models import PushedVote
from ranking.tokens import create_token
from tests.judging.make import make_curator, make_run
from tests.processes import ROOT, database_url

pytestmark = pytest.mark.django_db(transaction=True)
ROWS = 120
# What the program does that is killed: it stores every drawing, says so, and never comes to the end of its transaction.
STOPPED = """
import sys, time
import django
django.setup()
from generation.files import import_samples
from generation.models import Run
def stop(run):
    print("half way", flush=True)
    time.sleep(600)
import_samples.keep_unfrozen = stop
import_samples.import_samples(open(sys.argv[1], "rb"), run=Run.objects.get(code=sys.argv[2]))
"""


@pytest.fixture
def run():
    run = make_run(entrants=2, prompts=4, attempts=1)
    Run.objects.filter(pk=run.pk).update(judging_state="closed")
    return run


@pytest.fixture
def token(run):
    return create_token(label="two", by=make_curator(), role="push", run=run, expires_at=now() + timedelta(days=1))[1]


def lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def push_together(token, address, *bodies):
    """What each was answered; they begin at the same moment."""
    start = threading.Barrier(len(bodies))

    def push(body):
        start.wait()
        try:
            headers = {"Authorization": f"Bearer {token}"}
            response = Client().post(address, body, content_type="application/x-ndjson", headers=headers)
            return response.status_code, json.loads(response.content)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(push, bodies))


def counts(answers):
    assert {status for status, _ in answers} == {200}, answers
    return sorted((answer["added"], answer["same"]) for _, answer in answers)


def test_drawings_pushed_twice_at_once_in_another_order_are_stored_once(run, token):
    rows = drawings(run, ROWS, model="mine/own")

    answers = push_together(token, f"/api/v1/runs/{run.code}/samples", lines(rows), lines(rows[::-1]))

    assert counts(answers) == [(0, ROWS), (ROWS, 0)]
    assert run.samples.filter(model__model_id="mine/own", state="drawn").count() == ROWS
    assert run.models.filter(model_id="mine/own").count() == 1


def test_of_two_answers_to_one_planned_drawing_at_once_the_second_is_told(run, token):
    entrant = run.entrants.select_related("model").first()
    planned = [
        Sample(run=run, entrant=entrant, model=entrant.model, prompt=prompt, attempt=9, state="pending")
        for prompt in run.prompts.all()
    ]
    Sample.objects.bulk_create(planned)
    asked = {"model_id": entrant.model.model_id, "attempt_number": 9}
    bodies = [
        lines([{**asked, "prompt_text": row.prompt.text, "raw_output": f"```\n{word}\n```"} for row in planned])
        for word in ("(o.o)", "(x.x)")
    ]

    answers = push_together(token, f"/api/v1/runs/{run.code}/samples", *bodies)

    assert sorted(status for status, _ in answers) == [200, 422]
    refused = next(answer for status, answer in answers if status == 422)
    assert "differs from the answer that is stored" in refused["detail"]
    assert run.samples.filter(attempt=9).values_list("answer", flat=True).distinct().count() == 1


def test_votes_pushed_twice_at_once_are_stored_once(run, token):
    rows = votes(run, ROWS, name="lab")

    address = f"/api/v1/runs/{run.code}/votes?reason=elsewhere"
    answers = push_together(token, address, lines(rows), lines(rows[::-1]))

    assert counts(answers) == [(0, ROWS), (ROWS, 0)]
    assert (run.votes.count(), PushedVote.objects.filter(run=run).count()) == (ROWS, ROWS)


@pytest.mark.processes
def test_a_push_that_is_killed_half_way_leaves_nothing_and_is_repeated(run, token, tmp_path):
    rows, path = drawings(run, ROWS, model="mine/own"), tmp_path / "drawings.jsonl"
    path.write_bytes(lines(rows))
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "benchsite.settings",
        "DATABASE_URL": database_url(),
        "VAR_DIR": str(tmp_path),
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "-c", STOPPED, str(path), run.code]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "half way\n"
        child.send_signal(signal.SIGKILL)
    stored = run.samples.filter(model__model_id="mine/own")

    assert not stored.exists() and not run.models.filter(model_id="mine/own").exists()
    assert counts(push_together(token, f"/api/v1/runs/{run.code}/samples", path.read_bytes())) == [(ROWS, 0)]
    assert stored.count() == ROWS
