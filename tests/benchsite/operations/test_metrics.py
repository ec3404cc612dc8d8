"""/metrics: right numbers, in a form Prometheus reads, for nobody but who may."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils.timezone import now

from benchsite.operations.metrics import number_lines
from generation.models import ProviderCall, Run, Sample
from generation.queue import beat
from generation.runs import lifecycle as runs
from ranking.fitting import fit_run
from ranking.models import Fit
from tests.generation.drawing_room import draw_some, make_suite
from tests.ranking.archive_run import make_judged_run

pytestmark = pytest.mark.django_db(transaction=True)  # a thread of its own asks for the numbers
LINE = re.compile(r'benchsite_[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? -?[0-9.e+-]+')


def read(client):
    response = client.get("/metrics")
    assert response.status_code == 200 and response["Content-Type"].startswith("text/plain; version=0.0.4")
    text = response.content.decode()
    plain = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in plain), text
    return dict(line.rsplit(" ", 1) for line in plain)


def test_numbers_are_those_of_the_database(client, demo):
    demo()
    drawn = runs.start_run(make_suite())
    draw_some(drawn, 5)
    judged = make_judged_run(votes=40)
    numbers = read(client)
    assert int(numbers['benchsite_samples{state="drawn"}']) == Sample.objects.filter(state="drawn").count()
    assert int(numbers['benchsite_samples{state="pending"}']) == int(numbers["benchsite_samples_due"]) == 7
    runs.pause_run(drawn)
    assert int(read(client)["benchsite_samples_due"]) == 0, "nothing waits for workers in a paused run"
    drawn.refresh_from_db()
    judged.refresh_from_db()
    assert float(numbers["benchsite_cost_dollars_total"]) == pytest.approx((drawn.spent_nano + judged.spent_nano) / 1e9)
    assert int(numbers["benchsite_votes_total"]) == judged.votes.filter(withdrawn_at=None).count()
    assert int(numbers["benchsite_stale_fits"]) == 1 and float(numbers["benchsite_stale_fit_seconds"]) > 0
    assert int(numbers['benchsite_calls_total{outcome="answered"}']) == 5 + judged.calls.count()


def test_how_long_nothing_was_settled_or_fitted_is_told_while_runs_are_open_and_is_never_negative(client, demo):
    demo()
    drawn = runs.start_run(make_suite())
    assert "benchsite_settled_seconds_ago" not in read(client), "nothing was asked yet"
    draw_some(drawn, 5)
    judged = make_judged_run(votes=40)
    fit_run(judged, full=False)
    earlier = read(client)
    assert min(float(earlier["benchsite_settled_seconds_ago"]), float(earlier["benchsite_fit_seconds_ago"])) >= 0

    ProviderCall.objects.update(ended_at=now() + timedelta(hours=1))  # as when a clock was set back
    Fit.objects.update(created_at=now() + timedelta(hours=1))

    later = read(client)
    assert float(later["benchsite_settled_seconds_ago"]) == float(later["benchsite_fit_seconds_ago"]) == 0
    runs.pause_run(drawn)
    Run.objects.update(drawing_state=Run.Drawing.PAUSED, judging_state=Run.Judging.CLOSED)
    assert not [name for name in read(client) if name in ("benchsite_settled_seconds_ago", "benchsite_fit_seconds_ago")]


def test_queries_are_the_same_for_one_run_and_for_three(django_assert_num_queries):
    make_judged_run(votes=20)
    with django_assert_num_queries(10):
        number_lines()
    make_judged_run(votes=40)
    make_judged_run(votes=40)
    with django_assert_num_queries(10):
        number_lines()


def test_queue_that_is_away_is_a_number_too(client, settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert read(client)["benchsite_queue_up"] == "0"


def test_strangers_are_refused(client):
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.1").status_code == 403
    assert client.get("/metrics", REMOTE_ADDR="").status_code == 403


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via", "X-Forwarded-Proto"])
def test_stranger_behind_a_proxy_of_this_machine_is_refused(client, name):
    assert client.get("/metrics", headers={name: "192.0.2.1"}).status_code == 403


@pytest.mark.parametrize(("name", "value"), [("PROXIES", 1), ("SITE_URL", "http://bench.example.org")])
def test_public_site_needs_a_token(client, settings, name, value):
    setattr(settings, name, value)
    assert client.get("/metrics").status_code == 403


def test_token_opens_it_from_anywhere_and_nothing_else_does(client, settings):
    settings.METRICS_TOKEN, settings.PROXIES = "s3cret-token", 1
    for wrong in ("", "Bearer", "Bearer wrong", "Basic s3cret-token", "s3cret-token", "Bearer s3cret-tokén"):
        assert client.get("/metrics", headers={"Authorization": wrong}).status_code == 403
    good = {"Authorization": "Bearer s3cret-token", "X-Forwarded-For": "192.0.2.1"}
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.1", headers=good).status_code == 200
    assert client.post("/metrics").status_code == 405


def test_sweeper_beat_is_shown(client, settings):
    import redis

    try:
        redis.Redis.from_url(settings.REDIS_URL).ping()
    except redis.RedisError:
        beat()  # must not raise where the queue is away
        assert "benchsite_sweeper_seconds_ago" not in read(client)
        return
    beat()
    assert float(read(client)["benchsite_sweeper_seconds_ago"]) < 60
