"""Verbs: put pairs in line for people, and take them back; and how far people have come with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.timezone import now

from generation.models import Event, Run, Sample
from generation.runs.errors import RunError, refuse_frozen
from judging.models import Kind, PickedPair, Vote
from judging.pairs.schedule.table import digest_of, item_key
from judging.rules import rules_of

LEAST_SHARE, MOST_SHARE = 0.02, 0.25
MOST_PAIRS, MOST_PEOPLE = 1_000, 50
Pair = tuple[int, int]  # numbers of two drawings; where people and a model judge differ, it prefers the first


@dataclass(frozen=True)
class PickedGroup:
    """Pairs of one kind that one judge's answers led to: how many stand in line, and what people answered so far."""

    why: str
    judge: str
    pairs: int
    wanted: int
    answers: int
    done: int

    @property
    def reason(self) -> str:
        return str(PickedPair.Why(self.why).label)


def pick_pairs(
    run: Run,
    pairs: Sequence[Pair],
    *,
    why: str,
    judge: str,
    share: float,
    wanted: int = 3,
    by: User | None = None,
    reason: str = "",
) -> int:
    """Put pairs in line, `wanted` people for each, and give them a share of every judge's schedule; says how many are new."""
    refuse_frozen(run)
    if not LEAST_SHARE <= share <= MOST_SHARE:
        raise RunError(f"Picked pairs get {LEAST_SHARE:.0%} to {MOST_SHARE:.0%} of the schedule.")
    if not 1 <= wanted <= MOST_PEOPLE:
        raise RunError(f"A picked pair is shown to 1 to {MOST_PEOPLE} people.")
    if rules_of(run.code).judging.reveal == "after_vote":
        raise RunError(
            "This run tells judges the names after each vote, so they could tell which models a model judge and people differ "
            "about. No pairs can be picked here."
        )
    chosen = list(pairs)[:MOST_PAIRS]
    drawings = run.samples.judgeable().filter(pk__in={pk for pair in chosen for pk in pair})
    known = {sample.pk: sample for sample in drawings.only("prompt", "entrant", "drawing")}
    with transaction.atomic():
        Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        taken = set(PickedPair.objects.filter(run=run, ended_at=None).values_list("key", flat=True))
        rows = []
        for one, other in chosen:
            if one not in known or other not in known:
                continue
            key = _key(known[one], known[other])
            if key not in taken:
                taken.add(key)
                pair = PickedPair(run=run, first_id=one, second_id=other, key=key, why=why, judge=judge)
                pair.wanted, pair.picked_by = wanted, by
                rows.append(pair)
        PickedPair.objects.bulk_create(rows, batch_size=500)
        if rows:
            Run.objects.filter(pk=run.pk).update(picked_share=share)
            facts = {"why": why, "judge": judge, "pairs": len(rows), "share": share, "wanted": wanted}
            Event.objects.create(run=run, actor=by, verb=Event.Verb.PICK_PAIRS, reason=reason, facts=facts)
    run.refresh_from_db(fields=["picked_share"])
    return len(rows)


@transaction.atomic
def end_picked_pairs(run: Run, *, by: User | None = None, reason: str = "") -> int:
    """Take all back that stand in line. What is on a judge's screen already stays there, and answers stay."""
    refuse_frozen(run)
    ended = PickedPair.objects.filter(run=run, ended_at=None).update(ended_at=now())
    Run.objects.filter(pk=run.pk).update(picked_share=0.0)
    run.picked_share = 0.0
    if ended:
        facts = {"pairs": ended}
        Event.objects.create(run=run, actor=by, verb=Event.Verb.END_PICKED_PAIRS, reason=reason, facts=facts)
    return ended


def lines_of(run: Run) -> list[PickedGroup]:
    """What stands in line, by judge and kind."""
    pairs = list(PickedPair.objects.filter(run=run, ended_at=None))
    if not pairs:
        return []
    votes = Vote.objects.standing().filter(run=run, matchup__kind=Kind.PICKED, matchup__key__in=[p.key for p in pairs])
    answers = Counter(votes.order_by().values_list("matchup__key", flat=True))
    lines = []
    for why, judge in dict.fromkeys((pair.why, pair.judge) for pair in pairs):
        own = [pair for pair in pairs if (pair.why, pair.judge) == (why, judge)]
        lines.append(
            PickedGroup(
                why,
                judge,
                len(own),
                sum(pair.wanted for pair in own),
                sum(answers[pair.key] for pair in own),
                sum(answers[pair.key] >= pair.wanted for pair in own),
            )
        )
    return lines


def _key(one: Sample, other: Sample) -> str:
    if one.prompt_id != other.prompt_id or one.entrant_id == other.entrant_id:
        raise RunError("A pair is two entrants’ drawings of one prompt.")
    return item_key(one.prompt_id, digest_of(one.drawing), digest_of(other.drawing))
