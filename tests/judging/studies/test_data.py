"""What a study leaves behind: files with a codebook, a person's own data, and erasure that keeps the votes."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from judging.models import Participation, StudyAnswer, Vote
from judging.pairs.tallies import differences
from tests.judging.make import make_curator
from tests.judging.studies.make import CHECK, PROFILE, Guest, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


@pytest.fixture
def guest():
    """Somebody of Prolific who is done."""
    study = make_study(platform="prolific", profile=PROFILE, check=CHECK)
    guest = Guest(study, "?PROLIFIC_PID=5f1")
    guest.enter()
    guest.pass_step("profile", age="18 or older", tools=["pen", "mouse"])
    guest.pass_step("check", task="b")
    guest.pass_step("check", task="a")
    guest.judge(3)
    guest.page()
    return guest


def files(study):
    client = Client()
    client.force_login(make_curator())
    names = ("participants.jsonl", "participants.csv", "codebook.csv", "payments.csv")
    base = f"/runs/{study.run.code}/studies/{study.code}/"
    return {name: client.get(base + name).content.decode() for name in names}


def test_the_files_hold_answers_timings_and_outcomes(guest):
    written = files(guest.study)
    record = json.loads(written["participants.jsonl"])
    row = next(csv.DictReader(StringIO(written["participants.csv"])))
    meanings = {line["column"]: line for line in csv.DictReader(StringIO(written["codebook.csv"]))}

    assert (record["outcome"], record["pairs"], record["judge"]) == ("done", 3, "judge-1")
    assert record["answers"] == {"age": "18 or older", "tools": ["pen", "mouse"], "years": None, "task": "a"}
    assert record["steps"]["check"]["tries"] == 2
    assert record["steps"]["judge"]["seconds"] is not None
    assert row["answer.tools"] == "pen | mouse"
    assert list(row) == list(meanings)
    assert meanings["answer.age"]["values"] == "under 18 | 18 or older"


def test_only_the_list_for_the_platform_names_its_ids(guest):
    written = files(guest.study)

    assert [name for name, text in written.items() if "5f1" in text] == ["payments.csv"]
    assert next(csv.DictReader(StringIO(written["payments.csv"])))["code"] == "GOOD1"


def test_a_study_can_be_exported_by_command(guest, tmp_path):
    call_command("export_study", guest.study.code, out=tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "codebook.csv",
        "participants.csv",
        "participants.jsonl",
    ]
    assert "18 or older" in (tmp_path / "participants.csv").read_text()


def test_a_person_sees_and_downloads_what_is_stored_by_the_key(guest):
    key = guest.participation().receipt
    page = f"/study/{guest.study.code}/data/"

    seen = Client().post(page, {"receipt": key.lower()}).content.decode()
    data = Client().post(page, {"receipt": key, "download": "yes"}).json()
    wrong = Client().post(page, {"receipt": "ABCDEFGHJKLM"}).content.decode()

    assert key in guest.page()
    assert "5f1" in seen
    assert (data["participant_id"], len(data["votes"]), len(data["answers"])) == ("5f1", 3, 5)
    assert "label" not in json.dumps(data)  # the models' names
    assert "There is no such key" in wrong


def test_who_withdraws_is_forgotten_and_counts_nowhere(guest):
    page = f"/study/{guest.study.code}/data/"

    Client().post(page, {"receipt": guest.participation().receipt, "withdraw": "yes"})

    mine = Participation.objects.get()
    assert (mine.external_id, mine.parameters, mine.consented_at) == ("", {}, None)
    assert not StudyAnswer.objects.exists()
    assert (mine.seat.weight, mine.seat.excluded_reason) == (0, "Withdrawn by the participant.")
    assert differences(guest.study.run) == 0


def test_a_curator_erases_a_person_and_the_votes_stay(guest, client, curator):
    mine = guest.participation()
    address = f"/runs/{guest.study.run.code}/studies/{guest.study.code}/participants/{mine.code}/erase/"

    client.post(address, {"reason": "asked by mail"})

    mine.refresh_from_db()
    assert (mine.external_id, mine.answers.count(), mine.seat.weight) == ("", 0, 1)
    assert Vote.objects.rated().count() == 3
    assert "5f1" not in "".join(files(guest.study).values())
