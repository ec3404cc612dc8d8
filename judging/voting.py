"""Verbs: cast a vote, withdraw it, report a matchup. A vote is one transaction and never happens twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, OuterRef, Q, Subquery
from django.utils.timezone import now

from generation.models import Run
from judging.models import Epoch, Matchup, Report, Seat, Vote
from judging.planning import StaleSeatError
from judging.serving import Line, line_up, retried, save_seat
from judging.showing import is_showable, rules_of, with_everything
from judging.tallies import add_vote, remove_vote

MIN_INTERVAL = timedelta(milliseconds=300)
LONGEST_MS = 3_600_000
MARK_AHEAD = timedelta(seconds=2)
WAITING = [Matchup.State.QUEUED, Matchup.State.OPEN]


class RefusedError(Exception):
    """Why something was not done, as a code and a sentence for the judge."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


@dataclass(frozen=True)
class Ballot:
    """What the judge said: the choice, and optionally time taken and fonts in which a side breaks (bits)."""

    outcome: str
    response_ms: int | None = None
    left_breaks: int = 0
    right_breaks: int = 0


@dataclass(frozen=True)
class Cast:
    """A vote that stands, and what the judge sees next; `again` where it had been cast before."""

    matchup: Matchup
    vote: Vote
    line: Line
    again: bool = False


@retried
def cast_vote(*, judge: User, code: str, ballot: Ballot) -> Cast:
    matchup, waiting, known = _read(judge, code)
    _check_open(matchup.run)
    if matchup.state == Matchup.State.VOTED:
        return _cast_before(matchup, waiting, ballot)
    _check_on_screen(matchup)
    seat, moment = matchup.seat, now()
    if seat.last_vote_at and moment - seat.last_vote_at < MIN_INTERVAL:
        raise RefusedError("too_fast", "That was very quick. Look again, then vote.")
    _close(matchup, Matchup.State.VOTED)
    vote = _record(matchup, ballot, moment)
    add_vote(matchup, ballot.outcome)
    seat.voted += 1
    seat.last_vote_at = moment
    line = line_up(seat, [other for other in waiting if other.pk != matchup.pk], known=known)
    save_seat(seat)
    mark_changed(matchup.run_id)
    return Cast(matchup, vote, line)


def _read(judge: User, code: str) -> tuple[Matchup, list[Matchup], Epoch | None]:
    """The judge's matchup of that code and those in line, in one query; all share one seat object.

    Another judge's code finds nothing, like a code that never was.
    """
    mine = Matchup.objects.filter(code=code, seat__judge=judge).values("seat")[:1]
    newest = Epoch.objects.filter(run=OuterRef("run")).order_by("-number").values("pk")[:1]
    # Two branches that each have an index: a seat may hold thousands of matchups, and only two or three are wanted.
    asked, in_line = Q(code=code, seat=Subquery(mine)), Q(seat=Subquery(mine), state__in=WAITING)
    rows = list(with_everything().annotate(newest_epoch=Subquery(newest)).filter(asked | in_line))
    matchup = next((row for row in rows if row.code == code), None)
    if matchup is None:
        raise Matchup.DoesNotExist
    seat = matchup.seat
    seat.run = matchup.run
    for row in rows:
        row.seat = seat
    known = seat.epoch if seat.epoch_id == matchup.newest_epoch else None
    return matchup, [row for row in rows if row.state in WAITING], known


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


def _cast_before(matchup: Matchup, waiting: list[Matchup], ballot: Ballot) -> Cast:
    vote = _standing(matchup)
    if vote.outcome != ballot.outcome:
        raise RefusedError(
            "recorded",
            f"You voted “{vote.get_outcome_display()}” on that pair; this one was not counted. Undo it to vote again.",
        )
    current = next((row for row in waiting if row.state == Matchup.State.OPEN), None)
    upcoming = next((row for row in waiting if row.state == Matchup.State.QUEUED), None)
    return Cast(matchup, vote, Line(matchup.seat, current, upcoming), again=True)


def _standing(matchup: Matchup) -> Vote:
    """The vote on a matchup that was read as voted; another tab may have undone it since."""
    vote = matchup.votes.filter(withdrawn_at=None).first()
    if vote is None:
        raise StaleSeatError
    return vote


def _close(matchup: Matchup, state: str) -> None:
    if Matchup.objects.filter(pk=matchup.pk, state=Matchup.State.OPEN).update(state=state) != 1:
        raise StaleSeatError


