"""The open arena's crowd: what its judges weigh, and the curator's decision to merge it with the invited judges, or not."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils.timezone import now

from generation.models import Event, Run
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.staleness import mark_stale
from judging.gold.answering import failed_checks
from judging.gold.verdicts import log_odds
from judging.models import Seat, Study
from judging.studies.arena.panel import arena_of, crowd_of
from ranking.pairwise.columns.votes import votes_of
from ranking.statistics.judges.crowd import crowd_weights
from ranking.statistics.ratings.scopes import Settings
from ranking.statistics.votes import Votes, only_judges, standing_votes


def crowd_apart(run: Run) -> dict[str, float]:
    """Judges of the arena who weigh nothing on the judges' board, by pseudonym."""
    return dict(run.seats.filter(panel=Seat.Panel.ARENA, weight=0).values_list("pseudonym", "weight"))


def crowd_merged(run: Run) -> dict[str, float]:
    return dict(run.seats.filter(panel=Seat.Panel.ARENA, weight__gt=0).values_list("pseudonym", "weight"))


def arena_facts(run: Run) -> dict[str, Any]:
    """What the judges' board says of the arena; nothing where the run has none, or nobody voted there."""
    arena = arena_of(run)
    crowd = crowd_of(run).filter(voted__gt=0)
    if arena is None or not crowd.exists():
        return {}
    return {
        "judges": crowd.count(),
        "votes": crowd.aggregate(votes=Sum("voted"))["votes"],
        "merged": arena.merged_at is not None,
        "reason": arena.merged_reason,
    }


def weights_of_crowd(run: Run, votes: Votes, settings: Settings) -> dict[str, float]:
    """What a vote of each of the arena's judges counts: none of who failed the checks, then by reliability."""
    seats = list(crowd_of(run))
    failed = {seat.pseudonym for seat in seats if failed_checks(seat)}
    checks = {seat.pseudonym: log_odds(seat.gold_passed, seat.gold_failed) for seat in seats if seat.gold_answered}
    looked = only_judges(votes, {seat.pseudonym for seat in seats} - failed)
    plain = Settings(ties=settings.ties, fails=settings.fails)
    return dict.fromkeys(failed, 0.0) | crowd_weights(looked, checks=checks, settings=plain)


@transaction.atomic
def merge_arena(*, run: Run, by: User | None, reason: str) -> int:
    """Let the arena's votes count on the judges' board, each judge by reliability; says how many count at all.

    The arena has to be closed: what is merged is what was there when the curator decided. Merged again, weights are new.
    """
    arena = _arena(run)
    if arena.state == Study.State.OPEN:
        raise RunError("The arena is open, so anybody could still vote into the merged board: close or pause it first.")
    if not reason.strip():
        raise RunError("Say why the two are merged: the board shows the reason.")
    weights = weights_of_crowd(run, standing_votes(votes_of(run)), Settings())
    seats = [seat for seat in crowd_of(run) if seat.pseudonym in weights]
    for seat in seats:
        seat.weight, seat.excluded_reason = round(weights[seat.pseudonym], 3), Seat.MERGED
    Seat.objects.bulk_update(seats, ["weight", "excluded_reason"], batch_size=500)
    counted = sum(seat.weight > 0 for seat in seats)
    Study.objects.filter(pk=arena.pk).update(merged_at=now(), merged_reason=reason.strip()[:300])
    _record(run, by, Event.Verb.MERGE_ARENA, f"{counted} of {len(seats)} judges of {arena}", reason)
    return counted


@transaction.atomic
def part_arena(*, run: Run, by: User | None, reason: str = "") -> None:
    """Take the arena's votes out of the judges' board again."""
    arena = _arena(run)
    merged = run.seats.filter(panel=Seat.Panel.ARENA, excluded_reason=Seat.MERGED)
    merged.update(weight=0.0, excluded_reason=Seat.APART)
    Study.objects.filter(pk=arena.pk).update(merged_at=None, merged_reason="")
    _record(run, by, Event.Verb.PART_ARENA, str(arena), reason)


def _arena(run: Run) -> Study:
    refuse_frozen(run)
    arena = Study.objects.select_for_update().filter(run=run, arena=True).first()
    if arena is None:
        raise RunError("This run has no open arena.")
    return arena


def _record(run: Run, by: User | None, verb: Event.Verb, subject: str, reason: str) -> None:
    Event.objects.create(run=run, actor=by, verb=verb, subject=subject[:200], reason=reason)
    mark_stale(run.pk)
