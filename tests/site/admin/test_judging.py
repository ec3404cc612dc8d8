"""Admin actions about judging: judges, reports, invitations, open and close; and what judges see after an exclusion."""

from __future__ import annotations

import pytest

from generation.models import Event, Run
from judging.grades.grading import report_item
from judging.models import Matchup, Report, Vote
from judging.pairs.epochs import newest_epoch
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from judging.pairs.voting import Ballot, cast_vote
from tests.judging.graded import make_rubric_run, seat_with_list
from tests.judging.make import make_run, make_seat
from tests.site.admin.rows import make_rows
from tests.site.admin.test_actions import act

pytestmark = pytest.mark.django_db


def last_event() -> tuple[str, str, str]:
    event = Event.objects.order_by("-pk").first()
    return event.actor.username, event.verb, event.reason


def test_a_judge_is_excluded_and_restored(client, curator):
    seat = make_rows(curator).seats.get()

    act(client, [seat], "exclude_judges", reason="clicks without looking")

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (0, "clicks without looking")
    assert last_event() == ("carol", "set judge aside", "clicks without looking")

    act(client, [seat], "restore_judges", reason="was ill that day")

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (1, "")
    assert last_event() == ("carol", "let judge in", "was ill that day")
    assert Vote.objects.filter(seat=seat, withdrawn_at=None).count() == 1


def test_a_judge_counts_half_and_fully_again(client, curator):
    seat = make_rows(curator).seats.get()

    act(client, [seat], "halve_judges", reason="in a hurry")

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (0.5, "in a hurry")
    assert last_event() == ("carol", "weigh judge", "in a hurry")
    assert Event.objects.latest("id").subject.endswith(" at 0.5")

    act(client, [seat], "restore_judges", reason="took more time since")

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (1, "")


def test_a_report_is_decided_once(client, curator):
    run = make_rows(curator)
    report = Report.objects.get(matchup__run=run)
    reported = report.matchup.left_sample

    act(client, [report], "exclude_reported", reason="it is signed")
    act(client, [report], "dismiss_reports", reason="too late")

    report.refresh_from_db()
    reported.refresh_from_db()
    assert (report.decision, report.decided_by) == ("excluded", curator)
    assert reported.excluded_reason == "it is signed"
    run.refresh_from_db()
    assert run.scores_changed_at is not None


def test_a_dismissed_report_excludes_nothing(client, curator):
    run = make_rows(curator)

    act(client, list(Report.objects.filter(matchup__run=run)), "dismiss_reports", reason="looks fine")

    assert Report.objects.get(matchup__run=run).decision == "dismissed"
    assert not run.samples.exclude(excluded_reason="").exists()
    assert last_event() == ("carol", "report dismissed", "looks fine")


@pytest.mark.parametrize(("action", "decision"), [("exclude_graded", "excluded"), ("dismiss_graded", "dismissed")])
def test_a_report_on_a_graded_drawing_is_decided_once(client, curator, action, decision):
    run = make_rubric_run(subjects=1, attempts=1)
    seat = seat_with_list(run)
    reported, other = list(seat.grade_items.order_by("order")[:2])
    report_item(judge=seat.judge, code=reported.code, reason="broken")

    page = act(client, [reported, other], action, reason="looked at it")
    again = act(client, [reported], "exclude_graded", reason="too late")

    reported.refresh_from_db()
    assert (reported.decision, reported.decided_by) == (decision, curator)
    excluded = {"looked at it"} if decision == "excluded" else set()
    assert set(run.samples.exclude(excluded_reason="").values_list("excluded_reason", flat=True)) == excluded
    event = Event.objects.get(verb=f"report {decision}")
    assert (event.actor, event.reason) == (curator, "looked at it")
    assert f"{decision.title()}: 1." in page.text and "Nothing changed." in again.text


def test_reported_drawings_of_a_frozen_run_are_not_excluded(client, curator):
    run = make_rubric_run(subjects=1, attempts=1)
    seat = seat_with_list(run)
    item = seat.grade_items.first()
    report_item(judge=seat.judge, code=item.code, reason="broken")
    act(client, [run], "freeze_runs")

    assert "is frozen" in act(client, [item], "exclude_graded").text
    item.refresh_from_db()
    assert item.decision == ""


def test_judging_is_opened_paused_and_closed(client, curator):
    run = make_run(entrants=2, prompts=1, attempts=1)
    Run.objects.filter(pk=run.pk).update(judging_state="not_open")

    for verb, state in [("open_judging", "open"), ("pause_judging", "paused"), ("close_judging", "closed")]:
        act(client, [run], verb, reason="as planned")
        run.refresh_from_db()
        assert run.judging_state == state
        assert last_event() == ("carol", verb.replace("_", " "), "as planned")


def test_judging_of_a_frozen_run_stays_closed(client, curator):
    run = make_run(entrants=2, prompts=1, attempts=1)
    act(client, [run], "freeze_runs")

    assert "is frozen" in act(client, [run], "open_judging").content.decode()
    run.refresh_from_db()
    assert run.judging_state == "closed"


def test_a_revoked_invitation_lets_nobody_in(client, curator):
    invitation = make_rows(curator).invitations.get()

    act(client, [invitation], "revoke_invitations", reason="sent to the wrong list")

    invitation.refresh_from_db()
    assert invitation.state == "revoked"
    assert last_event() == ("carol", "revoke invitation", "sent to the wrong list")


def test_an_excluded_drawing_leaves_the_judge_s_line_and_the_epoch_and_no_vote_is_lost(client, curator):
    run = make_run(entrants=3, prompts=2, attempts=1)
    seat = make_seat(run, "bob")
    voted = take_seat(seat.pk).current
    cast_vote(judge=seat.judge, code=voted.code, ballot=Ballot("left", response_ms=900))
    on_screen = Matchup.objects.get(seat=seat, state="open")
    epoch = newest_epoch(run).number

    act(client, [on_screen.left_sample], "exclude_samples", reason="blank")

    assert newest_epoch(run).number == epoch + 1
    screen = take_seat(seat.pk)
    shown = {screen.current.left_sample_id, screen.current.right_sample_id}
    assert on_screen.left_sample_id not in shown
    on_screen.refresh_from_db()
    assert on_screen.state == "void"
    assert Vote.objects.filter(run=run, withdrawn_at=None).count() == 1
    assert differences(run) == 0