def _record(matchup: Matchup, ballot: Ballot, moment: datetime) -> Vote:
    """The time is the page's own, but never longer than the matchup has been open here."""
    waited = int((moment - matchup.opened_at).total_seconds() * 1000) if matchup.opened_at else LONGEST_MS
    claimed = waited if ballot.response_ms is None else ballot.response_ms
    return Vote.objects.create(
        matchup=matchup,
        run=matchup.run,
        seat=matchup.seat,
        outcome=ballot.outcome,
        voted_at=moment,
        response_ms=min(claimed, waited, LONGEST_MS),
        unblind=rules_of(matchup.run.code).judging.reveal == "after_vote",
        left_breaks=ballot.left_breaks,
        right_breaks=ballot.right_breaks,
    )


def mark_changed(run_id: int) -> None:
    """Say that the ranking is stale.

    The mark is set a little ahead and not moved again before it is reached, and only after the commit: otherwise every vote
    of a run would wait for this one row. A fit made before the mark is made once more, so no vote is missed.
    """
    transaction.on_commit(lambda: _mark(run_id))


def _mark(run_id: int) -> None:
    moment = now()
    unmarked = Q(scores_changed_at=None) | Q(scores_changed_at__lt=moment)
    Run.objects.filter(unmarked, pk=run_id).update(scores_changed_at=moment + MARK_AHEAD)


def mark_missed() -> int:
    """Mark runs with a vote or grade newer than their mark: its process died between the commit and the mark. Says how many."""
    moment, found = now(), set()
    for newest in ("seats__last_vote_at", "seats__sheet__last_graded_at"):
        # An archive may hold votes of the future; these are marked by their import.
        said = Run.objects.order_by().values_list("pk", "scores_changed_at").filter(**{f"{newest}__lte": moment})
        found |= {pk for pk, marked, at in said.annotate(at=Max(newest)) if marked is None or marked < at}
    for pk in found:
        _mark(pk)
    return len(found)


@retried
def undo_vote(*, judge: User, code: str) -> Line:
    """Withdraw the judge's vote on that matchup and put it back on the screen; what was there waits behind it."""
    matchup, waiting, _ = _read(judge, code)
    _check_open(matchup.run)
    if rules_of(matchup.run.code).judging.reveal == "after_vote":
        raise RefusedError("revealed", "Names were shown after your vote, so it stands.")
    seat = matchup.seat
    current = next((row for row in waiting if row.state == Matchup.State.OPEN), None)
    if matchup.state != Matchup.State.VOTED:  # pressed twice, or never voted on
        return Line(seat, current, next((row for row in waiting if row.state == Matchup.State.QUEUED), None))
    if not is_showable(matchup):
        raise RefusedError("gone", "A drawing of that pair was taken out since, and your vote on it counts no more.")
    vote = _standing(matchup)
    standing = Vote.objects.filter(pk=vote.pk, withdrawn_at=None)
    if standing.update(withdrawn_at=now(), withdrawn_by=judge) != 1:
        raise StaleSeatError
    remove_vote(matchup, vote.outcome)
    Matchup.objects.filter(seat=seat, state=Matchup.State.OPEN).update(state=Matchup.State.QUEUED)
    reopened = Matchup.objects.filter(pk=matchup.pk, state=Matchup.State.VOTED)
    matchup.state, matchup.opened_at = Matchup.State.OPEN, now()
    if reopened.update(state=matchup.state, opened_at=matchup.opened_at) != 1:
        raise StaleSeatError
    seat.voted -= 1
    save_seat(seat)
    _mark(matchup.run_id)  # in the transaction too: an undo leaves no newer vote by which a lost mark could be noticed
    mark_changed(matchup.run_id)
    behind = min(waiting, key=lambda row: row.order, default=None)
    return Line(seat, matchup, behind)


@retried
def report_matchup(*, judge: User, code: str, side: str, reason: str, note: str = "") -> Line:
    """Take the pair off the judge's screen for good and tell the curators why."""
    matchup, waiting, known = _read(judge, code)
    _check_open(matchup.run)
    if matchup.state == Matchup.State.VOID and matchup.reports.exists():
        current = next((row for row in waiting if row.state == Matchup.State.OPEN), None)
        return Line(matchup.seat, current, None)
    if matchup.state == Matchup.State.VOTED:
        raise RefusedError("recorded", "You have voted on this pair. Undo the vote first, then report it.")
    _check_on_screen(matchup)
    _close(matchup, Matchup.State.VOID)
    Report.objects.create(matchup=matchup, side=side, reason=reason, note=note)
    matchup.seat.void += 1
    line = line_up(matchup.seat, [other for other in waiting if other.pk != matchup.pk], known=known)
    save_seat(matchup.seat)
    return line


def last_vote(seat: Seat) -> Vote | None:
    """The newest standing vote of a judge: what undo would take back."""
    return seat.votes.filter(withdrawn_at=None).select_related("matchup").order_by("-id").first()
