"""script/bench attacker_http: what somebody with two judges' accounts learns from the site's own pages, by voting and looking.

The attacker recognises every model's style, and wants its name. Votes are sent to the judge page, for or against each style
by a coin; between them every address of the site that a visitor or a judge can open is fetched, and every number that stands
near a model's name, and the order of names, is held against the coins. As a control the same attacker looks with a curator's
eyes, who sees exact leaderboards.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.faults.site_reading import Features, addresses_of, read_page
from benchmarks.figures.table import Row, make_parser, show, write_json

HONEST, OWN = 10, 2  # judges
VOTES, BLOCK = 720, 24  # votes of a run, and votes between two looks
SHARE = 0.4  # of the votes are the attacker's
GLYPHS = "#@%+$*"
FRESH = 7_000  # the first seed: none of these was looked at when the blur was chosen


@dataclass
class World:
    """A published run that people judge blind, and who looks at it."""

    run: Any
    luck: random.Random
    names: list[str]
    honest: list[Any]
    judges: list[Any]  # the attacker's clients; the judge page's pair of each is in `pairs`
    eyes: dict[str, Any]  # clients that look, by who they are
    strength: list[float]
    pairs: list[dict[str, Any]] = field(default_factory=list)
    addresses: dict[str, list[str]] = field(default_factory=dict)


def make_world(seed: int, *, as_curator: bool) -> World:
    from django.conf import settings
    from django.test import Client

    from generation.models import Run, Sample
    from tests.judging.make import make_curator, make_run, make_seat

    settings.MIN_VOTE_SECONDS = 0
    luck = random.Random(seed)
    run = make_run(entrants=len(GLYPHS), prompts=16, attempts=3)
    run.title = f"Attacked {seed}"
    run.visibility = Run.Visibility.PUBLISHED
    run.save()
    entrants = list(run.entrants.order_by("id"))
    for entrant, glyph in zip(entrants, luck.sample(GLYPHS, len(GLYPHS)), strict=True):
        Sample.objects.filter(entrant=entrant).update(drawing=f"{glyph * 9}\n{glyph * 5}")
    honest = [make_seat(run, f"honest-{seed}-{n}") for n in range(HONEST)]
    judges = []
    for number in range(OWN):
        client = Client()
        client.force_login(make_seat(run, f"attacker-{seed}-{number}").judge)
        judges.append(client)
    eyes = {"visitor": Client(), "judge": judges[0]}
    if as_curator:
        eyes = {"curator": Client()}
        eyes["curator"].force_login(make_curator(f"curator-{seed}"))
    strength = [luck.gauss(0, 0.8) for _ in entrants]
    world = World(run, luck, [entrant.name for entrant in entrants], honest, judges, eyes, strength)
    world.pairs = [start(client, run.code) for client in judges]
    return world


def start(client: Any, code: str) -> dict[str, Any]:
    answer = client.post(f"/judge/{code}/start/", headers={"Accept": "application/json"})
    return dict(answer.json()["current"])


def styles_of(pair: Mapping[str, Any]) -> list[int]:
    """The styles on the left and on the right, as anybody sees them."""
    left, _, right = pair["html"].partition('data-side="right"')
    return [next(n for n, glyph in enumerate(GLYPHS) if glyph * 9 in half) for half in (left, right)]


def own_vote(world: World, number: int, coins: list[int], given: np.ndarray) -> None:
    """One vote by the judge page's own address, by the coins of the two styles."""
    pair = world.pairs[number % OWN]
    left, right = styles_of(pair)
    ahead = coins[left] - coins[right]
    outcome = "tie" if not ahead else "left" if ahead > 0 else "right"
    answer = world.judges[number % OWN].post(
        "/judge/vote/", {"code": pair["code"], "outcome": outcome}, headers={"Accept": "application/json"}
    )
    assert answer.status_code == 200, answer.content
    world.pairs[number % OWN] = answer.json()["current"] or start(world.judges[number % OWN], world.run.code)
    given[left] += np.sign(ahead)
    given[right] -= np.sign(ahead)


def honest_vote(world: World) -> None:
    from judging.pairs.serving import take_seat
    from judging.pairs.voting import Ballot, cast_vote

    seat = world.luck.choice(world.honest)
    current = take_seat(seat.pk).current
    if current is None:
        return
    place = {entrant.pk: n for n, entrant in enumerate(world.run.entrants.order_by("id"))}
    gap = world.strength[place[current.left_id]] - world.strength[place[current.right_id]]
    outcome = "left" if world.luck.random() < 1 / (1 + np.exp(-gap)) else "right"
    cast_vote(judge=seat.judge, code=current.code, ballot=Ballot(outcome))


