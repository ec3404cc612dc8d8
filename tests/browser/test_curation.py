"""A curator clicks: exclude a drawing with a reason, publish, freeze and archive a run, resolve reports, watch votes come in."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from generation.models import Event, Run, Sample
from judging.grades.grading import report_item
from judging.models import Matchup, Report
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote, report_matchup
from tests.judging.graded import grade, make_rubric_run, seat_with_list
from tests.judging.make import make_run, make_seat

pytestmark = pytest.mark.django_db(transaction=True)


def choose(page, action: str, reason: str) -> None:
    page.locator(".action-select").first.check()
    page.get_by_label("Action:").select_option(label=action)
    page.get_by_role("button", name="Go").click()
    page.get_by_label("Why").fill(reason)
    page.get_by_role("button", name=action).click()


def test_a_drawing_is_excluded_with_a_reason_and_restored(page, live_server, log_in, curator):
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()
    log_in(curator)
    page.goto(f"{live_server.url}/admin/generation/sample/?q={sample.code}")
    expect(page.locator("pre.thumb")).to_have_count(1)

    choose(page, "Exclude from judging and ranking", "a copy")

    expect(page.get_by_text("Excluded: 1.")).to_be_visible()
    expect(page.get_by_text("excluded: a copy")).to_be_visible()
    page.goto(f"{live_server.url}/admin/")
    expect(page.get_by_role("link", name=f"exclude samples drawing {sample.code}")).to_be_visible()
    expect(page.get_by_text("Users", exact=True)).to_have_count(0)

    page.goto(f"{live_server.url}/admin/generation/sample/?excluded_reason__isempty=0")
    choose(page, "Restore", "not a copy after all")

    assert Sample.objects.get(pk=sample.pk).excluded_reason == ""
    assert [event.reason for event in Event.objects.all()] == ["not a copy after all", "a copy"]


def test_a_fact_has_no_button_to_change_it(page, live_server, log_in, curator):
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()
    log_in(curator)

    page.goto(f"{live_server.url}/admin/generation/sample/{sample.pk}/change/")

    expect(page.locator("#content input:not([type=hidden]), #content textarea, #content select")).to_have_count(0)
    expect(page.get_by_role("link", name="Delete")).to_have_count(0)


def test_a_run_is_published_frozen_thawed_and_archived(page, live_server, log_in, curator):
    run = make_run(entrants=2, prompts=1, attempts=1)
    log_in(curator)
    steps = [
        ("Publish: show to everybody", "Published: 1.", "the vote is over"),
        ("Freeze: the leaderboard is final", "Frozen: 1.", "final"),
        ("Thaw: may change again", "Thawed: 1.", "one more judge"),
        ("Archive: put away, nothing is deleted", "Archived: 1.", "superseded"),
    ]

    for action, told, reason in steps:
        page.goto(f"{live_server.url}/admin/generation/run/?q={run.code}")
        choose(page, action, reason)
        expect(page.get_by_text(told)).to_be_visible()

    run.refresh_from_db()
    assert run.visibility == "archived"
    events = Event.objects.filter(run=run, actor=curator).order_by("pk").values_list("reason", flat=True)
    assert list(events) == [reason for *_, reason in steps]
    page.goto(f"{live_server.url}/runs/{run.code}/")
    expect(page.get_by_text("by carol: superseded")).to_be_visible()


def test_a_report_is_resolved_on_the_judging_page(page, live_server, log_in, curator, axe):
    run = make_run(entrants=3, prompts=2, attempts=1)
    seat = make_seat(run, "bob")
    shown = take_seat(seat.pk).current
    report_matchup(judge=seat.judge, code=shown.code, side="left", reason="signed", note="it says who")
    log_in(curator)
    page.goto(f"{live_server.url}/runs/{run.code}/judging/")
    assert axe() == []

    report = page.locator(".reports li")
    report.get_by_label("Why").fill("the maker's name is in it")
    report.get_by_role("button", name="Exclude from judging").click()

    expect(page.get_by_text("The drawing is out of judging.")).to_be_visible()
    expect(page.get_by_role("heading", name="Reports")).to_have_count(0)
    assert Sample.objects.get(pk=shown.left_sample_id).excluded_reason == "the maker's name is in it"
    assert Report.objects.get().decided_by == curator


def test_a_report_on_a_graded_drawing_is_resolved_on_the_grading_page(page, live_server, log_in, curator):
    run = make_rubric_run(subjects=1, attempts=1)
    seat = seat_with_list(run)
    item = seat.grade_items.first()
    report_item(judge=seat.judge, code=item.code, reason="broken")
    log_in(curator)
    page.goto(f"{live_server.url}/runs/{run.code}/grading/")

    page.get_by_role("button", name="Dismiss").click()

    expect(page.get_by_text("The report is dismissed.")).to_be_visible()
    item.refresh_from_db()
    assert (item.decision, item.decided_by) == ("dismissed", curator)


def test_cancelling_a_run_asks_first(page, live_server, log_in, curator, axe):
    run = make_run(entrants=2, prompts=1, attempts=1)
    run.samples.update(state="pending", drawn_at=None)
    log_in(curator)
    page.goto(f"{live_server.url}/runs/{run.code}/")

    page.get_by_role("link", name="Cancel the rest").click()
    expect(page.get_by_text("2 drawings not yet requested will never be drawn.")).to_be_visible()
    assert axe() == []
    page.get_by_role("button", name="Cancel the rest").click()
    assert Run.objects.get().drawing_state == "open"  # the browser asks for the reason first
    page.get_by_label("Why").fill("too dear")
    page.get_by_role("button", name="Cancel the rest").click()

    expect(page.get_by_text("Cancelled. Existing drawings are kept.")).to_be_visible()
    assert Event.objects.get(verb="cancel_run").reason == "too dear"


def cast(seat) -> None:
    take_seat(seat.pk)
    code = Matchup.objects.get(seat=seat, state="open").code
    cast_vote(judge=seat.judge, code=code, ballot=Ballot("left", response_ms=900))


def test_votes_come_in_on_the_judging_page(page, live_server, log_in, curator):
    seat = make_seat(make_run(), "bob")
    log_in(curator)
    page.goto(f"{live_server.url}/runs/{seat.run.code}/judging/")
    expect(page.locator(".big")).to_have_text("0")

    cast(seat)

    expect(page.locator(".big")).to_have_text("1")


def test_reports_come_in_on_the_judging_page_and_leave_what_is_typed(page, live_server, log_in, curator):
    run = make_run(entrants=3, prompts=2, attempts=1)
    seats = [make_seat(run, name) for name in ("alice", "bob")]
    log_in(curator)
    page.clock.install()
    page.goto(f"{live_server.url}/runs/{run.code}/judging/")
    reports = page.locator(".reports li")
    expect(reports).to_have_count(0)
    report(seats[0])

    with page.expect_response("**/judging/figures/"):
        page.clock.run_for(2_000)
    expect(reports).to_have_count(1)
    reports.get_by_label("Why").fill("the maker's name is in it")
    page.locator("h1").click()
    report(seats[1])
    page.clock.run_for(30_000)
    expect(reports).to_have_count(1)
    reports.get_by_role("button", name="Exclude from judging").click()

    expect(page.get_by_text("The drawing is out of judging.")).to_be_visible()
    assert Report.objects.exclude(decided_at=None).get().decided_by == curator


def report(seat) -> None:
    shown = take_seat(seat.pk).current
    report_matchup(judge=seat.judge, code=shown.code, side="left", reason="signed", note="it says who")


def test_an_open_form_is_left_alone_until_it_is_closed(page, live_server, log_in, curator):
    seat = make_seat(make_run(), "bob")
    log_in(curator)
    page.clock.install()
    page.goto(f"{live_server.url}/runs/{seat.run.code}/judging/")
    page.get_by_text("Manage").click()
    why = page.locator("details[open]").get_by_label("Why").last
    why.fill("votes too fast")
    page.locator("h1").click()
    cast(seat)

    page.clock.run_for(30_000)

    expect(why).to_have_value("votes too fast")
    expect(page.locator(".big")).to_have_text("0")
    page.get_by_text("Manage").click()
    page.locator("h1").click()
    with page.expect_response("**/judging/figures/"):
        page.clock.run_for(2_000)
    expect(page.locator(".big")).to_have_text("1")


def test_grades_come_in_on_the_grading_page(page, live_server, log_in, curator):
    run = make_rubric_run(subjects=1, attempts=1)
    seat = seat_with_list(run)
    log_in(curator)
    page.goto(f"{live_server.url}/runs/{run.code}/grading/")
    expect(page.locator(".big")).to_have_text("0")

    grade(seat, seat.grade_items.first())
    report_item(judge=seat.judge, code=seat.grade_items.last().code, reason="broken")

    expect(page.locator(".big")).to_have_text("1")
    expect(page.locator(".reports li")).to_have_count(1)
