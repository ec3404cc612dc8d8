"""Small makers for tests of checks: a run whose drawings can be damaged, a judge who gets checks, and honest votes."""

from __future__ import annotations

from random import Random

from generation.models import Sample
from generation.suites.studies.gold import Gold
from judging.gold.placing import seat_rule
from judging.gold.pool import make_gold
from judging.models import Kind, Matchup
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote
from tests.judging.make import make_run, make_seat

CAT = " /\\_/\\ \n( o.o )\n = ^ ={:=>3}"


def make_drawn_run(*, checks=8, **options):
    """A run with drawings that are large enough to damage, and so many checks."""
    run = make_run(**{"overlap": 0, "repeats": 0, **options})
    for number, sample in enumerate(run.samples.order_by("pk")):
        Sample.objects.filter(pk=sample.pk).update(drawing=CAT.format(number))
    if checks:
        make_gold(run=run, count=checks, by=None, random=Random(1))
    return run


def make_checked_seat(run, name="alice", *, quota=10, **rule):
    rule = Gold(**{"every": 5, **rule})
    return make_seat(run, name, quota=quota, gold_rule=seat_rule(run, rule, quota))


def honest(matchup):
    """The better drawing of a check; else that of the entrant who was there first."""
    if matchup.kind == Kind.GOLD:
        return "left" if matchup.left_sample_id == matchup.gold.better_id else "right"
    return "left" if matchup.left_id < matchup.right_id else "right"


def wrong(matchup):
    """Honest, but for checks."""
    right = honest(matchup)
    return right if matchup.kind != Kind.GOLD else {"left": "right", "right": "left"}[right]


def judge_all(seat, choose=honest, *, most=1000):
    """Vote till nothing is left, or so many times; says which matchups were answered."""
    answered, screen = [], take_seat(seat.pk)
    while screen.current and len(answered) < most:
        matchup = Matchup.objects.select_related("gold").get(pk=screen.current.pk)
        answered.append(matchup)
        screen = cast_vote(judge=seat.judge, code=matchup.code, ballot=Ballot(choose(matchup))).screen
    seat.refresh_from_db()
    return answered


def reach_check(seat):
    """Vote till a check is on the screen, and say which."""
    screen = take_seat(seat.pk)
    while screen.current.kind != Kind.GOLD:
        screen = cast_vote(judge=seat.judge, code=screen.current.code, ballot=Ballot("left")).screen
    return Matchup.objects.select_related("gold").get(pk=screen.current.pk)
