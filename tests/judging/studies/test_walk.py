"""A participant's way through a study: the server decides which step comes, and who gets a code."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from generation.models import Run
from judging.models import Seat, Vote
from judging.pairs.tallies import differences
from judging.studies.entering import free_places
from judging.studies.writing import set_study_state
from ranking.public_states import take_public_states
from tests.judging.make import make_curator, make_run, make_seat
from tests.judging.studies.make import TEXTS, WHOLE, Guest, make_study
from tests.ranking.voted_run import make_voted_run

JSON = {"accept": "application/json"}
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def test_it_works_from_the_link_to_the_code():
    study = make_study(**WHOLE)
    guest = Guest(study)

    assert guest.enter().url == guest.here
    assert "Step 1 of 6" in guest.page()
    guest.pass_step("consent", statement_0="on")
    guest.pass_step("profile", age="18 or older", tools=["pen"], years="3")
    guest.pass_step("instructions")
    assert guest.pass_step("check", task="a").url == f"/judge/{study.run.code}/"
    guest.judge(3)
    assert "Anything to say?" in guest.page()
    guest.pass_step("closing", remarks="")

    mine = guest.participation()
    assert mine.outcome == "done"
    assert mine.completion_code in guest.page()
    assert (mine.consent_version, mine.consented_at is not None) == ("2", True)
    assert dict(mine.answers.filter(replaced_at=None).values_list("question", "value")) == {
        "age": "18 or older",
        "tools": ["pen"],
        "years": 3.0,
        "task": "a",
        "remarks": None,
    }
    assert mine.seat.voted == 3
    assert differences(study.run) == 0


def test_three_clicks_lead_from_a_plain_link_to_the_first_vote():
    study = make_study()
    guest = Guest(study)

    assert guest.enter().url == f"/judge/{study.run.code}/"
    page = guest.client.get(f"/judge/{study.run.code}/").content.decode()

    assert f'data-done="/study/{study.code}/step/"' in page
    assert "My runs" not in page


def test_no_step_can_be_skipped():
    study = make_study(**WHOLE)
    guest = Guest(study)
    guest.enter()

    for step in ("judge", "closing", "check", "profile", "instructions", "nonsense", ""):
        guest.pass_step(step, age="18 or older", task="a", remarks="x", statement_0="on")
    start = guest.client.post(f"/judge/{study.run.code}/start/")

    assert "Step 1 of 6" in guest.page()
    assert start.status_code == 404
    assert not Seat.objects.exists()
    assert not guest.participation().answers.exists()


def test_a_consent_without_its_boxes_is_no_consent():
    guest = Guest(make_study(**WHOLE))
    guest.enter()

    answer = guest.pass_step("consent")

    assert "Tick this box" in answer.content.decode()
    assert guest.participation().consented_at is None


def test_a_refusal_ends_politely_and_for_good():
    guest = Guest(make_study(**WHOLE))
    guest.enter()
    guest.pass_step("consent", refuse="yes")

    guest.pass_step("consent", statement_0="on")

    assert "You ended: refused." in guest.page()
    assert guest.participation().completion_code is None


def test_an_answer_can_screen_out():
    guest = Guest(make_study(profile=WHOLE["profile"]))
    guest.enter()

    guest.pass_step("profile", age="under 18")

    assert "You ended: screened_out." in guest.page()


def test_a_check_has_so_many_tries():
    guest = Guest(make_study(check=WHOLE["check"]))
    guest.enter()

    again = guest.pass_step("check", task="b").content.decode()
    guest.pass_step("check", task="b")

    assert "you have 1 try left" in " ".join(again.split())
    assert "You ended: screened_out." in guest.page()
    assert guest.participation().reason == "failed the comprehension check"


def test_a_question_may_have_the_key_of_a_field_of_the_form():
    guest = Guest(make_study(profile=[{"key": "step", "text": "Which?", "kind": "text"}], instructions="Read."))
    guest.enter()
    page = guest.page()
    field = re.search(r'<textarea name="([^"]+)"', page)[1]

    guest.client.post(guest.here, {"step": "profile", field: "mine"})

    assert guest.participation().answers.get().value == "mine"


def test_a_stale_tab_overwrites_nothing():
    guest = Guest(make_study(profile=WHOLE["profile"], instructions="Read."))
    guest.enter()
    guest.pass_step("profile", age="18 or older")

    guest.pass_step("profile", age="under 18")

    assert guest.participation().outcome == "running"
    assert list(guest.participation().answers.filter(question="age").values_list("value", flat=True)) == ["18 or older"]


def test_nobody_is_done_before_the_last_vote_or_changes_one_after():
    study = make_study(closing=WHOLE["closing"])
    guest = Guest(study)
    guest.enter()
    guest.judge(3)
    last = Vote.objects.latest("id").matchup.code
    guest.client.post("/judge/undo/", {"code": last}, headers={"accept": "application/json"})

    guest.pass_step("closing", remarks="early")
    assert guest.participation().outcome == "running"
    guest.judge(1)
    guest.pass_step("closing", remarks="late")
    undo = guest.client.post("/judge/undo/", {"code": last}, headers={"accept": "application/json"})

    assert guest.participation().outcome == "done"
    assert (undo.status_code, undo.json()["error"]) == (409, "ended")
    assert Vote.objects.standing().count() == 3


def test_a_full_study_says_so_and_a_returned_place_is_free_again():
    study = make_study(platform="prolific", places=1, minutes=10, votes_of_dropouts="drop")
    first, second = Guest(study, "?PROLIFIC_PID=one"), Guest(study, "?PROLIFIC_PID=two")
    first.enter()
    first.judge(2)
    full = second.client.get(second.door)

    curator = Client()
    curator.force_login(make_curator())
    curator.post(f"/runs/{study.run.code}/studies/{study.code}/returns/", {"ids": "one\nnobody"})
    second.enter()

    assert (full.status_code, "You ended: study_full." in full.content.decode()) == (410, True)
    assert second.participation().external_id == "two"
    assert "You ended: returned." in first.page()
    assert first.participation().seat.weight == 0


def test_a_curator_frees_the_place_of_a_guest_by_the_code():
    study = make_study(places=1, minutes=10)
    guest = Guest(study)
    guest.enter()
    curator = Client()
    curator.force_login(make_curator())
    page = f"/runs/{study.run.code}/studies/{study.code}/"

    shown = curator.get(page).content.decode()
    curator.post(f"{page}returns/", {"ids": guest.participation().code})

    assert guest.participation().code in shown and "Participants returned the study" in shown
    assert guest.participation().outcome == "returned"


def test_a_place_whose_time_is_up_is_freed_and_its_votes_are_kept():
    study = make_study(minutes=10, places=1)
    guest = Guest(study)
    guest.enter()
    guest.judge(2)
    study.participations.update(started_at=now() - timedelta(minutes=11))

    assert free_places() == 1
    late = guest.judge(1)

    assert late is None
    assert "You ended: timed_out." in guest.page()
    assert (guest.participation().seat.weight, guest.participation().seat.voted) == (1, 2)
    assert Guest(study).enter().url == f"/judge/{study.run.code}/"


def test_who_reached_the_quota_in_time_is_done():
    study = make_study(minutes=10)
    guest = Guest(study)
    guest.enter()
    guest.judge(3)
    study.participations.update(started_at=now() - timedelta(minutes=11))

    free_places()

    assert "You ended: done." in guest.page()


def test_nothing_left_to_judge_is_an_end_of_its_own():
    study = make_study(make_run(entrants=2, prompts=1, attempts=1, categories=("animal",)))
    guest = Guest(study)
    guest.enter()
    guest.judge(3)

    guest.client.post(guest.here, {"step": "judge"})

    assert "You ended: no_work_left." in guest.page()
    assert guest.participation().completion_code is None


def test_each_end_gives_its_own_code_and_the_way_back():
    texts = {**TEXTS, "done": {"text": "Thanks.", "code": "GOOD1"}, "timed_out": {"text": "Late.", "code": "LATE1"}}
    study = make_study(platform="prolific", outcomes=texts)
    guest = Guest(study, "?PROLIFIC_PID=one")
    guest.enter()
    guest.judge(3)

    page = guest.page()

    assert "https://app.prolific.com/submissions/complete?cc=GOOD1" in page
    assert "LATE1" not in page


def test_a_closed_study_takes_nobody_but_lets_who_began_finish():
    study = make_study()
    guest = Guest(study)
    guest.enter()
    type(study).objects.update(state="closed")

    late = Client().get(guest.door)
    guest.judge(3)

    assert (late.status_code, "This study is not open" in late.content.decode()) == (410, True)
    assert "You ended: done." in guest.page()


def test_a_run_with_a_study_takes_no_public_state():
    run = make_voted_run(votes=60, judges=4)
    Run.objects.filter(pk=run.pk).update(visibility="published")
    study = make_study(run, is_open=False)
    assert take_public_states() == 1
    run.public_states.all().delete()

    set_study_state(study=study, verb="open", by=None)

    assert take_public_states() == 0


def test_a_vote_of_a_participant_takes_as_many_statements_as_any_other(client):
    study = make_study(make_run(entrants=4, prompts=6, overlap=0, repeats=0), pairs=9)
    guest = Guest(study)
    guest.enter()
    seat = make_seat(study.run, quota=9)
    client.force_login(seat.judge)
    invited = Guest(study, client=client)

    counts = []
    for judge in (guest, invited):
        judge.judge(4)
        current = judge.client.post(f"/judge/{study.run.code}/start/", headers=JSON).json()["current"]["code"]
        with CaptureQueriesContext(connection) as captured:
            judge.client.post("/judge/vote/", {"code": current, "outcome": "left"}, headers=JSON)
        counts.append(len(captured))

    assert counts[0] == counts[1]
