"""Verbs: cast a vote, withdraw it, report a matchup. A vote is one transaction and never happens twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Max
from django.utils.timezone import now

from generation.models import Run
from generation.protocols import PROTOCOLS
from generation.runs.staleness import AHEAD, mark_stale, mark_stale_after_commit, move_mark
from judging.disclosure import could_know_names, is_in_public
from judging.models import Epoch, Matchup, Report, Seat, Vote
from judging.pairs import NAME
from judging.pairs.matchups import WAITING, is_showable, samples_of, waiting_of, with_seats
from judging.pairs.serving import Screen, fill_screen, present_screen, save_seat
from judging.pairs.tallies import add_vote, remove_vote
from judging.rules import rules_of
from judging.seats import RefusedError, StaleSeatError, refuse_many_reports, retried

LONGEST_MS = 3_600_000
NOT_NOW = "cannot be shown now"
IN_PUBLIC = "does not come back, because the public leaderboard already counts your vote"


@dataclass(frozen=True)
class Ballot:
    """What the judge said: the choice, and optionally time taken and fonts in which a side breaks (bits)."""

    outcome: str
    response_ms: int | None = None
    left_breaks: int = 0
    right_breaks: int = 0


@dataclass(frozen=True)
class Undone:
    """What the judge sees after undo; `put_away` says why the pair of the withdrawn vote does not come back."""

    screen: Screen
    put_away: str = ""


@dataclass(frozen=True)
class Cast:
    """A vote that stands, and what the judge sees next; `again` where it had been cast before."""

    matchup: Matchup
    vote: Vote
    screen: Screen
    again: bool = False


def cast_vote(*, judge: User, code: str, ballot: Ballot) -> Cast:
    done = _cast(judge, code, ballot)
    if isinstance(done, RefusedError):
        raise done
    return done


@retried
def _cast(judge: User, code: str, ballot: Ballot) -> Cast | RefusedError:
    """The vote and what comes next; or, where the pair left the screen instead, why: to be raised once that is committed."""
    matchup, waiting, known = _read(judge, code)
    if matchup.state == Matchup.State.VOTED:
        return _cast_before(matchup, waiting, ballot, known)
    _check_open(matchup.run)
    _check_on_screen(matchup)
    seat, moment = matchup.seat, now()
    if not is_showable(matchup):
        fill_screen(seat, waiting, known=known)
        save_seat(seat)
        return RefusedError(
            "gone", "A drawing of that pair was taken out while you looked. Your vote on it was not counted."
        )
    # A clock that was set back makes nobody wait.
    shortest = timedelta(seconds=settings.MIN_VOTE_SECONDS)
    if seat.last_vote_at and timedelta(0) <= moment - seat.last_vote_at < shortest:
        raise RefusedError("too_fast", "That was very quick. Look again, then vote.")
    _leave(matchup, Matchup.State.OPEN, state=Matchup.State.VOTED)
    vote = _record(matchup, judge, ballot, moment)
    seat.voted += 1
    add_vote(matchup, vote)
    seat.last_vote_at = moment
    screen = fill_screen(seat, [other for other in waiting if other.pk != matchup.pk], known=known)
    save_seat(seat)
    mark_stale_after_commit(matchup.run_id, marked=matchup.run.scores_changed_at)
    return Cast(matchup, vote, screen)


def _read(judge: User, code: str) -> tuple[Matchup, list[Matchup], Epoch | None]:
    """The judge's matchup of that code, those in line, and the newest epoch where it is the seat's; all share one seat object.

    Another judge's code finds nothing, like a code that never was. A vote is nearly always on a matchup in line, and all is
    read at once; else the seat is read before its line, so that a change in between shows when the seat is saved.
    """
    waiting: list[Matchup]
    in_line = list(with_seats().filter(seat__judge=judge, state__in=WAITING))
    matchup = next((row for row in in_line if row.code == code), None)
    if matchup is None:
        matchup = with_seats().get(code=code, seat__judge=judge)
        waiting = waiting_of(matchup.seat)
    else:
        waiting = [row for row in in_line if row.seat_id == matchup.seat_id]
    seat = matchup.seat
    for row in (matchup, *waiting):
        row.seat, row.run = seat, seat.run
    return matchup, waiting, seat.epoch if seat.epoch_id == matchup.newest_epoch else None


def _check_open(run: Run) -> None:
    if run.judging_state == Run.Judging.PAUSED:
        raise RefusedError("paused", "Judging is paused. Your votes so far are safe; come back later.")
    if run.judging_state != Run.Judging.OPEN:
        raise RefusedError("closed", "Judging is closed. Your votes so far are safe; this one was not counted.")


def _check_on_screen(matchup: Matchup) -> None:
    if matchup.state == Matchup.State.QUEUED:
        raise RefusedError("not_on_screen", "Another pair is open, perhaps in another tab. Vote on that one first.")
    if matchup.state == Matchup.State.VOID:
        raise RefusedError("void", "This pair was taken out, and needs no vote.")


def _cast_before(matchup: Matchup, waiting: list[Matchup], ballot: Ballot, known: Epoch | None) -> Cast:
    """A vote sent again, perhaps because its answer was lost: it stands, even where judging has been closed since."""
    vote = _standing(matchup)
    if vote.outcome != ballot.outcome:
        raise RefusedError(
            "recorded",
            f"You voted “{vote.get_outcome_display()}” on that pair; this one was not counted. Undo it to vote again.",
        )
    is_open = matchup.run.judging_state == Run.Judging.OPEN
    screen = _present(matchup.seat, waiting, known) if is_open else Screen(matchup.seat, None, None)
    return Cast(matchup, vote, screen, again=True)


def _present(seat: Seat, waiting: list[Matchup], known: Epoch | None) -> Screen:
    """The screen as it stands; where the pair on the screen was taken out since, the next one is opened."""
    screen = present_screen(seat, waiting)
    if screen.current is None and waiting:
        screen = fill_screen(seat, waiting, known=known)
        save_seat(seat)
    return screen


def _standing(matchup: Matchup) -> Vote:
    """The vote on a matchup that was read as voted; another tab may have undone it since."""
    vote = matchup.votes.standing().first()
    if vote is None:
        raise StaleSeatError
    return vote


def _leave(matchup: Matchup, was: str, **values: object) -> None:
    """Write these values if nobody else moved the matchup on from that state."""
    if Matchup.objects.filter(pk=matchup.pk, state=was).update(**values) != 1:
        raise StaleSeatError


def _record(matchup: Matchup, judge: User, ballot: Ballot, moment: datetime) -> Vote:
    """The time is the page's own, but never longer than the matchup has been open here; a clock may have been set back."""
    waited = int((moment - matchup.opened_at).total_seconds() * 1000) if matchup.opened_at else LONGEST_MS
    told = rules_of(matchup.run.code).judging.reveal == "after_vote"
    kept_out = not told and could_know_names(matchup.run, judge, samples_of(matchup))
    claimed = waited if ballot.response_ms is None else ballot.response_ms
    return Vote.objects.create(
        matchup=matchup,
        run=matchup.run,
        seat=matchup.seat,
        outcome=ballot.outcome,
        voted_at=moment,
        response_ms=max(min(claimed, waited, LONGEST_MS), 0),
        unblind=told or kept_out,
        kept_out=kept_out,
        left_breaks=ballot.left_breaks,
        right_breaks=ballot.right_breaks,
    )


