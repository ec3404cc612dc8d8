"""Curators' pages: what they show, what they do, and who may not."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Event, Run, Sample
from generation.runs.lifecycle import cancel_run, start_run
from generation.views.progress import ADVICE
from tests.generation.drawing_room import draw_some, make_suite
from tests.generation.suites.suite_files import write_suite
from tests.pages import collapsed

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(demo):
    demo()
    return start_run(make_suite())


def test_runs_are_counted_without_reading_their_suites(client, curator, run):
    with CaptureQueriesContext(connection) as asked:
        client.get("/runs/")

    assert [query for query in asked if "GROUP BY" in query["sql"]]
    assert not [query for query in asked if '"config"' in query["sql"]]


def test_runs_lists_runs_and_suites(client, curator, run):
    page = client.get("/runs/").content.decode()

    assert f"/runs/{run.code}/" in page
    assert "/suites/ascii/start/" in page


def test_the_newest_run_stands_first(client, curator, run):
    newer = start_run(make_suite())

    assert list(client.get("/runs/").context["runs"]) == [newer, run]


def test_a_run_that_is_only_measured_waits_for_no_judge(client, curator, run):
    Run.objects.update(protocols=["automatic"])
    client.force_login(curator)

    page = client.get("/runs/").text

    assert "measured, no judging needed" in page
    assert run.get_judging_state_display() not in page


def test_a_suite_that_does_not_load_is_shown_with_its_reason(client, curator, settings, tmp_path):
    settings.SUITES_DIR = tmp_path
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.yaml").write_text("suite: [\n")

    page = client.get("/runs/").content.decode()

    assert "does not load" in page
    assert "config.yaml" in page


def test_a_curator_checks_the_provider_before_starting(client, curator, monkeypatch):
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)

    start = client.get("/suites/ascii/start/").text
    page = client.post("/suites/ascii/check/").text

    assert 'action="/suites/ascii/check/"' in start
    assert "set OPENROUTER_API_KEY" in page
    assert "a whole run costs" in page
    assert client.post("/suites/nothing/check/").status_code == 404


@pytest.mark.parametrize(
    "path", ["/runs/", "/suites/ascii/start/", "/runs/{run}/", "/runs/{run}/samples/", "/samples/{sample}/"]
)
def test_pages_are_for_curators(client, run, path):
    path = path.format(run=run.code, sample=run.samples.first().code)
    assert client.get(path)["Location"].startswith("/login/")

    client.force_login(User.objects.create_user("bob"))

    assert client.get(path).status_code == 403


def test_starting_twice_with_one_form_starts_once(client, curator):
    form = {"label": "x", "models": ["openai/gpt-4o"], "attempts": 1, "budget": "", "key": "abc"}

    first = client.post("/suites/ascii/start/", form)
    second = client.post("/suites/ascii/start/", form)

    run = Run.objects.get()
    assert first["Location"] == second["Location"] == f"/runs/{run.code}/"
    assert (run.label, run.budget_nano, run.samples.count()) == ("x", None, 40)


def test_a_run_without_models_is_refused_beside_the_field(client, curator):
    page = client.post("/suites/ascii/start/", {"attempts": 1, "key": "abc"}).content.decode()

    assert "Choose at least one model" in page
    assert not Run.objects.exists()


@pytest.mark.parametrize("verb", ["do/pause", "do/resume", "cancel"])
def test_a_stale_page_does_not_claim_to_have_changed_anything(client, curator, run, verb):
    cancel_run(run)

    page = client.post(f"/runs/{run.code}/{verb}/", {"reason": "enough"}, follow=True).text

    assert "Nothing changed." in page
    assert not run.events.filter(actor=curator).exists()


def test_verbs_are_posted_and_logged_with_who_and_why(client, curator, run):
    assert client.get(f"/runs/{run.code}/do/pause/").status_code == 405
    Sample.objects.filter(pk=run.samples.first().pk).update(state="failed", failure="timeout")

    for verb, reason in [("pause", " a\0new\nkey "), ("resume", ""), ("retry", "it is back")]:
        client.post(f"/runs/{run.code}/do/{verb}/", {"reason": reason})

    rows = Event.objects.filter(actor=curator).order_by("at").values_list("verb", "reason")
    assert list(rows) == [("pause_run", "a\ufffdnew key"), ("resume_run", ""), ("retry_failed", "it is back")]
    assert client.post(f"/runs/{run.code}/do/explode/").status_code == 404


def test_cancelling_says_what_is_lost_and_wants_a_reason(client, curator, run):
    Sample.objects.filter(pk=run.samples.first().pk).update(state="asking", token=uuid4(), lease_until=now())
    asked = collapsed(client.get(f"/runs/{run.code}/cancel/"))
    refused = client.post(f"/runs/{run.code}/cancel/", {"reason": " "}).text

    assert "11 drawings not yet requested will never be drawn." in asked
    assert "1 call in flight ends and counts." in asked
    assert "This field is required." in refused
    assert client.post(f"/runs/{run.code}/do/cancel/").status_code == 404
    run.refresh_from_db()
    assert run.drawing_state == "open"

    page = client.post(f"/runs/{run.code}/cancel/", {"reason": "too dear"}, follow=True).text

    run.refresh_from_db()
    assert run.drawing_state == "cancelled"
    event = run.events.get(verb="cancel_run")
    assert (event.actor, event.reason) == (curator, "too dear")
    assert "Cancelled. Existing drawings are kept." in page and "too dear" in page
    assert "Cancel the rest" not in page


def test_extending_a_run_can_say_why(client, curator, run):
    client.post(f"/runs/{run.code}/extend/", {"attempts": 4, "reason": "wide intervals"})

    assert run.events.get(verb="extend_run").reason == "wide intervals"


@pytest.mark.parametrize(("form", "nano"), [({}, 10**9), ({"budget": "2"}, 2 * 10**9), ({"no_budget": "on"}, None)])
def test_a_budget_is_kept_changed_or_taken_away(client, curator, run, form, nano):
    Run.objects.update(budget_nano=10**9)

    client.post(f"/runs/{run.code}/extend/", form)

    assert Run.objects.get().budget_nano == nano


def test_a_budget_is_not_both_changed_and_taken_away(client, curator, run):
    page = client.post(f"/runs/{run.code}/extend/", {"budget": "2", "no_budget": "on"}).text

    assert "Set a new budget or remove it, not both." in page
    assert not run.events.filter(verb="extend_run").exists()


def test_a_suite_that_broke_meanwhile_is_named_where_a_run_is_extended(client, curator, run, settings, tmp_path):
    Run.objects.update(is_demo=False)
    settings.SUITES_DIR = tmp_path
    write_suite(tmp_path, "tiny", models="models: [")

    page = client.get(f"/runs/{run.code}/extend/", follow=True).text

    assert "tiny/models.yaml, line 1" in page


def test_advice_to_change_a_frozen_profile_says_what_that_takes():
    listed = [advice for advice in ADVICE.values() if "providers.yaml" in advice]

    assert len(listed) == 3
    assert [advice for advice in listed if "start a new run" not in advice] == []


def test_progress_says_what_failed_and_what_to_do(client, curator, run):
    Sample.objects.filter(pk=run.samples.first().pk).update(state="failed", failure="forbidden", failure_detail="no")

    page = client.get(f"/runs/{run.code}/progress/").content.decode()

    assert "1 failed: forbidden." in page
    assert "Grant it access at the provider, then Retry." in page


def test_samples_are_filtered(client, curator, run):
    draw_some(run, 3)
    Sample.objects.filter(pk=run.samples.filter(state="drawn").first().pk).update(flags=["non_ascii"])

    counts = {
        query: client.get(f"/runs/{run.code}/samples/?{query}").context["page"].paginator.count
        for query in ("", "state=drawn", "flag=non_ascii", "flag=ascii", "model=demo/master", "state=nonsense")
    }

    assert counts == {
        "": 12,
        "state=drawn": 3,
        "flag=non_ascii": 1,
        "flag=ascii": 0,
        "model=demo/master": 6,
        "state=nonsense": 0,
    }


@pytest.mark.parametrize("count", [1, 3])
def test_the_sample_browser_asks_the_database_a_fixed_number_of_times(
    client, curator, run, count, django_assert_num_queries
):
    draw_some(run, count)
    client.get(f"/runs/{run.code}/samples/")

    with django_assert_num_queries(8):
        client.get(f"/runs/{run.code}/samples/?state=drawn")


def test_a_picture_cannot_act(client, curator, demo):
    demo(say=lambda *_: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3"/></svg>')
    run = start_run(make_suite(format="svg", prompts=1, attempts=1))
    draw_some(run)
    sample = run.samples.filter(verdict="valid").first()

    response = client.get(f"/samples/{sample.code}/picture/")

    assert response["Content-Type"] == "image/svg+xml"
    assert response["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert response["Cache-Control"] == "private, no-store"
    assert b"circle" in response.content


def test_what_is_downloaded_can_be_imported_elsewhere(client, curator, run):
    draw_some(run, 12)
    file = b"".join(client.get(f"/runs/{run.code}/samples.jsonl").streaming_content)
    empty = start_run(make_suite(), draw=False)

    response = client.post(f"/runs/{empty.code}/import/", {"file": SimpleUploadedFile("database.jsonl", file)})

    assert response["Location"] == f"/runs/{empty.code}/"
    assert empty.samples.filter(state="drawn", imported=True).count() == 12
    answers = {r: set(r.samples.values_list("prompt__text", "attempt", "answer")) for r in (run, empty)}
    assert answers[run] == answers[empty]


def test_a_bad_line_is_named_and_nothing_is_imported(client, curator, run):
    good = json.dumps(
        {"model_id": "x/y", "prompt_text": run.prompts.first().text, "attempt_number": 1, "raw_output": "```\nx\n```"}
    )
    file = SimpleUploadedFile("mine.jsonl", f"{good}\n{{not json\n".encode())

    page = client.post(f"/runs/{run.code}/import/", {"file": file}).content.decode()

    assert "Nothing was imported" in page
    assert "mine.jsonl:2" in page
    assert not run.samples.filter(imported=True).exists()


def test_held_drawings_are_announced_and_listed(client, curator, run):
    draw_some(run, 4)
    held, *others = run.samples.filter(state="drawn")
    Sample.objects.filter(pk=held.pk).update(held=True)

    pages = [client.get(f"/runs/{run.code}/"), client.get(reverse("judging:overview", args=[run.code]))]
    listed = client.get(f"/runs/{run.code}/samples/?held=yes").text

    assert "1 held for naming its maker" in collapsed(client.get("/runs/"))
    for page in pages:
        assert f'<a href="/runs/{run.code}/samples/?held=yes">1 drawing</a> is held back' in collapsed(page)
    assert held.code in listed
    assert not [sample for sample in others if sample.code in listed]
