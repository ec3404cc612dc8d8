"""Verb: make a judge's next matchup, by the schedule and the epoch's table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice

from django.db.models import Q
from django.utils.timezone import now

from benchsite.lib.database.instances import new_instance
from benchsite.lib.database.prepared import CompiledQuery
from generation.models import Sample
from judging.gold.placing import is_due, make_check
from judging.models import Epoch, Kind, Matchup, Participation, Seat, new_seed
from judging.pairs.adaptive.draws import balanced_plan
from judging.pairs.adaptive.focus import focused_plan
from judging.pairs.changes import Changes
from judging.pairs.epochs import coverage, current_epoch, has_enough, load_table, refresh_epoch
from judging.pairs.matchups import showable, with_parts
from judging.pairs.picked.placing import next_picked
from judging.pairs.schedule import items
from judging.pairs.schedule.items import Place, Unseen
from judging.pairs.schedule.plans import Plan, make_plan
from judging.pairs.schedule.rounds import Pair
from judging.pairs.schedule.table import Item, Table, digest_of, item_key, unordered
from judging.rules import Rules, rules_of
from judging.seats import RETRIES, StaleSeatError

CHUNK = 64
GUESSES = 3
NO_PLAN = Plan(0, (), (), (), 0)


def make_matchups(changes: Changes, known: Epoch | None = None, *, is_open: bool = False) -> list[Matchup]:
    """The next matchup of the judge's schedule, to be stored with the changes; a check before it where one is due.

    The first is open already where it shall be. None when quota, target or drawings are used up; but a check comes behind the
    quota for one that was skipped or taken out, as a pair would.
    """
    seat = changes.seat
    before = seat.made - seat.void
    if seat.quota is not None and before >= seat.quota:
        made = _checks(changes, None, pairs=before)
    else:
        matchup = _next_matchup(changes, known)
        made = [*_checks(changes, matchup, pairs=before), matchup] if matchup else []
    if made and is_open:
        made[0].state, made[0].opened_at = Matchup.State.OPEN, now()
    for each in made:
        changes.queue(each)
    return made


def _checks(changes: Changes, following: Matchup | None, *, pairs: int) -> list[Matchup]:
    """A check in the place of the pair that follows it, if any, which moves on by one."""
    seat = changes.seat
    if not is_due(seat, pairs=pairs):
        return []
    order = following.order if following else seat.made
    earlier = Matchup.objects.filter(seat=seat, order=order - 1).values_list("prompt", flat=True)
    beside, keys = {*(changes.prompts[-1:] or earlier)}, {*changes.keys}
    if following:
        beside.add(following.prompt_id)
        keys.add(following.key)
    check = make_check(seat, apart_from=beside, order=order, made=keys, key_of=_key_of)
    if check is None:
        return []
    if following:
        following.order += 1
    seat.made += 1
    seat.void += 1  # it keeps no place in the quota
    seat.gold_shown += 1
    return [check]


def _key_of(prompt: int, one: str, other: str) -> str:
    return item_key(prompt, digest_of(one), digest_of(other))


def _next_matchup(changes: Changes, known: Epoch | None) -> Matchup | None:
    seat = changes.seat
    rules = rules_of(seat.run.code)
    epoch = current_epoch(seat.run, known)
    for _ in range(RETRIES):
        _enter_epoch(changes, epoch)
        table, shared = load_table(epoch.pk, epoch.seed)
        plan = changes.plan or plan_of(seat)
        if not plan.pairs or _target_reached(seat, table, rules.judging.target):
            return None
        plan = _follow(changes, epoch, table, plan)
        try:
            matchup = _make_in_epoch(changes, rules, table, plan, shared)
            if matchup is None and plan.is_focused:  # other pairs may have drawings left
                plan = _follow(changes, epoch, table, plan, used_up=True)
                matchup = _make_in_epoch(changes, rules, table, plan, shared)
        except _TakenOutError:  # by a curator, since the epoch began
            epoch = refresh_epoch(seat.run)
            continue
        return matchup
    raise StaleSeatError


class _TakenOutError(Exception):
    """A drawing of the planned pair may not be shown any more."""


def _make_in_epoch(changes: Changes, rules: Rules, table: Table, plan: Plan, shared: Plan) -> Matchup | None:
    # Nearly always the planned item is new to the judge and may be shown: it is taken for so, and the guard of the changes
    # finds out. Then drawings are looked at first; and after a few that have met, the judge's earlier items.
    seat = changes.seat
    met = set(changes.keys)
    choices: list[Unseen] = [*[partial(_first_but, met)] * GUESSES, _unseen_by(seat, changes.keys)]
    for unseen in choices:
        planned = _plan_next(seat, rules, table, plan, shared, unseen, met)
        if planned is None:
            return None
        matchup, place = planned
        if not changes.look_first or _is_new(matchup):
            _move(seat, place)
            return matchup
        met.add(matchup.key)
    raise StaleSeatError


def plan_of(seat: Seat) -> Plan:
    """The judge's plan in the present epoch; it is read once by each process. Empty before the first epoch."""
    if seat.epoch_id is None or seat.seed is None:
        return NO_PLAN
    try:
        return _kept_plan(seat.pk, seat.epoch_id, seat.seed)
    except Seat.DoesNotExist:  # another request drew a new plan since this seat was read
        raise StaleSeatError from None


