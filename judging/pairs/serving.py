"""Verbs: which matchup a judge sees now, and which comes after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.timezone import now

from judging.models import Epoch, Matchup, Seat
from judging.pairs.matchups import is_showable, waiting_of
from judging.pairs.planning import make_matchup
from judging.seats import StaleSeatError, retried


@dataclass(frozen=True)
class Screen:
    """What a judge has before them: the pair on the screen, and the one behind it."""

    seat: Seat
    current: Matchup | None
    upcoming: Matchup | None


def screen_of(seat: Seat) -> Screen:
    """What the judge sees now; changes nothing."""
    return present_screen(seat, waiting_of(seat))


def present_screen(seat: Seat, waiting: Iterable[Matchup]) -> Screen:
    """The screen with these matchups; a pair with a drawing that was taken out since is not shown."""
    ready = _ready(waiting)
    current = next((matchup for matchup in ready if matchup.state == Matchup.State.OPEN), None)
    upcoming = next((matchup for matchup in ready if matchup.state == Matchup.State.QUEUED), None)
    return Screen(seat, current, upcoming)


def _ready(waiting: Iterable[Matchup]) -> list[Matchup]:
    """Those that may be shown: the open one, then the others in their order; undoing may have left it behind them."""
    showable = filter(is_showable, waiting)
    return sorted(showable, key=lambda matchup: (matchup.state != Matchup.State.OPEN, matchup.order))


@retried
def take_seat(seat_id: int) -> Screen:
    """Make sure that the judge has a pair on the screen and one behind it, where the schedule has any."""
    seat = Seat.objects.select_related("run", "epoch").defer("run__config", "epoch__table").get(pk=seat_id)
    screen = fill_screen(seat, waiting_of(seat))
    save_seat(seat)
    return screen


def fill_screen(seat: Seat, waiting: list[Matchup], *, known: Epoch | None = None) -> Screen:
    """Open the first of the waiting matchups and see that another is queued; the caller saves the seat.

    `known` is the run's newest epoch, where the caller has read it along.
    """
    showable = _ready(waiting)
    if gone := [matchup.pk for matchup in waiting if not is_showable(matchup)]:
        seat.void += Matchup.objects.filter(pk__in=gone).update(state=Matchup.State.VOID)
    while len(showable) < 2 and (made := make_matchup(seat, known)):
        showable.append(made)
    current, upcoming = [*showable[:2], None, None][:2]
    if current is not None and current.state != Matchup.State.OPEN:
        current.state, current.opened_at = Matchup.State.OPEN, now()
        opened = Matchup.objects.filter(pk=current.pk, state=Matchup.State.QUEUED)
        if opened.update(state=Matchup.State.OPEN, opened_at=current.opened_at) != 1:
            raise StaleSeatError
    return Screen(seat, current, upcoming)


def save_seat(seat: Seat) -> None:
    """Write the seat if nobody else did since it was read."""
    names = ["epoch_id", "plan", "served", "regular", "shared", "repeats", "last_pair"]
    names += ["made", "void", "voted", "last_vote_at"]
    values = {name: getattr(seat, name) for name in names}
    read = Seat.objects.filter(pk=seat.pk, version=seat.version)
    if read.update(**values, version=seat.version + 1) != 1:
        raise StaleSeatError
    seat.version += 1