def mark_missed() -> int:
    """Mark runs with a vote or grade newer than their mark: its process died between the commit and the mark. Says how many."""
    moment, missed = now(), set()
    for newest in (entry.judged_at for entry in PROTOCOLS.values() if entry.by_people):
        # An archive may hold votes of the future; these are marked by their import.
        runs = Run.objects.order_by().values_list("pk", "scores_changed_at").filter(**{f"{newest}__lte": moment})
        missed |= {pk for pk, marked, at in runs.annotate(at=Max(newest)) if marked is None or marked < at}
    for pk in missed:
        move_mark(pk, AHEAD)
    return len(missed)


@retried
def undo_vote(*, judge: User, code: str) -> Undone:
    """Withdraw the judge's vote on that matchup and put it back on the screen; what was there waits behind it.

    A pair that may not be shown now, because a drawing is held back or was taken out, stays away; so does one whose vote a
    public state may contain, or a judge could learn from that state who drew it, and vote again.
    """
    matchup, waiting, known = _read(judge, code)
    _check_open(matchup.run)
    if rules_of(matchup.run.code).judging.reveal == "after_vote":
        raise RefusedError("revealed", "Names were shown after your vote, so it stands.")
    seat = matchup.seat
    if matchup.state != Matchup.State.VOTED:  # pressed twice, or never voted on
        return Undone(_present(seat, waiting, known))
    seat.voted -= 1
    vote = _withdraw(matchup, judge)
    away = NOT_NOW if not is_showable(matchup) else IN_PUBLIC if is_in_public(matchup.run, NAME, vote.pk) else ""
    screen = _put_away(matchup, waiting, known) if away else _put_back(matchup, waiting)
    save_seat(seat)
    # In the transaction too: an undo leaves no newer vote by which a lost mark could be noticed.
    mark_stale(matchup.run_id)
    return Undone(screen, put_away=away)