def look(world: World) -> Features:
    """What the pages say of each model; after the first look only those that name them all."""
    features: Features = {}
    for who, client in world.eyes.items():
        speaking = []
        for address in world.addresses.get(who) or addresses_of(world.run):
            answer = client.get(address)
            if answer.status_code < 400 and not answer.streaming:
                page = read_page(f"{who} {address}", answer, world.names)
                speaking += [address] * bool(page)
                features |= page
        world.addresses.setdefault(who, speaking or ["/"])
    return features


@dataclass
class Notes:
    """What the attacker holds against the coins: for each thing read, how it moved with each style."""

    evidence: dict[tuple[str, ...], np.ndarray] = field(default_factory=dict)
    changes: int = 0

    def add(self, before: Features, after: Features, given: np.ndarray) -> bool:
        """Whether anything changed at all."""
        changed = False
        for key in before.keys() & after.keys():
            move = after[key] - before[key]
            if move.any():
                changed = True
                move = (move - move.mean()) / (move.std() or 1.0)
                if given.any():
                    total = self.evidence.setdefault(key, np.zeros((len(given), len(move))))
                    total += np.outer(given / np.abs(given).sum(), move)
        self.changes += changed
        return changed

    def guess(self) -> np.ndarray | None:
        """The model of each style. Things whose direction is not known are turned as the rest moves."""
        named = [total for key, total in self.evidence.items() if len(key) == 2]
        total = np.sum(named, axis=0) if named else None
        for key, more in self.evidence.items():
            if len(key) > 2:
                total = more if total is None else total + np.sign((total * more).sum() or 1.0) * more
        return None if total is None else linear_sum_assignment(-total)[1]


def attack(
    seed: int, *, as_curator: bool = False, votes: int = VOTES, first_look: int = BLOCK, reread: bool = True
) -> dict[str, float]:
    """The share of names that the attacker gets right in one run, how often anything changed, and names on judges' pages.

    After the first look only pages that name models are read; `reread` opens every address once more at the end.
    """
    from ranking.fitting import fit_run
    from ranking.public_states import take_public_states

    world = make_world(seed, as_curator=as_curator)
    notes, before, given = Notes(), None, np.zeros(len(GLYPHS))
    coins = [world.luck.choice((-1, 1)) for _ in GLYPHS]
    for number in range(votes):
        if world.luck.random() < SHARE:
            own_vote(world, number, coins, given)
        else:
            honest_vote(world)
        if number % BLOCK == BLOCK - 1:
            take_public_states()
            fit_run(world.run, full=False)
            if number + 1 < first_look:
                continue
            if reread and number == votes - votes % BLOCK - 1:
                world.addresses.clear()
            after = look(world)
            if before is not None and notes.add(before, after, given):
                given = np.zeros(len(GLYPHS))
                coins = [world.luck.choice((-1, 1)) for _ in GLYPHS]
            before = after
    guessed = notes.guess()
    if guessed is None:  # nothing to go by
        guessed = world.luck.sample(range(len(GLYPHS)), len(GLYPHS))
    truth = {entrant.name: entrant.samples.first().drawing[0] for entrant in world.run.entrants.all()}
    right = [world.names[guessed[style]] for style in range(len(GLYPHS))]
    named = [key for key in (before or {}) if key[0].startswith("judge ")]
    found = float(np.mean([truth[name] == GLYPHS[style] for style, name in enumerate(right)]))
    return {"found": found, "changes": notes.changes, "named": len(named), "read": len(before or {})}


def attack_row(runs: int, *, as_curator: bool) -> Row:
    results = [attack(FRESH + 1000 * as_curator + number, as_curator=as_curator) for number in range(runs)]
    shares = [result["found"] for result in results]
    reach = 1.96 * np.std(shares, ddof=1) / np.sqrt(runs)
    return {
        "looks as": "a curator (control)" if as_curator else "a visitor and a judge",
        "runs": runs,
        "names found": round(float(np.mean(shares)), 3),
        "low": round(float(np.mean(shares) - reach), 3),
        "high": round(float(np.mean(shares) + reach), 3),
        "chance": round(1 / len(GLYPHS), 3),
        "changes seen a run": round(float(np.mean([result["changes"] for result in results])), 1),
        "things read": results[0]["read"],
        "names on judges' pages": sum(result["named"] for result in results),
    }


def main() -> None:
    options = make_parser(__doc__, "60 runs instead of 12").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "tests.settings", "LOG_LEVEL": "ERROR"}
        import django

        django.setup()
        from django.core.management import call_command
        from django.test.utils import setup_test_environment

        setup_test_environment()
        call_command("migrate", verbosity=0)
        runs = 60 if options.full else 12
        rows = [attack_row(max(3, runs // 6), as_curator=True), attack_row(runs, as_curator=False)]
    show("Names that an attacker finds on the site's own pages", rows)
    write_json(options.json, {"attacker_http": rows})


if __name__ == "__main__":
    main()
