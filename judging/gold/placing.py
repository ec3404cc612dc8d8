"""Where checks stand among a judge's pairs, and which one comes: by chance that only the server can repeat."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Case, QuerySet, TextField, Value, When
from django.utils.crypto import salted_hmac

from generation.models import Run, Sample
from generation.suites.studies.gold import Gold
from judging.models import GoldPair, Kind, Matchup, Seat

KeyOf = Callable[[int, str, str], str]  # what names two drawings of a prompt


@dataclass(frozen=True)
class SeatRule(Gold):
    """The rule that a seat began with, and how many checks it may get: no more than there were."""

    most: int = 0


def rule_of(seat: Seat) -> SeatRule | None:
    return SeatRule(**seat.gold_rule) if seat.gold_rule else None


def seat_rule(run: Run, rule: Gold | None, quota: int | None) -> dict[str, Any] | None:
    """What a new seat stores; None without a rule, or where the run has no checks."""
    there = _showable(run.pk).count() if rule else 0
    if rule is None or not there:
        return None
    planned = there if quota is None else min(quota // rule.every, there)
    return asdict(rule) | {"most": planned}


def _showable(run: int) -> QuerySet[GoldPair]:
    """Checks that judges may be shown: none of their drawings was taken out."""
    drawings = Sample.objects.filter(run=run).judgeable().order_by().values("pk")
    return GoldPair.objects.filter(run=run, retired_at=None, better__in=drawings, worse__in=drawings)


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


def make_check(
    seat: Seat, *, apart_from: Collection[int | None], order: int, made: Collection[str], key_of: KeyOf
) -> Matchup | None:
    """A check that this judge has not met, on another prompt than these if there is one; None where all are used up.

    Two drawings that a curator chose may come as a pair too: they have its key, and are left out where the judge has met
    them, or gets them now, as `made` says.
    """
    usable = _unmet(seat, made, key_of)
    usable = [gold for gold in usable if gold[1] not in apart_from] or usable
    if not usable:
        return None
    pk, _, key = usable[_chance(seat, f"check {order}", len(usable))]
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
        key=key,
        gold=gold,
    )


def _unmet(seat: Seat, made: Collection[str], key_of: KeyOf) -> list[tuple[int, int, str]]:
    """Checks that are new to the judge: number, prompt and key."""
    shown = [
        Case(When(damaged="", then=f"{side}__drawing"), default=Value(""), output_field=TextField())
        for side in ("better", "worse")
    ]
    fresh = _showable(seat.run_id).exclude(matchups__seat=seat).order_by("id")
    checks, chosen = [], set()
    for pk, prompt, better, worse in fresh.values_list("pk", "prompt_id", *shown):
        key = key_of(prompt, better, worse) if better else f"gold-{pk}"
        checks.append((pk, prompt, key))
        chosen |= {key} if better else set()
    met = {*made}
    if chosen:
        met |= {*Matchup.objects.filter(seat=seat, key__in=chosen).values_list("key", flat=True)}
    return [check for check in checks if check[2] not in met]
