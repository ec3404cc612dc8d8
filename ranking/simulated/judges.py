"""Simulated judges of known skill, for demos, benches and teaching. They vote through the same verbs as people."""

from __future__ import annotations

import math
import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import blake2b
from statistics import fmean

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.timezone import now

from benchsite.lib.progress_bar import Progress, unwatched
from generation.demo.judges import finish_of
from generation.drawing.pictures import SIDE
from generation.formats.raster.vector import CannotDraw
from generation.models import Event, Run
from judging.models import Matchup, Outcome, Seat
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote

NAME = "simulated-judge-"
TOP, BOTTOM = 1.8, -1.8  # log-odds of the first and the last entrant
SPREAD = {"drawing": 0.3, "prompt": 0.1, "taste": 0.15}  # how much drawings, prompts and judges differ, in log-odds
TIES, FAILS = 0.12, 0.06
# To the judges of a demo run: log-odds of a picture a standard deviation better finished than others, so that model judges have
# something to add, and how much further entrants are apart, so that boards still have leaders.
FINISH, APART = 1.6, 4 / 3
TALENT = 1.4  # of demo players by category, so that the boards of categories have something to say
CLICKER = 6  # from this many judges on, the last one presses keys at random: something for the flags to find


@dataclass(frozen=True)
class Truth:
    """What the simulated judges go by: strengths in log-odds by entrant, and each judge's skill (1 usual, 0 random)."""

    seed: int
    strengths: dict[int, float]
    skills: dict[int, float]
    talents: dict[str, dict[int, float]] = field(default_factory=dict)  # by category and entrant, in log-odds
    finish: dict[int, float] = field(default_factory=dict)  # by drawing, in log-odds

    def chance(self, kind: str, *key: object) -> float:
        """A standard normal number that belongs to these things, whatever the order of voting."""
        digest = blake2b(repr((self.seed, kind, key)).encode(), digest_size=8).digest()
        return random.Random(digest).gauss(0, 1)

    def appeal(self, seat: Seat, entrant: int, matchup: Matchup, sample: int | None) -> float:
        return (
            self.strengths[entrant]
            + self.talents.get(matchup.category, {}).get(entrant, 0.0)
            + self.finish.get(sample or 0, 0.0)
            + SPREAD["drawing"] * self.chance("drawing", sample)
            + SPREAD["prompt"] * self.chance("prompt", entrant, matchup.prompt_id)
            + SPREAD["taste"] * self.chance("taste", seat.pk, entrant)
        )


def simulate_judges(
    run: Run,
    *,
    judges: int = 8,
    votes: int = 400,
    seed: int = 1,
    talent: float = 0.0,
    finish: float = 0.0,
    apart: float = 1.0,
    progress: Progress = unwatched,
) -> int:
    """Seat the judges, cast up to `votes` votes in all, in turn; and say how many were cast.

    Fewer are cast where the schedule has no more pairs. The truth is kept in the run's history. `talent` and `finish` say how
    much categories, and how well a picture is finished, matter to these judges; `apart` multiplies the entrants' strengths.
    """
    if run.judging_state != Run.Judging.OPEN:
        raise ValueError(f"Judging of run {run.code} is {run.get_judging_state_display()}; open it first.")
    seats = [seat_simulated(run, number) for number in range(1, judges + 1)]
    truth = make_truth(run, seats, seed=seed)
    truth = replace(truth, strengths={entrant: apart * own for entrant, own in truth.strengths.items()})
    if talent:
        truth = replace(truth, talents=make_talents(run, truth, talent))
    if finish:
        truth = replace(truth, finish=make_finish(run, finish))
    luck = random.Random(seed)
    waiting = {seat.pk: (seat, take_seat(seat.pk).current) for seat in seats}
    cast = 0
    while waiting and cast < votes:
        for pk, (seat, matchup) in list(waiting.items()):
            if matchup is None or cast == votes:
                del waiting[pk]
                continue
            waiting[pk] = (seat, cast_simulated(seat, matchup, truth, luck))
            cast += 1
            progress(cast, votes)
    Event.objects.create(
        run=run,
        verb=Event.Verb.SIMULATE_JUDGES,
        subject=f"{cast} votes by {judges} simulated judges",
        facts={
            "seed": seed,
            "strengths": dict(zip(names_of(run), map(rounded, truth.strengths.values()), strict=True)),
            "talents": {
                category: dict(zip(names_of(run), map(rounded, talents.values()), strict=True))
                for category, talents in truth.talents.items()
            },
            "skills": {str(seat): rounded(truth.skills[seat.pk]) for seat in seats},
        },
    )
    return cast


