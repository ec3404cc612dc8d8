"""Verbs: which matchup a judge sees now, and which comes after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import islice
from typing import Any, ParamSpec, TypeVar

from django.db import IntegrityError, transaction
from django.utils.timezone import now

from generation.models import Run, Sample
from generation.suite import Judging
from judging import schedule
from judging.epochs import coverage, current_epoch, load_table, refresh_epoch
from judging.models import Epoch, Kind, Matchup, Seat, new_seed
from judging.rounds import Pair
from judging.schedule import Place, Plan
from judging.table import Item, Table, unordered

P = ParamSpec("P")
R = TypeVar("R")
RETRIES = 5
CHUNK = 64


class StaleSeatError(Exception):
    """Another request of the same judge got there first; the verb is tried again on what it left."""


@dataclass(frozen=True)
class Line:
    """What a judge has before them: the pair on the screen, and the one behind it."""

    seat: Seat
    current: Matchup | None
    upcoming: Matchup | None


@dataclass(frozen=True)
class Rules:
    """What a run's frozen configuration says about judging."""

    judging: Judging
    categories: dict[str, str]

    @property
    def repeats(self) -> float:
        # A judge who was told the names would recognise the pair.
        return 0.0 if self.judging.reveal == "after_vote" else self.judging.repeats


@lru_cache(maxsize=64)
def rules_of(run_code: str) -> Rules:
    """The rules of a run; they are frozen, and so may be kept in memory."""
    config = Run.objects.values_list("config", flat=True).get(code=run_code)
    categories = {row["key"]: row["label"] for row in config.get("categories", [])}
    return Rules(Judging(**config.get("judging", {})), categories)


