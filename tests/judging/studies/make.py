"""Small makers for tests of studies: a study as a dict, written and opened, and a participant's clicks."""

from __future__ import annotations

import re

import yaml
from django.test import Client

from generation.suites.studies.study import OUTCOMES
from judging.studies.arena.proof import solve
from judging.studies.writing import set_study_state, write_study
from tests.judging.make import make_run

TEXTS = {name: {"text": f"You ended: {name}."} for name in OUTCOMES}
CONSENT = {"version": "2", "text": "We store your choices.", "statements": ["I am 18 or older."]}
PROFILE = [
    {"key": "age", "text": "How old are you?", "options": ["under 18", "18 or older"], "screen_out": ["under 18"]},
    {
        "key": "tools",
        "text": "What do you draw with?",
        "kind": "several",
        "options": ["pen", "mouse"],
        "required": False,
    },
    {"key": "years", "text": "For how many years?", "kind": "number", "low": 0, "high": 90, "required": False},
]
CHECK = {"tries": 2, "questions": [{"key": "task", "text": "What do you do?", "options": ["a", "b"], "answers": ["a"]}]}
CLOSING = [{"key": "remarks", "text": "Anything to say?", "kind": "text", "required": False}]
WHOLE = {
    "consent": CONSENT,
    "profile": PROFILE,
    "instructions": "Choose the better one.",
    "check": CHECK,
    "closing": CLOSING,
}


def source(**blocks):
    texts = TEXTS | ({"done": {"text": "You ended: done.", "code": "GOOD1"}} if "platform" in blocks else {})
    blocks = {"name": "Things", "pairs": 3, "outcomes": texts, **blocks}
    return yaml.safe_dump({name: value for name, value in blocks.items() if value is not None}, sort_keys=False)


def make_study(run=None, *, is_open=True, **blocks):
    study = write_study(run=run or make_run(), source=source(**blocks), by=None)
    if is_open:
        set_study_state(study=study, verb="open", by=None)
    return study


class Guest:
    """A browser that takes part in a study."""

    def __init__(self, study, query="", client=None):
        self.study, self.client = study, client or Client()
        self.door = f"/study/{study.code}/{query}"
        self.here = f"/study/{study.code}/step/"

    def enter(self, **fields):
        page = self.client.get(self.door)
        entry = re.search(r'name="entry" value="([^"]+)"', page.content.decode())
        if not entry:
            return page
        return self.client.post(self.door, {"entry": entry[1], **fields})

    def pass_step(self, step, **fields):
        if step != "consent":
            fields = {f"q-{key}": value for key, value in fields.items()}
        return self.client.post(self.here, {"step": step, **fields})

    def page(self):
        return self.client.get(self.here).content.decode()

    def judge(self, votes, outcome="left"):
        """Cast votes as the page's script does; says the last answer."""
        answer = None
        for _ in range(votes):
            start = self.client.post(
                f"/judge/{self.study.run.code}/start/", headers={"accept": "application/json"}
            ).json()
            if not start.get("current"):
                break
            answer = self.client.post(
                "/judge/vote/",
                {"code": start["current"]["code"], "outcome": outcome},
                headers={"accept": "application/json"},
            )
        return answer

    def participation(self):
        return self.study.participations.get(code=self.client.session["participation"])


def come(study, address="10.0.0.1"):
    """A browser with a script, which finds the number that the page asks for."""
    guest = Guest(study, client=Client(REMOTE_ADDR=address))
    page = guest.client.get(guest.door).content.decode()
    match = re.search(r'name="entry" value="([^"]+)"', page)
    answer = guest.client.post(guest.door, {"entry": match[1], "proof": solve(match[1])}) if match else None
    return guest, answer
