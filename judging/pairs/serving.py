"""Verbs: which matchup a judge sees now, and which comes after it; and what every answer to one begins and ends with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Subquery
from django.utils.translation import gettext as _

from benchsite.lib.database.prepared import CompiledQuery
from generation.models import Run
from judging.models import Epoch, Matchup, Seat
from judging.pairs.changes import Changes
from judging.pairs.matchups import WAITING, count_out, is_showable, put_in_seat, waiting_of, with_seats
from judging.pairs.planning import make_matchups
from judging.seats import RefusedError, retried


@dataclass(frozen=True)
class Screen:
    """What a judge has before them: the pair on the screen, and the one behind it."""

    seat: Seat
    current: Matchup | None
    upcoming: Matchup | None


def screen_of(seat: Seat) -> Screen:
    """What the judge sees now; changes nothing."""
    return Screen(seat, None, None) if seat.ended_at else present_screen(seat, waiting_of(seat))


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
    seat = Seat.objects.select_related("run", "epoch").defer("plan", "run__config", "epoch__table").get(pk=seat_id)
    if seat.ended_at:
        return Screen(seat, None, None)
    changes = Changes(seat)
    screen = fill_screen(changes, waiting_of(seat))
    changes.apply()
    return screen


def fill_screen(changes: Changes, waiting: list[Matchup], *, known: Epoch | None = None) -> Screen:
    """Open the first of the waiting matchups and see that another is queued, once the changes are applied.

    `known` is the run's newest epoch, where the caller has read it along.
    """
    seat, showable = changes.seat, _ready(waiting)
    for gone in waiting:
        if not is_showable(gone):
            count_out(gone)
            changes.move(gone, Matchup.State.VOID)
    while len(showable) < 2 and (made := make_matchups(changes, known, is_open=not showable)):
        showable += made
    current, upcoming = [*showable[:2], None, None][:2]
    if current is not None and current.state != Matchup.State.OPEN:
        changes.move(current, Matchup.State.OPEN)
    return Screen(seat, current, upcoming)


# The line that a matchup stands in, by judge and the matchup's code.
IN_LINE_WITH = CompiledQuery(
    lambda judge, code: with_seats().filter(
        seat=Subquery(Matchup.objects.filter(code=code).order_by().values("seat")),
        seat__judge=judge,
        state__in=WAITING,
    ),
    int,
    str,
)


def read_line(judge: User, code: str) -> tuple[Matchup, list[Matchup], Epoch | None]:
    """The judge's matchup of that code, those in line, and the newest epoch where it is the seat's; all share one seat object.

    Another judge's code finds nothing, like a code that never was. A vote is nearly always on a matchup in line, and all is
    read at once; else the seat is read before its line, so that a change in between shows when the seat is saved.
    """
    in_line = IN_LINE_WITH.rows(judge.pk, code)
    waiting: list[Matchup] = [*in_line]
    matchup = next((row for row in in_line if row.code == code), None)
    if matchup is None:
        matchup = with_seats().get(code=code, seat__judge=judge)
        waiting = waiting_of(matchup.seat)
    seat = matchup.seat
    put_in_seat([matchup, *waiting], seat)
    if seat.ended_at:
        raise RefusedError("ended", _("Your part in this study has ended. Your votes so far are safe."))
    newest: int | None = matchup.newest_epoch  # annotated by with_seats
    return matchup, waiting, seat.epoch if seat.epoch_id == newest else None


def check_open(run: Run) -> None:
    if run.judging_state == Run.Judging.PAUSED:
        raise RefusedError("paused", _("Judging is paused. Your votes so far are safe; come back later."))
    if run.judging_state != Run.Judging.OPEN:
        raise RefusedError("closed", _("Judging is closed. Your votes so far are safe; this one was not counted."))


def check_on_screen(matchup: Matchup) -> None:
    if matchup.state == Matchup.State.QUEUED:
        raise RefusedError("not_on_screen", _("Another pair is open, perhaps in another tab. Vote on that one first."))
    if matchup.state == Matchup.State.VOID:
        raise RefusedError("void", _("This pair was removed and needs no vote."))
    if matchup.state == Matchup.State.SKIPPED:
        raise RefusedError("skipped", _("You skipped this pair. To vote on it, undo that first."))


def present_line(seat: Seat, waiting: list[Matchup], known: Epoch | None) -> Screen:
    """The screen as it stands; where the pair on the screen was taken out since, the next one is opened."""
    screen = present_screen(seat, waiting)
    if screen.current is None and waiting:
        changes = Changes(seat)
        screen = fill_screen(changes, waiting, known=known)
        changes.apply()
    return screen


def put_back(changes: Changes, matchup: Matchup, waiting: list[Matchup]) -> Screen:
    """Open an answered matchup again; what was on the screen waits behind it."""
    for row in waiting:
        if row.state == Matchup.State.OPEN:
            changes.move(row, Matchup.State.QUEUED)
    changes.move(matchup, Matchup.State.OPEN)
    behind = min(filter(is_showable, waiting), key=lambda row: row.order, default=None)
    return Screen(changes.seat, matchup, behind)
