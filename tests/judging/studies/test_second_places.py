"""One person, one place: whoever tries for a second seat, a second code or a shorter way meets the first one."""

from __future__ import annotations

import csv
from datetime import timedelta
from io import StringIO

import pytest
from django.test import Client
from django.utils.timezone import now

from judging.curating.invitations import GuestError, accept_invitation, create_invitations
from judging.grades.sheets import next_item, open_sheet
from judging.models import Grade, Participation, Seat, StepRecord
from judging.studies.entering import free_places
from judging.studies.records import write_payments
from tests.judging.graded import dimensions, make_rubric_run
from tests.judging.make import make_curator, make_run
from tests.judging.studies.make import PROFILE, Guest, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
LINK = "?PROLIFIC_PID=5f1"


def withdraw(guest):
    data = {"receipt": guest.participation().receipt, "withdraw": "yes"}
    return Client().post(f"/study/{guest.study.code}/data/", data)


def test_who_withdrew_and_comes_again_meets_the_old_end():
    study = make_study(platform="prolific")
    guest, again = Guest(study, LINK), Guest(study, LINK)
    guest.enter()
    guest.judge(3)
    guest.page()
    withdraw(guest)

    again.enter()

    assert "You ended: done." in again.page()
    assert (Participation.objects.count(), Seat.objects.count()) == (1, 1)
    assert "5f1" not in str(list(Participation.objects.values()))
    assert again.participation().guest.last_login is None


def test_withdrawing_is_no_way_around_being_screened_out():
    study = make_study(platform="prolific", profile=PROFILE)
    guest, again = Guest(study, LINK), Guest(study, LINK)
    guest.enter()
    guest.pass_step("profile", age="under 18")
    withdraw(guest)

    again.enter()

    assert "You ended: screened_out." in again.page()


def test_who_withdrew_is_listed_for_payment_by_the_code_alone():
    guest = Guest(make_study(platform="prolific"), LINK)
    guest.enter()
    guest.judge(3)
    guest.page()
    withdraw(guest)

    out = StringIO()
    write_payments(guest.study, out)

    row = next(csv.DictReader(StringIO(out.getvalue())))
    assert (row["participant_id"], row["outcome"], row["code"]) == ("", "done", "GOOD1")


def test_a_guest_cannot_shorten_the_study_by_an_invitation():
    study = make_study(instructions="Read.")
    guest = Guest(study)
    guest.enter()
    invitation = create_invitations(run=study.run, by=make_curator(), count=1, days=1, quota=1)[0]

    page = guest.client.post(f"/join/{invitation.token}/")

    assert (page.status_code, "You are taking part in a study" in page.content.decode()) == (403, True)
    assert not Seat.objects.exists()
    with pytest.raises(GuestError):
        accept_invitation(invitation=invitation, judge=guest.participation().guest)


def test_a_seat_from_elsewhere_gets_the_quota_of_the_study():
    study = make_study(instructions="Read.")
    guest = Guest(study)
    guest.enter()
    Seat.objects.create(run=study.run, judge=guest.participation().guest, pseudonym="judge-1", quota=1)

    guest.pass_step("instructions")
    guest.judge(1)

    assert guest.participation().seat.quota == 3
    assert "You ended" not in guest.page()


def test_a_guest_grades_nothing():
    run = make_rubric_run()
    run.protocols = ["pairwise", "rubric"]
    run.save()
    guest = Guest(make_study(run))
    guest.enter()
    guest.judge(3)
    guest.page()
    seat = guest.participation().seat
    open_sheet(seat.pk)
    item = next_item(seat)

    answers = [
        guest.client.get(f"/judge/{run.code}/grades/"),
        guest.client.post(f"/judge/{run.code}/grades/start/"),
        guest.client.get(f"/judge/drawing/{item.code}/"),
        guest.client.get(f"/judge/drawing/{item.code}/picture/"),
        guest.client.post(f"/judge/drawing/{item.code}/save/", {f"value-{dimensions(item)[0]}": "5"}),
    ]

    assert [answer.status_code for answer in answers] == [404] * 5
    assert not Grade.objects.exists()


def test_an_id_that_has_ended_shows_its_key_to_no_other_browser():
    study = make_study(platform="prolific", minutes=10)
    guest, late, other = (Guest(study, link) for link in (LINK, "?PROLIFIC_PID=late", LINK))
    guest.enter()
    guest.judge(3)
    guest.page()
    late.enter()
    study.participations.filter(external_id="late").update(started_at=now() - timedelta(minutes=11))
    other_late = Guest(study, "?PROLIFIC_PID=late")

    other.enter()
    other_late.enter()

    assert guest.participation().receipt in guest.page()
    assert "GOOD1" in other.page() and guest.participation().receipt not in other.page()
    assert "You ended: timed_out." in other_late.page()
    assert late.participation().receipt in late.page()
    assert late.participation().receipt not in other_late.page()


def test_an_id_has_one_seat_in_all_studies_of_a_run():
    run = make_run()
    pilot, main = (make_study(run, name=name, platform="prolific") for name in ("Pilot", "Main"))
    other = make_study(platform="prolific")
    guest = Guest(pilot, LINK)
    guest.enter()
    while_running = Client().get(Guest(main, LINK).door)
    guest.judge(3)
    guest.page()
    withdraw(guest)

    after = Client().get(Guest(main, LINK).door)

    assert (while_running.status_code, after.status_code) == (409, 409)
    assert "You have taken part already" in after.content.decode()
    assert Guest(main, "?PROLIFIC_PID=5f2").enter().status_code == 302
    assert Guest(other, LINK).enter().status_code == 302


def test_who_was_turned_away_before_judging_may_come_to_another_study():
    run = make_run()
    strict, lenient = (make_study(run, name=name, platform="prolific", profile=PROFILE) for name in ("A", "B"))
    guest = Guest(strict, LINK)
    guest.enter()
    guest.pass_step("profile", age="under 18")

    assert Guest(lenient, LINK).enter().status_code == 302


def test_who_does_nothing_for_too_long_frees_the_place_and_who_works_keeps_it():
    study = make_study(platform="prolific", places=2, idle_minutes=10)
    idle, busy = (Guest(study, f"?PROLIFIC_PID={name}") for name in ("idle", "busy"))
    for guest in (idle, busy):
        guest.enter()
        guest.judge(1)
    long_ago = now() - timedelta(minutes=11)
    Participation.objects.update(started_at=long_ago)
    StepRecord.objects.update(entered_at=long_ago)
    Seat.objects.filter(participation=idle.participation()).update(last_vote_at=long_ago)

    free_places()

    outcomes = {row.external_id: (row.outcome, row.reason) for row in study.participations.all()}
    assert outcomes == {"idle": ("timed_out", "nothing done for 10 minutes"), "busy": ("running", "")}
    assert Guest(study, "?PROLIFIC_PID=next").enter().status_code == 302
