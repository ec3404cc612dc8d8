"""Admin actions about judging: judges, reports, invitations, open and close; and what judges see after an exclusion."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from benchsite.accounts import make_curator
from generation.models import Event, Run
from judging.epochs import newest_epoch
from judging.models import Matchup, Report, Vote
from judging.serving import take_seat
from judging.tallies import differences
from judging.voting import Ballot, cast_vote
from tests.admin_rows import make_rows
from tests.judging.make import make_run, make_seat
from tests.test_admin import act

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    user = User.objects.create_user("alice")
    make_curator(user)
    client.force_login(user)
    return user


def last_event() -> tuple[str, str, str]:
    event = Event.objects.order_by("-pk").first()
    return event.actor.username, event.verb, event.reason


def test_a_judge_is_excluded_and_restored(client, alice):
    seat = make_rows(alice).seats.get()

    act(client, [seat], "exclude_judges", reason="clicks without looking")

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (0, "clicks without looking")
    assert last_event() == ("alice", "set judge aside", "clicks without looking")

    act(client, [seat], "restore_judges", reason="was ill that day")

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (1, "")
    assert last_event() == ("alice", "let judge in", "was ill that day")
    assert Vote.objects.filter(seat=seat, withdrawn_at=None).count() == 1


def test_a_judge_counts_half_and_fully_again(client, alice):
    seat = make_rows(alice).seats.get()

    act(client, [seat], "halve_judges", reason="in a hurry")

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (0.5, "in a hurry")
    assert last_event() == ("alice", "weigh judge at 0.5", "in a hurry")

    act(client, [seat], "restore_judges", reason="took more time since")

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (1, "")


def test_a_report_is_decided_once(client, alice):
    run = make_rows(alice)
    report = Report.objects.get(matchup__run=run)
    reported = report.matchup.left_sample

    act(client, [report], "exclude_reported", reason="it is signed")
    act(client, [report], "dismiss_reports", reason="too late")

    report.refresh_from_db()
    reported.refresh_from_db()
    assert (report.decision, report.decided_by) == ("excluded", alice)
    assert reported.excluded_reason == "it is signed"
    run.refresh_from_db()
    assert run.scores_changed_at is not None


def test_a_dismissed_report_excludes_nothing(client, alice):
    run = make_rows(alice)

    act(client, list(Report.objects.filter(matchup__run=run)), "dismiss_reports", reason="looks fine")

    assert Report.objects.get(matchup__run=run).decision == "dismissed"
    assert not run.samples.exclude(excluded_reason="").exists()
    assert last_event() == ("alice", "report dismissed", "looks fine")


def test_judging_is_opened_paused_and_closed(client, alice):
    run = make_run(entrants=2, prompts=1, attempts=1)
    Run.objects.filter(pk=run.pk).update(judging_state="not_open")

    for verb, state in [("open_judging", "open"), ("pause_judging", "paused"), ("close_judging", "closed")]:
        act(client, [run], verb, reason="as planned")
        run.refresh_from_db()
        assert run.judging_state == state
        assert last_event() == ("alice", verb.replace("_", " "), "as planned")


def test_judging_of_a_frozen_run_stays_closed(client, alice):
    run = make_run(entrants=2, prompts=1, attempts=1)
    act(client, [run], "freeze_runs")

    assert "is frozen" in act(client, [run], "open_judging").content.decode()
    run.refresh_from_db()
    assert run.judging_state == "closed"


def test_a_revoked_invitation_lets_nobody_in(client, alice):
    invitation = make_rows(alice).invitations.get()

    act(client, [invitation], "revoke_invitations", reason="sent to the wrong list")

    invitation.refresh_from_db()
    assert invitation.state == "revoked"
    assert last_event() == ("alice", "revoke invitation", "sent to the wrong list")


def test_an_excluded_drawing_leaves_the_judge_s_line_and_the_epoch_and_no_vote_is_lost(client, alice):
    run = make_run(entrants=3, prompts=2, attempts=1)
    seat = make_seat(run, "bob")
    voted = take_seat(seat.pk).current
    cast_vote(judge=seat.judge, code=voted.code, ballot=Ballot("left", response_ms=900))
    on_screen = Matchup.objects.get(seat=seat, state="open")
    epoch = newest_epoch(run).number

    act(client, [on_screen.left_sample], "exclude_samples", reason="blank")

    assert newest_epoch(run).number == epoch + 1
    line = take_seat(seat.pk)
    shown = {line.current.left_sample_id, line.current.right_sample_id}
    assert on_screen.left_sample_id not in shown
    on_screen.refresh_from_db()
    assert on_screen.state == "void"
    assert Vote.objects.filter(run=run, withdrawn_at=None).count() == 1
    assert differences(run) == 0