@lru_cache(maxsize=2048)
def _kept_plan(seat: int, epoch: int, seed: int) -> Plan:
    return Plan.from_json(Seat.objects.values_list("plan", flat=True).get(pk=seat, epoch=epoch, seed=seed))


def _enter_epoch(changes: Changes, epoch: Epoch) -> None:
    seat = changes.seat
    if seat.epoch_id == epoch.pk:
        return
    table, _ = load_table(epoch.pk, epoch.seed)
    left = None if seat.quota is None else max(seat.quota - seat.made + seat.void, 1)
    plan = make_plan(table, seed=new_seed(), coverage=coverage(seat.run, table, panel=seat.panel), horizon=left)
    if Participation.objects.filter(seat=seat).exists():
        plan = replace(plan, is_bare=True)
    seat.epoch, seat.plan, seat.seed, seat.owed = epoch, plan.to_json(), plan.seed, []
    seat.served = seat.regular = seat.shared = seat.repeats = 0
    seat.last_pair = None
    changes.plan = plan


def _follow(changes: Changes, epoch: Epoch, table: Table, plan: Plan, *, used_up: bool = False) -> Plan:
    """The plan with the pairs that are next where pairs are adaptive, stored with the changes; all pairs where ten are used up."""
    seat, seed = changes.seat, new_seed()
    number, last = seat.regular, unordered(*seat.last_pair) if seat.last_pair else None
    if used_up:
        after = balanced_plan(plan, table, number=number, last=last, seed=seed)
    else:
        after = focused_plan(seat.run, epoch.pk, table, plan, number=number, last=last, seed=seed)
    if after is not plan:
        seat.plan, seat.seed, changes.plan = after.to_json(), seed, after
    return after


def _target_reached(seat: Seat, table: Table, target: int | None) -> bool:
    """Whether every possible pair has its votes. Looked up at every fifth item: a few votes too many do no harm.

    The target is the judges'; an open arena goes on.
    """
    return target is not None and not seat.panel and seat.served % 5 == 0 and has_enough(seat.run, table, target)


def _first_but(met: set[str], items: Iterator[Item]) -> Item | None:
    return next((item for item in items if item.key not in met), None)


def _unseen_by(seat: Seat, made: set[str]) -> Unseen:
    def unseen(items: Iterator[Item]) -> Item | None:
        while chunk := list(islice(items, CHUNK)):
            mine = Matchup.objects.filter(seat=seat, key__in=[item.key for item in chunk])
            keys = made.union(mine.values_list("key", flat=True))
            if new := next((item for item in chunk if item.key not in keys), None):
                return new
        return None

    return unseen


