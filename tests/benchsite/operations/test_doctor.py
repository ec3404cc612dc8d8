"""The doctor: says what is wrong, one line each, with the way out."""

from __future__ import annotations

import re
import shutil
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils.timezone import now
from rq import Worker

from benchsite.operations import doctor, health
from benchsite.operations.doctor import examine
from generation.models import LanguageModel, Run
from generation.queue import PRESENCE_KEY, SWEEPER_KEY, beat, note_presence, queue_connection
from generation.runs import lifecycle as runs
from tests.generation.drawing_room import make_suite
from tests.services import valkey_server

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def queue():
    with valkey_server() as server:
        yield server


@pytest.fixture
def healthy(settings, queue, tmp_path):
    """A deployment with nothing wrong."""
    settings.REDIS_URL, settings.STATIC_ROOT = queue.url, tmp_path
    settings.SITE_URL, settings.ALLOWED_HOSTS, settings.PROXIES = "https://bench.example.org", ["bench.example.org"], 1
    (tmp_path / "staticfiles.json").write_text("{}")
    folder = tmp_path / "config"
    for name in ("providers.yaml", "demo.yaml", "svg-arena"):
        source = settings.SUITES_DIR / name
        (shutil.copytree if source.is_dir() else copy_into)(source, folder / name)
    settings.SUITES_DIR = folder
    connection = queue_connection(queue.url)
    connection.flushall()
    for name in settings.RQ_QUEUES:
        Worker([name], connection=connection).register_birth()
    beat()
    return connection


def copy_into(source, target):
    target.parent.mkdir(exist_ok=True)
    shutil.copy(source, target)


def sentences(state="BAD"):
    return "\n".join(str(finding) for finding in examine() if finding.state == state)


def test_healthy_deployment_passes(healthy, capsys):
    call_command("doctor")
    out = capsys.readouterr().out
    assert "checks passed." in out and "BAD" not in out and "1 worker for draw" in out


def test_anything_wrong_exits_1(healthy, settings, capsys):
    settings.DEBUG = True
    with pytest.raises(SystemExit) as end:
        call_command("doctor")
    assert end.value.code == 1
    assert "BAD   DEBUG is on" in capsys.readouterr().out


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's errors have no SQLSTATE")
@pytest.mark.parametrize(("state", "is_full"), [("53100", True), ("42501", False)])
def test_a_disk_on_which_nothing_but_the_probe_s_row_fits_is_full(healthy, monkeypatch, state, is_full):
    refused = f"DO $$ BEGIN RAISE EXCEPTION 'no new page' USING ERRCODE = '{state}'; END $$"
    monkeypatch.setattr(health, "NEW_PAGES", refused)

    assert ("takes no writes: no new page (DiskFull 53100)" in sentences()) is is_full


def test_queue_away(healthy, settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert "The queue does not answer (ConnectionError). Start Valkey" in sentences()


def test_missing_workers_are_named_by_queue(healthy):
    healthy.flushall()
    findings = sentences()
    assert "No worker for draw. Start one: manage.py work draw" in findings and "No worker for fit" in findings
    assert "No sweep in the last day. Start one: manage.py sweep --forever" in findings


def test_sweeper_that_stopped(healthy):
    healthy.set(SWEEPER_KEY, repr(time.time() - 600))
    assert "The last sweep was 600 s ago" in sentences()


def test_queue_that_forgets_is_a_warning(healthy):
    assert "loses its jobs" not in sentences("warn")
    healthy.config_set("appendonly", "no")
    assert "loses its jobs on a restart. Set `appendonly yes`" in sentences("warn")
    healthy.config_set("appendonly", "yes")


def test_broken_suite_is_named_with_its_line(healthy, settings):
    (settings.SUITES_DIR / "svg-arena" / "config.yaml").write_text("title: x\ntitle: y\n")
    findings = sentences()
    assert "The suite svg-arena does not load" in findings and "config.yaml" in findings


def test_key_missing_for_an_open_run(healthy, monkeypatch):
    run = runs.start_run(make_suite())
    LanguageModel.objects.filter(run=run).update(profile={"name": "openrouter", "key_env": "SOME_PROVIDER_KEY"})
    assert "SOME_PROVIDER_KEY is not set" in sentences()
    monkeypatch.setenv("SOME_PROVIDER_KEY", "sk-very-secret-key")
    findings = "\n".join(map(str, examine()))
    assert "SOME_PROVIDER_KEY is set for openrouter" in findings and "sk-very-secret-key" not in findings
    runs.pause_run(run)
    monkeypatch.delenv("SOME_PROVIDER_KEY")
    assert "SOME_PROVIDER_KEY" not in sentences(), "a paused run asks nobody"


def test_demo_provider_away(healthy, monkeypatch, demo):
    server = demo()
    runs.start_run(make_suite())
    assert "demo provider" not in sentences()
    server.stop()
    monkeypatch.setenv("DEMO_PROVIDER_URL", "http://127.0.0.1:9/v1")
    assert "the demo provider does not answer. Start it" in sentences()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ALLOWED_HOSTS", ["other.example.org"], "is not among ALLOWED_HOSTS"),
        ("ALLOWED_HOSTS", ["bench.example.org", "*"], "allows any name"),
        ("NOTIFY_WEBHOOK", "http://example.org/", "must be an https address"),
    ],
)
def test_settings_that_do_not_fit(healthy, settings, name, value, words):
    setattr(settings, name, value)
    assert words in sentences()


def test_missing_static_files(healthy, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path / "none"
    assert "collectstatic" not in sentences(), "this host was seen sweeping and serves no pages"

    note_presence("web")

    assert "collectstatic" in sentences()


def test_what_another_host_does_not_reach_is_said_with_its_name(healthy):
    healthy.set("benchsite:trouble:worker3 provider openrouter", "no answer for 3 s")
    healthy.hset(PRESENCE_KEY, "worker2 draw", repr(healthy.time()[0] - 20))

    assert "Host worker3 does not reach the provider openrouter: no answer for 3 s." in sentences()
    assert re.search(r"Host worker2 is missing: no sign of draw for 2\d s\.", sentences())


def test_no_further_check_waits_for_a_database_that_is_away(healthy, monkeypatch):
    monkeypatch.setattr(doctor, "CHECKS", (lambda: iter(()), doctor.check_fits))
    monkeypatch.setattr(doctor, "connection", SimpleNamespace(connection=None))

    assert list(examine()) == []


def test_key_that_others_can_read(healthy, settings, tmp_path, monkeypatch):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    settings.VAR_DIR = tmp_path
    (tmp_path / "secret_key").write_text("x")
    (tmp_path / "secret_key").chmod(0o644)
    assert "chmod 600" in sentences()
    (tmp_path / "secret_key").chmod(0o600)
    assert "chmod" not in sentences()


def test_little_disk():
    finding, *_ = doctor.check_machine(little=1 << 62)

    assert "GB are free" in finding.what and "Free some space" in finding.fix


def test_leaderboard_behind(healthy):
    run = runs.start_run(make_suite())
    Run.objects.filter(pk=run.pk).update(scores_changed_at=now() - timedelta(hours=1))
    assert "1 leaderboards are over 5 minutes behind" in sentences()


def test_check_that_falls_over_is_a_finding(healthy, settings, tmp_path):
    settings.VAR_DIR = tmp_path / "gone"
    assert "The check of machine failed: FileNotFoundError" in sentences()