def _withdraw(matchup: Matchup, judge: User) -> Vote:
    vote = _standing(matchup)
    standing = Vote.objects.standing().filter(pk=vote.pk)
    if standing.update(withdrawn_at=now(), withdrawn_by=judge) != 1:
        raise StaleSeatError
    remove_vote(matchup, vote)
    return vote


def _put_back(matchup: Matchup, waiting: list[Matchup]) -> Screen:
    Matchup.objects.filter(seat=matchup.seat, state=Matchup.State.OPEN).update(state=Matchup.State.QUEUED)
    matchup.state, matchup.opened_at = Matchup.State.OPEN, now()
    _leave(matchup, Matchup.State.VOTED, state=matchup.state, opened_at=matchup.opened_at)
    behind = min(filter(is_showable, waiting), key=lambda row: row.order, default=None)
    return Screen(matchup.seat, matchup, behind)


def _put_away(matchup: Matchup, waiting: list[Matchup], known: Epoch | None) -> Screen:
    _leave(matchup, Matchup.State.VOTED, state=Matchup.State.VOID)
    matchup.seat.void += 1
    return fill_screen(matchup.seat, waiting, known=known)


@retried
def report_matchup(*, judge: User, code: str, side: str, reason: str, note: str = "") -> Screen:
    """Take the pair off the judge's screen for good and tell the curators why."""
    matchup, waiting, known = _read(judge, code)
    _check_open(matchup.run)
    if matchup.state == Matchup.State.VOID and matchup.reports.exists():
        return _present(matchup.seat, waiting, known)
    if matchup.state == Matchup.State.VOTED:
        raise RefusedError("recorded", "You have voted on this pair. Undo the vote first, then report it.")
    _check_on_screen(matchup)
    recent = Report.objects.filter(matchup__seat__judge=judge, created_at__gte=now() - timedelta(hours=1))
    refuse_many_reports(recent.count())
    _leave(matchup, Matchup.State.OPEN, state=Matchup.State.VOID)
    Report.objects.create(matchup=matchup, side=side, reason=reason, note=note)
    matchup.seat.void += 1
    screen = fill_screen(matchup.seat, [other for other in waiting if other.pk != matchup.pk], known=known)
    save_seat(matchup.seat)
    return screen


def last_vote(seat: Seat) -> Vote | None:
    """The newest standing vote of a judge: what undo would take back."""
    return seat.votes.standing().select_related("matchup").order_by("-id").first()
