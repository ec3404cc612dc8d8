"""How often a judge answered as the others did, on the same two drawings; shown once judging is closed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from benchsite.lib.shares import wilson
from judging.models import Kind, Seat, Vote
from judging.models.votes import VoteQuerySet

SIDES = "matchup__left_sample", "matchup__right_sample"
Answer = int | str | None

PAIRS, JUDGES = 1_000, 100  # at most so many of the judge's pairs, and so many other judges, however long the run was


@dataclass(frozen=True)
class Agreement:
    """The mean over pairs of the share of other judges who gave the same answer; the bounds are for more pairs by the same judges."""

    share: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True)
class Repeats:
    """Pairs that came back with the sides swapped, and how many of them got the same answer."""

    same: int
    shown: int


def agreement_with_others(seat: Seat) -> Agreement | None:
    """None where nobody else answered one of the judge's pairs. Repeats are left out."""
    others = seat.run.seats.exclude(pk=seat.pk).filter(weight__gt=0, voted__gt=0).order_by("-voted", "pk")
    judges = list(others.values_list("pk", flat=True)[:JUDGES])
    own_votes = Vote.objects.filter(seat=seat).order_by("-matchup__kind", "id")  # shared pairs first
    own = dict(islice(_answers(own_votes), PAIRS))
    given: dict[str, Counter[Answer]] = defaultdict(Counter)
    for key, answer in _answers(Vote.objects.filter(matchup__seat__in=judges, matchup__key__in=list(own))):
        given[key][answer] += 1
    if not given:
        return None
    share = sum(answers[own[key]] / answers.total() for key, answers in given.items()) / len(given)
    low, high = wilson(share * len(given), len(given))
    return Agreement(share, low or 0.0, high or 0.0, len(given))


def own_repeats(seat: Seat) -> Repeats:
    votes = Vote.objects.standing().filter(seat=seat)
    first = dict(_rows(votes.filter(matchup__repeat__isnull=False), "matchup"))
    again = dict(_rows(votes.filter(matchup__kind=Kind.REPEAT), "matchup__repeat_of"))
    both = first.keys() & again.keys()
    return Repeats(sum(first[pk] == again[pk] for pk in both), len(both))


def _answers(votes: VoteQuerySet) -> Iterator[tuple[str, Answer]]:
    return _rows(votes.rated().without_repeats().exclude(matchup__key=""), "matchup__key")


def _rows(votes: VoteQuerySet, name: str) -> Iterator[tuple[Any, Answer]]:
    """Each vote's answer by its `name`: the drawing that was chosen, or that both are good or bad."""
    for key, outcome, left, right in votes.values_list(name, "outcome", *SIDES):
        yield key, {"left": left, "right": right}.get(outcome, outcome)
