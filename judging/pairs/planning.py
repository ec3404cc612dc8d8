"""Verb: make a judge's next matchup, by the schedule and the epoch's table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

from django.db.models import Exists

from generation.models import Sample
from judging.models import Epoch, Kind, Matchup, Seat, new_seed
from judging.pairs import schedule
from judging.pairs.epochs import coverage, current_epoch, has_enough, load_table, refresh_epoch
from judging.pairs.matchups import is_showable, with_drawings
from judging.pairs.rounds import Pair
from judging.pairs.schedule import Place, Plan
from judging.pairs.table import Item, Table, unordered
from judging.rules import Rules, rules_of
from judging.seats import RETRIES, StaleSeatError

CHUNK = 64
GUESSES = 3


def make_matchup(seat: Seat, known: Epoch | None = None) -> Matchup | None:
    """The next matchup of the judge's schedule, queued; None when quota, target or drawings are used up."""
    rules = rules_of(seat.run.code)
    if seat.quota is not None and seat.made - seat.void >= seat.quota:
        return None
    epoch = current_epoch(seat.run, known)
    for _ in range(RETRIES):
        _enter_epoch(seat, epoch)
        matchup = _make_in_epoch(seat, epoch, rules)
        if matchup is None or is_showable(matchup):
            return matchup
        # A curator took one of the two back since the epoch began.
        seat.void += Matchup.objects.filter(pk=matchup.pk).update(state=Matchup.State.VOID)
        epoch = refresh_epoch(seat.run)
    raise StaleSeatError


def _make_in_epoch(seat: Seat, epoch: Epoch, rules: Rules) -> Matchup | None:
    table, shared = load_table(epoch.pk, epoch.seed)
    if not seat.plan["pairs"] or _target_reached(seat, table, rules.judging.target):
        return None
    # Nearly always the planned item is new to the judge: it is taken for so, and found out while reading its drawings. Only
    # after a few that were not are the judge's earlier items looked up.
    met: set[str] = set()
    choices: list[schedule.Unseen] = [*[partial(_first_but, met)] * GUESSES, _unseen_by(seat)]
    for unseen in choices:
        planned = _plan_next(seat, rules, table, shared, unseen)
        if planned is None:
            return None
        matchup, place = planned
        if _store(matchup):
            _move(seat, place)
            return matchup
        met.add(matchup.key)
    raise StaleSeatError


def _enter_epoch(seat: Seat, epoch: Epoch) -> None:
    if seat.epoch_id == epoch.pk:
        return
    table, _ = load_table(epoch.pk, epoch.seed)
    left = None if seat.quota is None else max(seat.quota - seat.made + seat.void, 1)
    plan = schedule.make_plan(table, seed=new_seed(), coverage=coverage(seat.run, table), horizon=left)
    seat.epoch, seat.plan = epoch, plan.to_json()
    seat.served = seat.regular = seat.shared = seat.repeats = 0
    seat.last_pair = None


def _target_reached(seat: Seat, table: Table, target: int | None) -> bool:
    """Whether every possible pair has its votes. Looked up at every fifth item: a few votes too many do no harm."""
    return target is not None and seat.served % 5 == 0 and has_enough(seat.run, table, target)


def _first_but(met: set[str], items: Iterator[Item]) -> Item | None:
    return next((item for item in items if item.key not in met), None)


def _unseen_by(seat: Seat) -> schedule.Unseen:
    def unseen(items: Iterator[Item]) -> Item | None:
        while chunk := list(islice(items, CHUNK)):
            mine = Matchup.objects.filter(seat=seat, key__in=[item.key for item in chunk])
            keys = set(mine.values_list("key", flat=True))
            if new := next((item for item in chunk if item.key not in keys), None):
                return new
        return None

    return unseen


def _plan_next(
    seat: Seat, rules: Rules, table: Table, shared: Plan, unseen: schedule.Unseen
) -> tuple[Matchup, Place] | None:
    plan = Plan.from_json(seat.plan)
    last = unordered(*seat.last_pair) if seat.last_pair else None
    owed = dict(seat.plan.get("owed", ()))  # a new plan owes nothing
    place = Place(seat.served, seat.regular, seat.shared, seat.repeats, last, owed)
    item, place = schedule.next_shared(plan, shared, table, place, unseen, overlap=rules.judging.overlap)
    if item is not None:
        return _matchup(seat, table, item, Kind.SHARED), place
    if schedule.is_due(place.repeats, share=rules.repeats, served=place.served, seed=plan.seed, kind="repeat"):
        source, after = schedule.next_repeat(plan, place, _earlier(seat, table))
        if source is not None:
            return _repeat(seat, source), after
    item, place = schedule.next_regular(plan, table, place, unseen)
    return None if item is None else (_matchup(seat, table, item, Kind.REGULAR), place)


def _earlier(seat: Seat, table: Table) -> list[tuple[Pair, Matchup]]:
    """The judge's own items of this epoch that may come again."""
    window = range(seat.made - schedule.REPEAT_WITHIN, seat.made - schedule.REPEAT_AFTER + 1)
    earlier = (
        with_drawings()
        .filter(
            seat=seat,
            epoch=seat.epoch,
            order__range=(max(window.start, 0), window.stop - 1),
            state=Matchup.State.VOTED,
            repeat_of=None,
            repeat=None,
        )
        .order_by("order")
    )
    index = {entrant: number for number, entrant in enumerate(table.entrants)}
    return [
        (unordered(index[matchup.left_id], index[matchup.right_id]), matchup)
        for matchup in earlier
        if is_showable(matchup)
    ]


def _matchup(seat: Seat, table: Table, item: Item, kind: Kind) -> Matchup:
    return Matchup(
        run=seat.run,
        seat=seat,
        epoch=seat.epoch,
        order=seat.made,
        kind=kind,
        prompt_id=table.questions[item.question][0],
        category=table.categories[item.question],
        left_id=table.entrants[item.left],
        right_id=table.entrants[item.right],
        left_sample_id=item.left_sample,
        right_sample_id=item.right_sample,
        key=item.key,
    )


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


def _store(matchup: Matchup) -> bool:
    """Insert with its samples at hand; False where these drawings have met before this judge already."""
    if matchup.kind != Kind.REPEAT:
        met = Matchup.objects.filter(seat=matchup.seat, key=matchup.key).exclude(kind=Kind.REPEAT)
        wanted = Sample.objects.filter(pk__in=[matchup.left_sample_id, matchup.right_sample_id]).order_by()
        columns = ("drawing", "state", "verdict", "held", "excluded_reason")
        chosen = wanted.select_related("entrant", "prompt").only(
            *columns, "entrant__label", "entrant__disqualified", "prompt__text", "prompt__category"
        )
        rows = list(chosen.annotate(met=Exists(met)))
        if any(row.met for row in rows):
            return False
        samples: dict[int | None, Sample] = {row.pk: row for row in rows}
        matchup.left_sample, matchup.right_sample = samples[matchup.left_sample_id], samples[matchup.right_sample_id]
        matchup.prompt = matchup.left_sample.prompt
    matchup.save(force_insert=True)
    return True


def _move(seat: Seat, place: Place) -> None:
    seat.served, seat.regular, seat.shared, seat.repeats = place.served, place.regular, place.shared, place.repeats
    seat.last_pair = place.last
    seat.plan["owed"] = list(place.owed.items())
    seat.made += 1
