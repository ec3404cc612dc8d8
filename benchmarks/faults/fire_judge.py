"""One simulated judge at a real web server: votes, clicks twice, replays, keeps two tabs, undoes; and keeps a ledger."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlencode

OUTCOMES = ("left", "right", "tie", "fail")
WEIGHTS = (42, 38, 13, 7)
CSRF = "f" * 32
LONGEST_WAIT = 300.0  # seconds for a server whose threads are all busy
Answer = tuple[int, dict[str, Any]]


@dataclass
class Tab:
    """A window with the judge's session. As the page does it, a request is sent again where its line broke, or no thread was free."""

    host: str
    session: str
    turned_away: int = 0

    def post(self, path: str, **fields: str) -> Answer:
        broken, end = 0, time.monotonic() + LONGEST_WAIT
        while broken < 5:
            answer = self._send(path, fields)
            if answer is None:
                broken += 1
            elif answer[0] == 503 and time.monotonic() < end:
                self.turned_away += 1
                time.sleep(0.5)
            else:
                return answer
        return 0, {}

    def _send(self, path: str, fields: dict[str, str]) -> Answer | None:
        headers = {
            "Accept": "application/json",
            "Connection": "close",  # as nginx asks; a kept line would stay with the web process that took it first
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"sessionid={self.session}; csrftoken={CSRF}",
            "X-CSRFToken": CSRF,
        }
        line = http.client.HTTPConnection(self.host, timeout=60)
        with closing(line), suppress(OSError, http.client.HTTPException):
            line.request("POST", path, urlencode(fields), headers)
            reply = line.getresponse()
            return reply.status, _object(reply.read())
        return None


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@dataclass
class Judge:
    """What this judge did, and what must stand: `ledger` holds every vote that the server acknowledged and was not undone."""

    run: str
    rng: Random
    tabs: tuple[Tab, Tab]
    others: list[str]  # codes of everybody's pairs, to try a stranger's
    ledger: dict[str, str] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    did: Counter[str] = field(default_factory=Counter)
    surprises: list[str] = field(default_factory=list)

    def work(self, go_on: Callable[[], bool]) -> None:
        line: dict[str, Any] = {}
        while go_on():
            if not line.get("current"):
                status, line = self.tabs[0].post(f"/judge/{self.run}/start/")
                self.expect(status in (200, 403, 409), f"start: {status}")
            if not line.get("current"):
                time.sleep(self.rng.uniform(0.5, 1.5))
                continue
            # After a misdeed the page no longer knows what is on the screen, and asks.
            # Like the page, this one has the pair behind already, and it is not sent again.
            line = self.vote(line["current"]["code"], have=(line["next"] or {"code": ""})["code"])
            line = {} if self.misbehave() else line
            time.sleep(self.rng.uniform(0.31, 0.4))

    def expect(self, holds: bool, expected: str) -> None:
        if not holds:
            self.surprises.append(expected)

    def vote(self, code: str, *, have: str) -> dict[str, Any]:
        """What the page has before it after the vote; nothing where it was not taken."""
        choice = self.rng.choices(OUTCOMES, WEIGHTS)[0]
        luck = self.rng.random()
        if luck < 0.06:
            self.did["double clicks"] += 1
            choices = [choice, choice]
        elif luck < 0.12:
            self.did["two tabs, two choices"] += 1
            choices = [choice, self.rng.choice([other for other in OUTCOMES if other != choice])]
        else:
            choices = [choice]
        answers = self.at_once([("/judge/vote/", {"code": code, "outcome": one, "have": have}) for one in choices])
        accepted = {one for one, (status, _) in zip(choices, answers, strict=True) if status == 200}
        for status, body in answers:
            self.expect(status in (200, 403, 409, 429), f"vote: {status} {body.get('error', '')}")
        self.expect(len(accepted) < 2, "two choices on one pair were both taken")
        if accepted:
            self.did["votes"] += code not in self.ledger
            self.ledger[code] = accepted.pop()
            self.order.append(code)
            if self.rng.random() < 0.05:
                self.others.append(code)
        return next((body for status, body in answers if status == 200), {})

    def at_once(self, requests: list[tuple[str, dict[str, str]]]) -> list[Answer]:
        """One request a tab, at the same moment."""
        answers: list[Answer] = [(0, {})] * len(requests)

        def send(place: int) -> None:
            path, fields = requests[place]
            answers[place] = self.tabs[place].post(path, **fields)

        threads = [threading.Thread(target=send, args=(place,)) for place in range(1, len(requests))]
        for thread in threads:
            thread.start()
        send(0)
        for thread in threads:
            thread.join()
        return answers

    def misbehave(self) -> bool:
        luck = self.rng.random()
        if luck < 0.05 and self.order:
            self.replay(self.rng.choice(self.order))
        elif luck < 0.07:
            for _ in range(self.rng.randint(1, 5)):
                self.undo()
        elif luck < 0.09 and self.others:
            self.try_a_strangers(self.rng.choice(self.others))
        return luck < 0.07

    def replay(self, code: str) -> None:
        """The same vote again changes nothing; another choice is refused."""
        stands = self.ledger.get(code)
        if stands is None:
            return
        self.did["replays"] += 1
        choice = self.rng.choice([stands, *OUTCOMES])
        status, body = self.tabs[1].post("/judge/vote/", code=code, outcome=choice)
        if status == 200:
            self.expect(choice == stands, "a replay with another choice was taken")
        else:
            fits = body.get("error") in ("recorded", "paused", "closed", "login")
            self.expect(
                fits and (choice != stands or body["error"] != "recorded"), f"replay: {status} {body.get('error')}"
            )

    def undo(self) -> None:
        if not self.ledger:
            return
        code = next(reversed(self.ledger))
        twice = self.rng.random() < 0.5
        answers = self.at_once([("/judge/undo/", {"code": code})] * (2 if twice else 1))
        for status, body in answers:
            self.expect(status in (200, 403, 409), f"undo: {status} {body.get('error', '')}")
        if any(status == 200 for status, _ in answers):
            self.did["undone"] += 1
            self.did["undone twice at once"] += twice
            del self.ledger[code]
            self.order = [one for one in self.order if one != code]

    def try_a_strangers(self, code: str) -> None:
        if code in self.ledger or code in self.order:
            return
        self.did["strangers' pairs tried"] += 1
        status, _ = self.tabs[1].post("/judge/vote/", code=code, outcome="left")
        self.expect(status in (404, 403), f"a stranger's pair: {status}")
