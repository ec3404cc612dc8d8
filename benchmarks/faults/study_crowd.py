"""People whom a fake platform sends to a study: they reload, click twice, open two tabs, come back, leave, or are not who they say."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

ENTRY = re.compile(r'name="entry" value="([^"]+)"')
STEP = re.compile(r'name="step" value="([^"]+)"')
CODE = re.compile(r'id="code">\s*([A-Za-z0-9]+)\s*<')
FORGED = ("", "a" * 200, "{{%PROLIFIC_PID%}}", "x\x00y", "<b>", "../..")
ANSWERS = {"consent": {"statement_0": "on"}, "profile": {"q-age": "18 or older"}, "closing": {"q-remarks": "fine"}}
PATIENCE = 60  # pages, more than any way to the end has


class Browser(Protocol):
    """What a person clicks with: a page's text, and votes as its script sends them."""

    def get(self, path: str) -> tuple[int, str]: ...
    def post(self, path: str, fields: dict[str, str], *, twice: bool = False) -> tuple[int, str]: ...
    def vote(self, run: str, random: Random, *, twice: bool) -> str: ...


@dataclass
class Diary:
    """What the crowd saw, to hold against the database."""

    votes: list[str] = field(default_factory=list)  # codes of pairs whose vote was taken in
    codes: dict[str, set[str]] = field(default_factory=dict)  # completion codes by participant
    met: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)  # answers of the server that nobody should see


def come(diary: Diary, *, study: str, run: str, person: str, random: Random, browser: Any) -> None:
    """One person, from the platform's link to an end, or to where they leave. `browser()` opens another one."""
    mine: Browser = browser()
    door = f"/study/{study}/?PROLIFIC_PID={person}&STUDY_ID=s&SESSION_ID={random.random()}"
    if random.random() < 0.1:
        status, _ = mine.get(f"/study/{study}/?PROLIFIC_PID={random.choice(FORGED)}")
        diary.met["forged"] += 1
        if status != 400:
            diary.wrong.append(f"a forged id was answered {status}")
    leaves_after = random.randrange(2, 12) if random.random() < 0.25 else PATIENCE
    inside = _enter(mine, door, random, diary)
    for click in range(PATIENCE):
        if click >= leaves_after:
            diary.met["left"] += 1
            return
        if random.random() < 0.08:
            mine = browser()  # another browser, or the same after its cookies were deleted
            inside = _enter(mine, door, random, diary)
            diary.met["another browser"] += 1
        status, page = mine.get(f"/study/{study}/step/")
        if status == 403 and inside:  # not of who was turned away at the door
            diary.met["unknown browser"] += 1
        if status >= 500:
            diary.wrong.append(f"a step was answered {status}")
        if code := CODE.search(page):
            diary.codes.setdefault(person, set()).add(code[1])
            diary.met["code"] += 1
            return
        step = STEP.search(page)
        if step:
            _answer(mine, study, step[1], random, diary)
        elif 'id="ballot"' in page:
            _vote(mine, run, random, diary)
        else:
            diary.met["turned away or ended"] += 1
            return


def _enter(mine: Browser, door: str, random: Random, diary: Diary) -> bool:
    """Whether the form was there and was not refused, as it is where the last place went meanwhile."""
    _, page = mine.get(door)
    entry = ENTRY.search(page)
    if entry is None:
        return False
    status, _ = mine.post(door, {"entry": entry[1]}, twice=random.random() < 0.2)
    diary.met["entered"] += 1
    return status == 200


def _answer(mine: Browser, study: str, step: str, random: Random, diary: Diary) -> None:
    path = f"/study/{study}/step/"
    if random.random() < 0.15:  # a stale tab, or somebody who tries to skip ahead
        mine.post(path, {"step": random.choice(["judge", "closing", "consent", "profile"]), "q-remarks": "early"})
        diary.met["out of order"] += 1
    mine.post(path, {"step": step, **ANSWERS.get(step, {})}, twice=random.random() < 0.2)


def _vote(mine: Browser, run: str, random: Random, diary: Diary) -> None:
    for _ in range(random.randrange(1, 4)):
        if code := mine.vote(run, random, twice=random.random() < 0.15):
            diary.votes.append(code)


def reckoning(study: Any, diary: Diary) -> dict[str, int]:
    """What must be 0, whatever happened."""
    from judging.models import Participation, Seat, Vote
    from judging.pairs.tallies import differences

    standing = set(Vote.objects.standing().values_list("matchup__code", flat=True))
    rows = list(study.participations.select_related("seat"))
    done = [row for row in rows if row.outcome == Participation.Outcome.DONE]
    people = Counter(row.external_id for row in rows)
    shown = Counter(code for codes in diary.codes.values() for code in codes)
    return {
        "lost_votes": len(set(diary.votes) - standing),
        "second_seats": sum(n - 1 for n in people.values())
        + Seat.objects.filter(run=study.run).count()
        - sum(row.seat is not None for row in rows),
        "codes_without_quota": sum(row.seat is None or row.seat.voted < (row.seat.quota or 1) for row in done),
        "codes_twice": sum(len(codes) - 1 for codes in diary.codes.values()) + sum(n - 1 for n in shown.values()),
        "codes_of_nobody": len(set(shown) - {row.completion_code for row in done}),
        "places_too_many": max(
            0, sum(row.outcome in ("running", "done") for row in rows) - (_places(study) or len(rows))
        ),
        "tally_rows_wrong": differences(study.run),
        "wrong_answers": len(diary.wrong),
    }


def _places(study: Any) -> int | None:
    places: int | None = study.versions.latest("number").content["places"]
    return places
