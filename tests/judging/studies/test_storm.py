"""The short form of `script/bench study_storm`: the same people, one request after the other, in this process."""

from __future__ import annotations

from random import Random

import pytest
from django.test import Client

from benchmarks.faults.study_crowd import Diary, come, reckoning
from judging.studies.walking import return_participants
from tests.judging.make import make_run
from tests.judging.studies.make import CLOSING, CONSENT, PROFILE, TEXTS, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
JSON = {"accept": "application/json"}
PLATFORM = {"name": "Fake", "id": "PROLIFIC_PID"}


class Browser:
    def __init__(self):
        self.client = Client()

    def get(self, path):
        answer = self.client.get(path.replace("\x00", "%00"), follow=True)
        return answer.status_code, answer.content.decode()

    def post(self, path, fields, *, twice=False):
        for _ in range(1 + twice):
            answer = self.client.post(path, fields, follow=True)
        return answer.status_code, answer.content.decode()

    def vote(self, run, random, *, twice):
        start = self.client.post(f"/judge/{run}/start/", headers=JSON)
        current = start.json().get("current") if start.status_code == 200 else None
        if not current:
            return ""
        fields = {"code": current["code"], "outcome": random.choice(("left", "right", "tie", "fail"))}
        for _ in range(1 + twice):
            answer = self.client.post("/judge/vote/", fields, headers=JSON)
        return current["code"] if answer.status_code == 200 else ""


def test_a_storm_of_participants_loses_and_doubles_nothing():
    study = make_study(
        make_run(entrants=4, prompts=6),
        pairs=4, places=7, minutes=60, platform=PLATFORM, outcomes=TEXTS, consent=CONSENT, profile=PROFILE, closing=CLOSING,
    )  # fmt: skip
    diary = Diary()

    for number in range(10):
        person = f"p{number % 9}"  # one id comes twice
        come(diary, study=study.code, run=study.run.code, person=person, random=Random(number), browser=Browser)
        if number % 5 == 4:
            return_participants(study=study, ids=[person, person, "unknown"], by=None)

    assert diary.wrong == []
    assert {name: count for name, count in reckoning(study, diary).items() if count} == {}
    assert diary.met["code"] >= 3
    assert diary.met["another browser"] >= 1
