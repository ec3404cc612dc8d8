"""Where checks stand among a judge's pairs, and which one comes: by chance that only the server can repeat."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.crypto import salted_hmac

from generation.models import Run, Sample
from generation.suites.studies.gold import Gold
from judging.models import GoldPair, Kind, Matchup, Seat


@dataclass(frozen=True)
class SeatRule(Gold):
    """The rule that a seat began with, and how many checks it may get: no more than there were."""

    most: int = 0


def rule_of(seat: Seat) -> SeatRule | None:
    return SeatRule(**seat.gold_rule) if seat.gold_rule else None


def seat_rule(run: Run, rule: Gold | None, quota: int | None) -> dict[str, Any] | None:
    """What a new seat stores; None without a rule, or where the run has no checks."""
    there = GoldPair.objects.filter(run=run, retired_at=None).count() if rule else 0
    if rule is None or not there:
        return None
    planned = there if quota is None else min(quota // rule.every, there)
    return asdict(rule) | {"most": planned}


def _chance(seat: Seat, purpose: str, below: int) -> int:
    """A number from 0 that follows from the seat and the site's key."""
    digest = salted_hmac("judging.gold", f"{seat.pk} {purpose}", algorithm="sha256").digest()
    return int.from_bytes(digest[:8]) % below


def is_due(seat: Seat, *, pairs: int) -> bool:
    """Whether a check comes before the judge's next pair, `pairs` being made so far.

    There is one in every stretch of the rule's length, never before its first pair. One that was skipped, reported or
    taken out comes again as another.
    """
    rule = rule_of(seat)
    if rule is None:
        return False
    stretch, place = divmod(pairs, rule.every)
    due = stretch + (place > _chance(seat, f"place {stretch}", rule.every - 1))
    return seat.gold_shown < min(due, rule.most)


def shown_total(seat: Seat) -> int | None:
    """How many pairs the judge is told of: the quota and the checks in it. None without a quota."""
    if seat.quota is None:
        return None
    rule = rule_of(seat)
    return seat.quota + (rule.most if rule else 0)


def shown_done(seat: Seat) -> int:
    """Answers that the judge is told of: votes and checks alike, or a bar that stands still would give a check away."""
    return seat.voted + seat.gold_answered


def make_check(seat: Seat, *, apart_from: Collection[int | None], order: int) -> Matchup | None:
    """A check that this judge has not met, on another prompt than these if there is one; None where all are used up."""
    drawings = Sample.objects.filter(run=seat.run_id).judgeable().order_by().values("pk")
    fresh = GoldPair.objects.filter(run=seat.run_id, retired_at=None, better__in=drawings, worse__in=drawings)
    usable = list(fresh.exclude(matchups__seat=seat).order_by("id").values_list("pk", "prompt_id"))
    usable = [gold for gold in usable if gold[1] not in apart_from] or usable
    if not usable:
        return None
    pk, _ = usable[_chance(seat, f"check {order}", len(usable))]
    gold = GoldPair.objects.select_related("better", "worse", "prompt").get(pk=pk)
    sides = [gold.better, gold.worse]
    if _chance(seat, f"side {order}", 2):
        sides.reverse()
    left, right = sides
    return Matchup(
        run=seat.run,
        seat=seat,
        epoch=seat.epoch,
        order=order,
        kind=Kind.GOLD,
        prompt=gold.prompt,
        category=gold.prompt.category,
        left_id=left.entrant_id,
        right_id=right.entrant_id,
        left_sample=left,
        right_sample=right,
        key=f"gold-{gold.pk}",
        gold=gold,
    )
