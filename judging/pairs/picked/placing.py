"""Which picked pair a judge is shown when it is time for one."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import TYPE_CHECKING, TypedDict

from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from judging.models import Kind, Matchup, PickedPair, Seat
from judging.pairs.matchups import showable
from judging.pairs.schedule.rounds import Pair
from judging.pairs.schedule.table import Table, unordered

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class _Asked(TypedDict):
        asked: int

    AskedPair = WithAnnotations[PickedPair, _Asked]

LOOKED_AT = 50  # of the pairs that fewest people were shown
ASKED = (Matchup.State.QUEUED, Matchup.State.OPEN, Matchup.State.VOTED)


def next_picked(
    seat: Seat, table: Table, *, apart_from: Collection[Pair | None], met: Collection[str]
) -> tuple[Matchup, Pair] | None:
    """A pair that this judge has not met, shown to the fewest people so far; sides by chance. None where none fits here.

    The open arena gets none: its judges have a board of their own.
    """
    if seat.panel:
        return None
    index = {entrant: number for number, entrant in enumerate(table.entrants)}
    fitting = []
    for pair in _unmet(seat):
        entrants = [index.get(sample.entrant_id) for sample in (pair.first, pair.second)]
        if None in entrants or pair.key in met:
            continue
        numbers = unordered(entrants[0] or 0, entrants[1] or 0)
        if numbers not in apart_from:
            fitting.append((pair, numbers))
    if not fitting:
        return None
    fewest = min(pair.asked for pair, _ in fitting)
    fitting = [each for each in fitting if each[0].asked == fewest]
    pair, numbers = fitting[secrets.randbelow(len(fitting))]
    return _matchup(seat, pair), numbers


def _unmet(seat: Seat) -> list[AskedPair]:
    shown = Matchup.objects.filter(run=OuterRef("run"), key=OuterRef("key"), kind=Kind.PICKED, state__in=ASKED)
    times = shown.order_by().values("key").annotate(n=Count("pk")).values("n")
    own = Matchup.objects.filter(seat=seat).exclude(key="").order_by().values("key")
    pairs = PickedPair.objects.filter(showable("first"), showable("second"), run=seat.run_id, ended_at=None)
    pairs = pairs.exclude(key__in=own).annotate(asked=Coalesce(Subquery(times), 0)).filter(asked__lt=F("wanted"))
    columns = (f"{side}__{name}" for side in ("first", "second") for name in ("entrant", "prompt__category"))
    known = pairs.select_related("first__prompt", "second__prompt")
    return list(known.only("key", "wanted", *columns).order_by("asked", "pk")[:LOOKED_AT])


def _matchup(seat: Seat, pair: PickedPair) -> Matchup:
    left, right = (pair.first, pair.second) if secrets.randbelow(2) else (pair.second, pair.first)
    return Matchup(
        run=seat.run,
        seat=seat,
        epoch=seat.epoch,
        order=seat.made,
        kind=Kind.PICKED,
        prompt_id=left.prompt_id,
        category=left.prompt.category,
        left_id=left.entrant_id,
        right_id=right.entrant_id,
        left_sample=left,
        right_sample=right,
        key=pair.key,
    )
