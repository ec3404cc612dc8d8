"""What a curator writes: every fault at once, no opening with a text missing, a preview that stores nothing."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from generation.suites.studies.faults import StudyFaultsError
from generation.suites.studies.study_files import parse_study
from judging.models import Participation, Study, StudyVersion
from judging.studies.writing import EXAMPLE, source_of
from tests.judging.make import make_run
from tests.judging.studies.make import CONSENT, TEXTS, WHOLE, Guest, make_study, source


def test_the_example_has_no_fault():
    assert parse_study(EXAMPLE.read_text()).faults() == []


def test_a_study_survives_being_written_out():
    study = parse_study(source(**WHOLE, platform="prolific", places=5, minutes=20))

    assert parse_study(source_of(study)) == study


def test_every_fault_is_named_at_once_with_its_line():
    text = "\n".join(
        [
            "name: x",
            "pears: 3",
            "pairs: none",
            "consent: {version: '1'}",
            "profile:",
            "  - {key: a, text: A, options: [one]}",
            "  - {key: b, text: B, kind: colour}",
            "check: {questions: [{key: c, text: C, options: [x, y]}]}",
            "platform: {name: P, id: 'no id', return_url: 'javascript:alert(1)'}",
            "outcomes: {done: {code: 'a b'}, gone: {text: x}}",
        ]
    )

    with pytest.raises(StudyFaultsError) as error:
        parse_study(text)

    assert {(fault.line, fault.key) for fault in error.value.faults} == {
        (2, "pears"),
        (3, "pairs"),
        (4, "consent.text"),
        (6, "profile[0].options"),
        (7, "profile[1].kind"),
        (7, "profile[1].options"),
        (8, "check.questions[0].answers"),
        (9, "platform.id"),
        (9, "platform.return_url"),
        (10, "outcomes.done.code"),
        (10, "outcomes.gone"),
    }


def test_an_outcome_without_text_and_a_shared_code_are_faults():
    texts = {**TEXTS, "done": {"text": "Thanks.", "code": "GOOD"}, "returned": {"text": "Bye.", "code": "GOOD"}}
    del texts["timed_out"]

    faults = parse_study(source(outcomes=texts, minutes=30)).faults()

    assert [fault.split("”")[0] for fault in faults] == ["The outcome “timed_out", "The outcome “returned"]


def test_ends_that_nobody_can_reach_need_no_text():
    texts = {name: TEXTS[name] for name in ("done", "returned", "no_work_left")}

    assert parse_study(source(outcomes=texts)).faults() == []


def test_limited_places_without_a_time_limit_are_a_fault():
    assert "Add minutes" in parse_study(source(places=5)).faults()[0]
    assert not parse_study(source(places=5, minutes=20)).faults()


@pytest.mark.django_db
def test_a_study_with_a_fault_does_not_open(client, curator):
    study = make_study(is_open=False, consent=CONSENT, outcomes={"done": {"text": "Thanks."}})
    page = f"/runs/{study.run.code}/studies/{study.code}/"

    client.post(f"{page}open/")

    study.refresh_from_db()
    assert study.state == Study.State.DRAFT
    with pytest.raises(CommandError, match="3 to fix"):
        call_command("check_study", study.code)
    assert "The outcome “refused” has no text" in client.get(page).content.decode()


@pytest.mark.django_db
def test_a_curator_writes_previews_and_opens_a_study(client, curator):
    run = make_run()
    made = client.post(f"/runs/{run.code}/studies/new/", {"source": source(**WHOLE)}).url

    pages = ["entry", "consent", "profile", "instructions", "check", "judge", "closing", "done", "refused"]
    previews = {place: client.get(f"{made}preview/{place}/") for place in pages}
    client.post(f"{made}open/")

    assert {answer.status_code for answer in previews.values()} == {200}
    assert "How old are you?" in previews["profile"].content.decode()
    assert (Participation.objects.count(), Study.objects.get().state) == (0, "open")


@pytest.mark.django_db
def test_who_began_keeps_the_version_they_began_with(client, curator):
    study = make_study(**WHOLE)
    guest = Guest(study)
    guest.enter()

    client.post(f"/runs/{study.run.code}/studies/{study.code}/edit/", {"source": source()})

    assert StudyVersion.objects.count() == 2
    assert "Step 1 of 6" in guest.page()


@pytest.mark.django_db
def test_what_cannot_be_read_stays_in_the_form(client, curator):
    run = make_run()

    answer = client.post(f"/runs/{run.code}/studies/new/", {"source": "name: [my words"})

    assert "my words" in answer.content.decode()
    assert not Study.objects.exists()