def seat_simulated(run: Run, number: int) -> Seat:
    """A seat whose user can never log in, and whose votes are marked for ever."""
    name = f"{NAME}{number}"
    user, made = User.objects.get_or_create(username=name, defaults={"is_active": False})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return Seat.objects.get_or_create(run=run, judge=user, defaults={"pseudonym": name, "is_simulated": True})[0]


def names_of(run: Run) -> list[str]:
    return list(run.entrants.order_by("id").values_list("name", flat=True))


def make_truth(run: Run, seats: list[Seat], *, seed: int) -> Truth:
    """Entrants get weaker in the order of the suite's file; skills spread around 1."""
    entrants = list(run.entrants.order_by("id").values_list("id", flat=True))
    step = (BOTTOM - TOP) / max(len(entrants) - 1, 1)
    luck = random.Random(seed)
    skills = {seat.pk: math.exp(luck.gauss(0, 0.25)) for seat in seats}
    if len(seats) >= CLICKER:
        skills[seats[-1].pk] = 0.0
    return Truth(seed, {pk: TOP + step * place for place, pk in enumerate(entrants)}, skills)


def make_talents(run: Run, truth: Truth, size: float) -> dict[str, dict[int, float]]:
    """By category and entrant, what its drawings there have over its strength; over the prompts it evens out for each entrant."""
    prompts = Counter(run.prompts.order_by().values_list("category", flat=True))
    talents: dict[str, dict[int, float]] = {category: {} for category in sorted(prompts)}
    for entrant in truth.strengths:
        luck = {category: truth.chance("category", entrant, category) for category in prompts}
        mean = sum(luck[category] * count for category, count in prompts.items()) / prompts.total()
        for category, own in luck.items():
            talents[category][entrant] = size * (own - mean)
    return talents


def make_finish(run: Run, size: float) -> dict[int, float]:
    """By drawing, what its picture's finish is worth to these judges: for each entrant it evens out over its drawings."""
    finish: dict[int, dict[int, float]] = {}
    for pk, entrant, drawing in run.samples.judgeable().values_list("pk", "entrant_id", "drawing"):
        with suppress(CannotDraw):
            if png := run.drawing_format.png(drawing, side=SIDE):
                finish.setdefault(entrant, {})[pk] = finish_of(png)
    return {pk: size * (value - fmean(own.values())) for own in finish.values() for pk, value in own.items()}


def cast_simulated(seat: Seat, matchup: Matchup, truth: Truth, luck: random.Random) -> Matchup | None:
    """Vote on what is on the screen, and say what comes next.

    The pair counts as having been looked at for a few seconds: people would be refused votes as quick as these.
    """
    pace = int(1000 * math.exp(luck.gauss(1.2, 0.5)))
    Matchup.objects.filter(pk=matchup.pk).update(opened_at=now() - timedelta(milliseconds=pace + 50))
    Seat.objects.filter(pk=seat.pk).update(last_vote_at=None)
    assert seat.judge is not None  # seat_simulated gives each an account
    ballot = Ballot(outcome=choose(seat, matchup, truth, luck), response_ms=pace)
    return cast_vote(judge=seat.judge, code=matchup.code, ballot=ballot).screen.current


def choose(seat: Seat, matchup: Matchup, truth: Truth, luck: random.Random) -> str:
    left = truth.appeal(seat, matchup.left_id, matchup, matchup.left_sample_id)
    right = truth.appeal(seat, matchup.right_id, matchup, matchup.right_sample_id)
    skill = truth.skills[seat.pk]
    undecided = luck.random()
    if skill and left + right < BOTTOM and undecided < 2 * FAILS:
        return Outcome.FAIL
    if undecided > 1 - TIES:
        return Outcome.TIE
    wins = luck.random() < 1 / (1 + math.exp(-skill * (left - right)))
    return Outcome.LEFT if wins else Outcome.RIGHT


def rounded(value: float) -> float:
    return round(value, 4)


def judge_demo_run(run: Run) -> None:
    """The votes of a demo run; what an earlier start left undone is completed."""
    missing = settings.DEMO_VOTES - run.votes.standing().filter(seat__is_simulated=True).count()
    if missing > 0:
        simulate_judges(run, judges=settings.DEMO_JUDGES, votes=missing, talent=TALENT, finish=FINISH, apart=APART)
