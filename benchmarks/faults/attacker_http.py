"""script/bench attacker_http: what somebody with two judges' accounts learns from the site's own pages, by voting and looking.

The attacker recognises every model's style, and wants its name. Votes are sent to the judge page, for or against each style
by a coin; between them the addresses of the site that a visitor, a judge or an analyst's token can open are fetched, and every
number that stands near a model's name, and the order of names, is compared with the coins. Which addresses name models is found
by opening all of them, before and after public states are there. As a control the same attacker looks with a curator's eyes,
who sees exact leaderboards.

`--resume FILE` notes each attack there and leaves out those that are noted, so that the bench can be run in parts.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.faults.site_reading import Features, Route, read_page, routes_of
from benchmarks.figures.table import Notebook, Row, add_resume, make_parser, show, write_json

HONEST, OWN = 10, 2  # judges
VOTES, BLOCK = 720, 24  # votes of a run, and votes between two looks
WHOLE = 3  # runs in which every address is opened; in later ones those that named models in any run before
Speaking = dict[str, set[Route]]  # the addresses that name models, by who looks
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


def make_world(seed: int, *, as_curator: bool) -> World:
    from django.conf import settings
    from django.test import Client

    from generation.models import Run, Sample
    from ranking.tokens import create_token
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
    token = create_token(label=f"analyst {seed}", by=None)[1]
    eyes = {"visitor": Client(), "judge": judges[0], "analyst": Client(headers={"Authorization": f"Bearer {token}"})}
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


def look(world: World, speaking: Speaking, *, everywhere: bool) -> Features:
    """What the pages say of each model. `everywhere` opens every address, and adds those that name models to `speaking`."""
    from ranking.models import AnalystToken

    AnalystToken.objects.update(requests=0)
    features: Features = {}
    routes = routes_of(world.run)
    for who, client in world.eyes.items():
        known = speaking.setdefault(who, set())
        for route, address in routes.items():
            if (everywhere or route in known) and (who == "analyst") <= address.startswith("/api/"):
                answer = client.get(address)
                if answer.status_code < 400 and not answer.streaming:
                    page = read_page(f"{who} {route}", answer, world.names)
                    features |= page
                    if page:
                        known.add(route)
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
    seed: int, *, as_curator: bool = False, votes: int = VOTES, speaking: Speaking | None = None, whole: bool = True
) -> Row:
    """The share of names that the attacker gets right in one run, how often anything changed, and names on judges' pages.

    If `whole`, every address is opened at the first look, after each new public state, and at the end.
    """
    from ranking.fitting import fit_run
    from ranking.public_states import take_public_states

    world, speaking = make_world(seed, as_curator=as_curator), {} if speaking is None else speaking
    notes, before, given, states = Notes(), None, np.zeros(len(GLYPHS)), 0
    coins = [world.luck.choice((-1, 1)) for _ in GLYPHS]
    for number in range(1, votes + 1):
        if world.luck.random() < SHARE:
            own_vote(world, number, coins, given)
        else:
            honest_vote(world)
        if number % BLOCK == 0:
            taken = take_public_states()
            states += taken
            fit_run(world.run, full=False)
            new = before is None or taken > 0 or number == votes
            after = look(world, speaking, everywhere=whole and new)
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
    share = float(np.mean([truth[name] == GLYPHS[style] for style, name in enumerate(right)]))
    counts = {"states": states, "changes": notes.changes, "named": len(named), "read": len(before or {})}
    return {"found": share, **counts, "speaking": {who: sorted(routes) for who, routes in speaking.items()}}


def attack_row(runs: int, notebook: Notebook, *, as_curator: bool) -> Row:
    speaking: Speaking = {}
    results = []
    for number in range(runs):
        seed = FRESH + 1000 * as_curator + number
        attacked = partial(attack, seed, as_curator=as_curator, speaking=speaking, whole=len(results) < WHOLE)
        results.append(notebook.noted(f"{seed}", attacked))
        for who, routes in results[-1]["speaking"].items():  # from a file they are lists
            speaking.setdefault(who, set()).update((name, tuple(places), form) for name, places, form in routes)
    shares = [result["found"] for result in results]
    reach = 1.96 * np.std(shares, ddof=1) / np.sqrt(runs)
    return {
        "looks as": "a curator (control)" if as_curator else "a visitor, a judge and an analyst",
        "runs": runs,
        "names found": round(float(np.mean(shares)), 3),
        "low": round(float(np.mean(shares) - reach), 3),
        "high": round(float(np.mean(shares) + reach), 3),
        "chance": round(1 / len(GLYPHS), 3),
        "states a run": round(float(np.mean([result["states"] for result in results])), 1),
        "changes seen a run": round(float(np.mean([result["changes"] for result in results])), 1),
        "things read": max(result["read"] for result in results),
        "names on judges' pages": sum(result["named"] for result in results),
    }


def main() -> None:
    parser = add_resume(make_parser(__doc__, "60 runs instead of 12"))
    parser.add_argument("--runs", type=int)
    options = parser.parse_args()
    notebook = Notebook(options.resume)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "tests.settings", "LOG_LEVEL": "ERROR"}
        import django

        django.setup()
        from django.core.management import call_command
        from django.test.utils import setup_test_environment

        setup_test_environment()
        call_command("migrate", verbosity=0)
        runs = options.runs or (60 if options.full else 12)
        rows = [attack_row(max(3, runs // 6), notebook, as_curator=True), attack_row(runs, notebook, as_curator=False)]
    show("Names that an attacker finds on the site's own pages", rows)
    write_json(options.json, {"attacker_http": rows})


if __name__ == "__main__":
    main()