def _plan_next(
    seat: Seat, rules: Rules, table: Table, plan: Plan, shared: Plan, unseen: Unseen, met: set[str]
) -> tuple[Matchup, Place] | None:
    last = unordered(*seat.last_pair) if seat.last_pair else None
    place = Place(seat.served, seat.regular, seat.shared, seat.repeats, last, dict(seat.owed))
    if items.is_picked_turn(plan, place.served, share=seat.run.picked_share):
        picked = next_picked(seat, table, apart_from=items.neighbours(plan, place), met=met)
        if picked is not None:
            return picked[0], replace(place, served=place.served + 1, last=picked[1])
    overlap, repeats = (0.0, 0.0) if plan.is_bare else (rules.judging.overlap, rules.repeats)
    item, place = items.next_shared(plan, shared, table, place, unseen, overlap=overlap)
    if item is not None:
        return _matchup(seat, table, item, Kind.SHARED), place
    if items.is_due(place.repeats, share=repeats, served=place.served, seed=plan.seed, kind="repeat"):
        source, after = items.next_repeat(plan, place, _earlier(seat, table))
        if source is not None:
            return _repeat(seat, _WITH_PARTS.rows(source)[0]), after
    item, place = items.next_regular(plan, table, place, unseen)
    return None if item is None else (_matchup(seat, table, item, Kind.REGULAR), place)


# Own pairs of an epoch that were voted on, may be shown, and are no repeats, checks, picked, or repeated already.
_REPEATABLE = CompiledQuery(
    lambda seat, epoch, first, last: (
        Matchup.objects.filter(
            showable("left_sample"),
            showable("right_sample"),
            seat=seat,
            epoch=epoch,
            order__range=(first, last),
            state=Matchup.State.VOTED,
            repeat_of=None,
            repeat=None,
            gold=None,
        )
        .exclude(kind=Kind.PICKED)
        .order_by("order")
        .values_list("pk", "left_id", "right_id")
    ),
    int,
    int,
    int,
    int,
)
_WITH_PARTS = CompiledQuery(lambda pk: with_parts().filter(pk=pk), int)


def _earlier(seat: Seat, table: Table) -> list[tuple[Pair, int]]:
    """The judge's own items of this epoch that may come again, by number."""
    window = range(max(seat.made - items.REPEAT_WITHIN, 0), seat.made - items.REPEAT_AFTER + 1)
    if not window:
        return []
    earlier = _REPEATABLE.rows(seat.pk, seat.epoch_id or 0, window.start, window.stop - 1)
    index = {entrant: number for number, entrant in enumerate(table.entrants)}
    return [(unordered(index[left], index[right]), pk) for pk, left, right in earlier]


def _matchup(seat: Seat, table: Table, item: Item, kind: Kind) -> Matchup:
    values = {
        "order": seat.made,
        "kind": kind,
        "prompt_id": table.questions[item.question][0],
        "category": table.categories[item.question],
        "left_id": table.entrants[item.left],
        "right_id": table.entrants[item.right],
        "left_sample_id": item.left_sample,
        "right_sample_id": item.right_sample,
        "key": item.key,
    }
    return new_instance(Matchup, values, run=seat.run, seat=seat, epoch=seat.epoch, gold=None)


def _repeat(seat: Seat, source: Matchup) -> Matchup:
    return Matchup(
        run=seat.run,
        seat=seat,
        epoch=seat.epoch,
        order=seat.made,
        kind=Kind.REPEAT,
        prompt=source.prompt,
        category=source.category,
        left_id=source.right_id,
        right_id=source.left_id,
        left_sample=source.right_sample,
        right_sample=source.left_sample,
        key=source.key,
        repeat_of=source,
    )


def _is_new(matchup: Matchup) -> bool:
    """Whether these drawings have not met before this judge; _TakenOutError where one of them may not be shown."""
    pair = Q(pk=matchup.left_sample_id) | Q(pk=matchup.right_sample_id)
    if Sample.objects.filter(pair).judgeable().count() < 2:
        raise _TakenOutError
    met = Matchup.objects.filter(seat=matchup.seat, key=matchup.key).exclude(kind=Kind.REPEAT)
    return matchup.kind == Kind.REPEAT or not met.exists()


def _move(seat: Seat, place: Place) -> None:
    seat.served, seat.regular, seat.shared, seat.repeats = place.served, place.regular, place.shared, place.repeats
    seat.last_pair = place.last
    seat.owed = list(place.owed.items())
    seat.made += 1
