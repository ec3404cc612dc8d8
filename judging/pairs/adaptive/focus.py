"""Adaptive pairs of a run: what the newest fit says about its pairs, the curator's choice, and a judge's next ten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from django.contrib.auth.models import User
from django.db import transaction

from generation.models import Event, Run
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.staleness import mark_stale
from judging.disclosure import standings_were_shown
from judging.models import PairFocus, new_seed
from judging.pairs.adaptive.draws import Focus, is_turn, next_plan
from judging.pairs.schedule.plans import Plan
from judging.pairs.schedule.rounds import Pair
from judging.pairs.schedule.table import Table, unordered
from judging.rules import rules_of

FocusRow = tuple[int, int, int, float | None]  # two entrants, their votes, how likely their order is wrong if undecided


def save_focus(*, run: Run, rows: Sequence[FocusRow], votes: int, read_at: datetime) -> None:
    """Keep what the newest fit says; an older fit that comes late changes nothing."""
    values = {"pairs": rows, "votes": votes, "read_at": read_at}
    _, is_new = PairFocus.objects.get_or_create(run=run, defaults=values)
    if not is_new:
        PairFocus.objects.filter(run=run, read_at__lte=read_at).update(**values, version=new_seed())


def read_focus(run: Run, epoch: int, table: Table) -> Focus:
    """The focus by the table's own numbers; decoded once by each process."""
    version = PairFocus.objects.filter(run=run).values_list("version", flat=True).first()
    return Focus() if version is None else _kept_focus(run.pk, version, epoch, table.entrants)


@lru_cache(maxsize=32)
def _kept_focus(run: int, version: int, epoch: int, entrants: tuple[int, ...]) -> Focus:
    rows: list[FocusRow] = PairFocus.objects.values_list("pairs", flat=True).get(run=run)
    index = {entrant: number for number, entrant in enumerate(entrants)}
    known = [
        (unordered(index[one], index[other]), votes, chance)
        for one, other, votes, chance in rows
        if one in index and other in index
    ]
    undecided = {pair: chance for pair, _, chance in known if chance is not None}
    return Focus({pair: votes for pair, votes, _ in known}, undecided)


def focused_plan(run: Run, epoch: int, table: Table, plan: Plan, *, number: int, last: Pair | None, seed: int) -> Plan:
    """The plan by which regular item `number` is chosen: another one where it is time for other pairs."""
    if not (run.adaptive_pairs or plan.is_focused) or not is_turn(plan, number):
        return plan
    focus = read_focus(run, epoch, table) if run.adaptive_pairs else None
    return next_plan(plan, table, focus, number=number, last=last, seed=seed)


@transaction.atomic
def set_pairs(*, run: Run, adaptive: bool, by: User | None, reason: str = "") -> bool:
    """Choose how pairs are chosen from now on; says whether that changed anything."""
    refuse_frozen(run)
    if adaptive and rules_of(run.code).judging.reveal == "after_vote":
        raise RunError(
            "This run tells judges the names after each vote, and adaptive pairs would then tell them which models are "
            "close. Its pairs stay balanced."
        )
    if adaptive and standings_were_shown(run):
        raise RunError(
            "Standings of this run were shown or imported already, and which pairs come would tell judges who is close to "
            "whom. Its pairs stay balanced; choose adaptive pairs before judging is opened."
        )
    # What judges saw cannot be taken back; before judging is opened they saw nothing.
    was_adaptive = adaptive or (run.was_adaptive and run.judging_state != Run.Judging.NOT_OPEN)
    fields = {"adaptive_pairs": adaptive, "was_adaptive": was_adaptive}
    changed = Run.objects.filter(pk=run.pk, adaptive_pairs=not adaptive, judging_state=run.judging_state).update(
        **fields
    )
    run.refresh_from_db(fields=list(fields))
    if not changed:
        return False
    verb = Event.Verb.ADAPTIVE_PAIRS if adaptive else Event.Verb.BALANCED_PAIRS
    Event.objects.create(run=run, actor=by, verb=verb, reason=reason)
    mark_stale(run.pk)  # the next fit says which pairs are undecided
    return True
