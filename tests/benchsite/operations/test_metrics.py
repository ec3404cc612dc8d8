"""/metrics: right numbers, in a form Prometheus reads, for nobody but who may."""

from __future__ import annotations

import re

import pytest

from generation.models import Sample
from generation.queue import beat
from generation.runs import lifecycle as runs
from tests.generation.drawing_room import draw_some, make_suite
from tests.ranking.archive_run import make_judged_run

pytestmark = pytest.mark.django_db
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
    found = read(client)
    assert int(found['benchsite_samples{state="drawn"}']) == Sample.objects.filter(state="drawn").count()
    assert int(found['benchsite_samples{state="pending"}']) == int(found["benchsite_samples_due"]) == 7
    runs.pause_run(drawn)
    assert int(read(client)["benchsite_samples_due"]) == 0, "nothing waits for workers in a paused run"
    drawn.refresh_from_db()
    judged.refresh_from_db()
    assert float(found["benchsite_cost_dollars_total"]) == pytest.approx((drawn.spent_nano + judged.spent_nano) / 1e9)
    assert int(found["benchsite_votes_total"]) == judged.votes.filter(withdrawn_at=None).count()
    assert int(found["benchsite_stale_fits"]) == 1 and float(found["benchsite_stale_fit_seconds"]) > 0
    assert int(found['benchsite_calls_total{outcome="answered"}']) == 5 + judged.calls.count()


def test_queries_are_the_same_for_one_run_and_for_three(client, django_assert_num_queries):
    make_judged_run(votes=20)
    with django_assert_num_queries(10):
        read(client)
    make_judged_run(votes=40)
    make_judged_run(votes=40)
    with django_assert_num_queries(10):
        read(client)


def test_queue_that_is_away_is_a_number_too(client, settings):
    settings.REDIS_URL, settings.PROBE_KEPT_SECONDS = "redis://127.0.0.1:9/0", 0
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