def retried(verb: Callable[P, R]) -> Callable[P, R]:
    """Run a verb in a transaction of its own, again when another request of the same judge interfered."""

    @wraps(verb)
    def tried(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(RETRIES):
            try:
                with transaction.atomic():
                    return verb(*args, **kwargs)
            except (StaleSeatError, IntegrityError) as error:
                last = error
        raise last

    return tried


def with_everything() -> Any:
    """Matchups with all that a page, a vote and a schedule need, in one query, without the long columns they do not."""
    long = ("raw", "answer", "earlier_answers", "facts", "flags", "detail", "failure_detail")
    samples = [f"{side}_sample__{column}" for side in ("left", "right") for column in long]
    return Matchup.objects.select_related(
        "run", "seat__epoch", "prompt", "left", "right", "left_sample", "right_sample"
    ).defer("run__config", "seat__epoch__table", *samples)


def line_of(seat: Seat) -> Line:
    """What the judge sees now; changes nothing."""
    waiting = list(with_everything().filter(seat=seat, state__in=[Matchup.State.QUEUED, Matchup.State.OPEN])[:2])
    current = next((matchup for matchup in waiting if matchup.state == Matchup.State.OPEN), None)
    upcoming = next((matchup for matchup in waiting if matchup.state == Matchup.State.QUEUED), None)
    return Line(seat, current, upcoming)


@retried
def take_seat(seat_id: int) -> Line:
    """Make sure that the judge has a pair on the screen and one behind it, where the schedule has any."""
    seat = Seat.objects.select_related("run", "epoch").defer("run__config", "epoch__table").get(pk=seat_id)
    waiting = list(with_everything().filter(seat=seat, state__in=[Matchup.State.QUEUED, Matchup.State.OPEN]))
    line = line_up(seat, waiting)
    save_seat(seat)
    return line


def line_up(seat: Seat, waiting: list[Matchup], *, known: Epoch | None = None) -> Line:
    """Open the first of the waiting matchups and see that another is queued; the caller saves the seat.

    `known` is the run's newest epoch, where the caller has read it along.
    """
    showable = [matchup for matchup in waiting if is_showable(matchup)]
    if gone := [matchup.pk for matchup in waiting if not is_showable(matchup)]:
        seat.void += Matchup.objects.filter(pk__in=gone).update(state=Matchup.State.VOID)
    showable.sort(key=lambda matchup: (matchup.state != Matchup.State.OPEN, matchup.order))
    while len(showable) < 2 and (made := make_matchup(seat, known)):
        showable.append(made)
    current, upcoming = [*showable[:2], None, None][:2]
    if current is not None and current.state != Matchup.State.OPEN:
        current.state, current.opened_at = Matchup.State.OPEN, now()
        opened = Matchup.objects.filter(pk=current.pk, state=Matchup.State.QUEUED)
        if opened.update(state=Matchup.State.OPEN, opened_at=current.opened_at) != 1:
            raise StaleSeatError
    return Line(seat, current, upcoming)


def is_showable(matchup: Matchup) -> bool:
    return all(
        sample is not None
        and sample.state == Sample.State.DRAWN
        and sample.verdict == Sample.Verdict.VALID
        and not sample.held
        and not sample.excluded_reason
        and not entrant.disqualified
        for sample, entrant in ((matchup.left_sample, matchup.left), (matchup.right_sample, matchup.right))
    )


def save_seat(seat: Seat) -> None:
    """Write the seat if nobody else did since it was read."""
    names = ["epoch_id", "plan", "served", "regular", "shared", "repeats", "last_pair"]
    names += ["made", "void", "voted", "last_vote_at"]
    values = {name: getattr(seat, name) for name in names}
    read = Seat.objects.filter(pk=seat.pk, version=seat.version)
    if read.update(**values, version=seat.version + 1) != 1:
        raise StaleSeatError
    seat.version += 1


def make_matchup(seat: Seat, known: Epoch | None = None) -> Matchup | None:
    """The next matchup of the judge's schedule, queued; None when quota, target or drawings are used up."""
    rules = rules_of(seat.run.code)
    if seat.quota is not None and seat.made - seat.void >= seat.quota:
        return None
    _enter_epoch(seat, current_epoch(seat.run, known))
    for _ in range(RETRIES):
        matchup = _make_in_epoch(seat, rules)
        if matchup is None or is_showable(matchup):
            return matchup
        # A curator took one of the two back since the epoch began.
        seat.void += Matchup.objects.filter(pk=matchup.pk).update(state=Matchup.State.VOID)
        _enter_epoch(seat, refresh_epoch(seat.run))
    raise StaleSeatError


def _make_in_epoch(seat: Seat, rules: Rules) -> Matchup | None:
    table, shared = load_table(seat.epoch.pk, seat.epoch.seed)
    if not seat.plan["pairs"] or _target_reached(seat, table, rules.judging.target):
        return None
    # Nearly always the planned item is new to the judge, and the database's own constraint would say if it were not:
    # so the first try asks nothing, and only when refused are the judge's earlier items looked up.
    for unseen in (lambda items: next(items, None), _unseen_by(seat)):
        planned = _plan_next(seat, rules, table, shared, unseen)
        if planned is None:
            return None
        matchup, place = planned
        if (stored := _store(matchup)) is not None:
            _move(seat, place)
            return stored
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
    if target is None or seat.served % 5:
        return False
    met = coverage(seat.run, table).pairs
    return all(met.get(pair, 0) >= target for pair in table.common)


def _unseen_by(seat: Seat) -> schedule.Unseen:
    def unseen(items: Iterator[Item]) -> Item | None:
        while chunk := list(islice(items, CHUNK)):
            mine = Matchup.objects.filter(seat=seat, key__in=[item.key for item in chunk])
            keys = set(mine.values_list("key", flat=True))
            if found := next((item for item in chunk if item.key not in keys), None):
                return found
        return None

    return unseen


def _plan_next(
    seat: Seat, rules: Rules, table: Table, shared: Plan, unseen: schedule.Unseen
) -> tuple[Matchup, Place] | None:
    plan = Plan.from_json(seat.plan)
    last = unordered(*seat.last_pair) if seat.last_pair else None
    place = Place(seat.served, seat.regular, seat.shared, seat.repeats, last)
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
    found = with_everything().filter(
        seat=seat,
        epoch=seat.epoch,
        order__range=(max(window.start, 0), window.stop - 1),
        state=Matchup.State.VOTED,
        repeat_of=None,
        repeat=None,
    )
    index = {entrant: number for number, entrant in enumerate(table.entrants)}
    return [
        (unordered(index[matchup.left_id], index[matchup.right_id]), matchup)
        for matchup in found
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
        left=source.right,
        right=source.left,
        left_sample=source.right_sample,
        right_sample=source.left_sample,
        key=source.key,
        repeat_of=source,
    )


def _store(matchup: Matchup) -> Matchup | None:
    """Insert, and read back with its samples; None where these drawings have met before this judge already."""
    if matchup.kind == Kind.REPEAT:
        matchup.save(force_insert=True)
        return matchup
    Matchup.objects.bulk_create([matchup], ignore_conflicts=True)
    return with_everything().filter(code=matchup.code).first()


def _move(seat: Seat, place: Place) -> None:
    seat.served, seat.regular, seat.shared, seat.repeats = place.served, place.regular, place.shared, place.repeats
    seat.last_pair = place.last
    seat.made += 1
