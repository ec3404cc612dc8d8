"""What a page needs to know of a matchup, read in one query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchsite.lib.database.prepared import CompiledQuery
from generation.models import Sample
from judging.models import Epoch, GoldPair, Kind, Matchup, Seat

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class _NewestEpoch(TypedDict):
        newest_epoch: int | None

    SeatedMatchup = WithAnnotations[Matchup, _NewestEpoch]

WAITING = [Matchup.State.QUEUED, Matchup.State.OPEN]
PARTS = {
    "prompt": ("text",),
    **dict.fromkeys(
        ("left_sample", "right_sample"),
        ("entrant", "drawn_at", "state", "verdict", "held", "excluded_reason"),
    ),
    **dict.fromkeys(("left_sample__entrant", "right_sample__entrant"), ("label", "disqualified")),
    "gold": ("better", "worse"),
}
SEATS = {
    "seat": tuple(field.name for field in Seat._meta.concrete_fields if field.name != "plan"),
    "seat__run": (
        "code",
        "format",
        "judging_state",
        "adaptive_pairs",
        "picked_share",
        "names_shown_at",
        "scores_changed_at",
    ),
    "seat__epoch": ("number", "seed", "checked_at"),
}


def with_parts() -> QuerySet[Matchup]:
    """Matchups with all that a verb needs of them, in one query; only the drawings themselves are left out.

    What is joined hangs on samples and prompts, which may be missing; so no database tries to begin with one of these tables,
    and PostgreSQL does not think long about it.
    """
    return _joined(**PARTS)


def with_drawings() -> QuerySet[Matchup]:
    """The same with the drawings, for a page that shows many pairs."""
    drawings = {"left_sample": "drawing", "right_sample": "drawing", "gold": "damaged"}
    return _joined(**(PARTS | {table: (*PARTS[table], column) for table, column in drawings.items()}))


def with_seats() -> QuerySet[SeatedMatchup]:
    """The same with the judge's seat, its run and its epoch, and the number of the run's newest epoch."""
    newest = Epoch.objects.filter(run=OuterRef("seat__run")).order_by("-number").values("pk")[:1]
    return _joined(**PARTS, **SEATS).annotate(newest_epoch=Subquery(newest))


def _joined(**columns: Iterable[str]) -> QuerySet[Matchup]:
    own = [field.name for field in Matchup._meta.concrete_fields]
    names = [f"{table}__{column}" for table, chosen in columns.items() for column in chosen]
    return Matchup.objects.order_by().select_related(*columns).only(*own, *names)


IN_LINE = CompiledQuery(lambda seat: with_parts().filter(seat=seat, state__in=WAITING), int)


def waiting_of(seat: Seat) -> list[Matchup]:
    """The seat's matchups that are queued or open; all share the seat and its run."""
    return put_in_seat(IN_LINE.rows(seat.pk), seat)


def put_in_seat(rows: Iterable[Matchup], seat: Seat) -> list[Matchup]:
    """The seat's own matchups with this one object of it and its run; Django would check each as if it were another's."""
    mine = list(rows)
    for row in mine:
        row._state.fields_cache |= {"seat": seat, "run": seat.run}
    return mine


def _as_shown(gold: int, one: int, other: int) -> QuerySet[Sample, tuple[int, str]]:
    copies = GoldPair.objects.filter(pk=gold, worse=OuterRef("pk")).exclude(damaged="").order_by()
    drawings = Sample.objects.annotate(shown=Coalesce(Subquery(copies.values("damaged")), "drawing"))
    return drawings.filter(pk__in=[one, other]).order_by().values_list("pk", "shown")


AS_SHOWN = CompiledQuery(_as_shown, int, int, int)


def load_drawings(matchup: Matchup) -> None:
    """Read what this pair shows, in one query, where it is a text that pages hold themselves.

    One for a check too: another statement, or the time that it takes, would tell.
    """
    if matchup.run.drawing_format.shown_as != "text":
        return
    samples = {sample.pk: sample for sample in samples_of(matchup) if "drawing" in sample.get_deferred_fields()}
    if samples:
        for pk, drawing in AS_SHOWN.rows(matchup.gold_id or 0, min(samples), max(samples)):
            samples[pk].drawing = drawing
    elif matchup.gold is not None and "damaged" not in matchup.gold.get_deferred_fields():
        shown_as_damaged(matchup)


def shown_as_damaged(matchup: Matchup) -> None:
    """Put the damaged copy in the place of the drawing that it was made of; in memory only."""
    for sample in samples_of(matchup):
        if matchup.gold is not None and is_damaged(matchup, sample):
            sample.drawing = matchup.gold.damaged


def is_damaged(matchup: Matchup, sample: Sample) -> bool:
    """Whether a copy is shown that the site damaged, instead of this drawing."""
    return matchup.gold is not None and sample.pk == matchup.gold.worse_id and bool(matchup.gold.damaged)


def count_out(matchup: Matchup) -> None:
    """The pair needs no vote any more, so another one comes for it."""
    if matchup.kind == Kind.GOLD:
        matchup.seat.gold_shown -= 1
    else:
        matchup.seat.void += 1


def count_in(matchup: Matchup) -> None:
    """It needs a vote again."""
    if matchup.kind == Kind.GOLD:
        matchup.seat.gold_shown += 1
    else:
        matchup.seat.void -= 1


def samples_of(matchup: Matchup) -> tuple[Sample, Sample]:
    """The two drawings that were served; only the matchups of imported votes may lack them."""
    if matchup.left_sample is None or matchup.right_sample is None:
        raise ValueError(f"{matchup} has no drawings.")
    return matchup.left_sample, matchup.right_sample


def showable(side: str) -> Q:
    """The condition that `is_showable` asks of a side, for a query."""
    return Q(
        **{
            f"{side}__state": Sample.State.DRAWN,
            f"{side}__verdict": Sample.Verdict.VALID,
            f"{side}__held": False,
            f"{side}__excluded_reason": "",
            f"{side}__entrant__disqualified": "",
        }
    )


def is_showable(matchup: Matchup) -> bool:
    return all(
        sample is not None
        and sample.state == Sample.State.DRAWN
        and sample.verdict == Sample.Verdict.VALID
        and not sample.held
        and not sample.excluded_reason
        and not sample.entrant.disqualified
        for sample in (matchup.left_sample, matchup.right_sample)
    )
