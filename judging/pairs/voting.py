"""Verbs: cast a vote, withdraw it, report a matchup. A vote is one transaction and never happens twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.db.models import Max
from django.utils.timezone import now
from django.utils.translation import gettext as _

from benchsite.lib.database.instances import new_instance
from generation.models import Run
from generation.protocols import PROTOCOLS
from generation.runs.staleness import AHEAD, mark_stale, mark_stale_after_commit, move_mark
from judging.disclosure import could_know_names, is_in_public
from judging.gold.answering import count_answer, is_told, make_answer
from judging.models import Epoch, GoldAnswer, Kind, Matchup, Report, Vote
from judging.pairs import NAME
from judging.pairs.changes import Changes
from judging.pairs.matchups import count_out, is_showable, samples_of
from judging.pairs.serving import (
    Screen,
    check_on_screen,
    check_open,
    fill_screen,
    present_line,
    put_back,
    read_line,
)
from judging.pairs.skipping import NOT_NOW, take_back_skip
from judging.pairs.tallies import add_vote, remove_vote
from judging.rules import rules_of
from judging.seats import RETRIES, RefusedError, StaleSeatError, refuse_many_reports, retried

LONGEST_MS = 3_600_000
IN_PUBLIC = "in public"  # why a pair does not come back: the public leaderboard counts the vote


@dataclass(frozen=True)
class Ballot:
    """What the judge said: the choice, and optionally time taken and fonts in which a side breaks (bits)."""

    outcome: str
    response_ms: int | None = None
    left_breaks: int = 0
    right_breaks: int = 0


@dataclass(frozen=True)
class Undone:
    """What the judge sees after undo; `put_away` is why the pair does not come back."""

    screen: Screen
    put_away: str = ""
    skip: bool = False


@dataclass(frozen=True)
class Cast:
    """A vote that stands, and what the judge sees next; `again` where it had been cast before."""

    matchup: Matchup
    vote: Vote | GoldAnswer
    screen: Screen
    again: bool = False


def cast_vote(*, judge: User, code: str, ballot: Ballot) -> Cast:
    """Store the vote and what comes next. Where something is not as it was read, all is read again."""
    last: Exception = StaleSeatError()
    for attempt in range(RETRIES):
        try:
            return _cast(judge, code, ballot, look_first=attempt > 0)
        except (StaleSeatError, IntegrityError) as error:
            last = error
    raise last


def _cast(judge: User, code: str, ballot: Ballot, *, look_first: bool) -> Cast:
    matchup, waiting, known = read_line(judge, code)
    if matchup.state == Matchup.State.VOTED:
        return _cast_before(matchup, waiting, ballot, known)
    check_open(matchup.run)
    check_on_screen(matchup)
    seat, moment = matchup.seat, now()
    changes = Changes(seat, look_first=look_first, while_open=True)
    if not is_showable(matchup):
        fill_screen(changes, waiting, known=known)
        changes.apply()
        raise RefusedError(
            "gone", _("A drawing of that pair was removed while you looked at it. Your vote was not counted.")
        )
    # A clock that was set back makes nobody wait.
    shortest = timedelta(seconds=settings.MIN_VOTE_SECONDS)
    if seat.last_vote_at and timedelta(0) <= moment - seat.last_vote_at < shortest:
        raise RefusedError("too_fast", _("That was very quick. Look again, then vote."))
    seat.last_vote_at = moment
    changes.move(matchup, Matchup.State.VOTED)
    vote: Vote | GoldAnswer
    if matchup.kind == Kind.GOLD:
        vote = make_answer(matchup, ballot.outcome, **_taken(matchup, ballot, moment))
        changes.answer(vote)
        count_answer(changes, vote, change=1)
    else:
        vote = _make_vote(matchup, judge, ballot, moment)
        seat.voted += 1
        changes.cast(vote)
        add_vote(changes, matchup, vote)
    screen = fill_screen(changes, [other for other in waiting if other.pk != matchup.pk], known=known)
    changes.apply()
    screen = Screen(seat, None, None) if seat.ended_at else screen
    mark_stale_after_commit(matchup.run_id, marked=matchup.run.scores_changed_at)
    return Cast(matchup, vote, screen)


def _cast_before(matchup: Matchup, waiting: list[Matchup], ballot: Ballot, known: Epoch | None) -> Cast:
    """A vote sent again, perhaps because its answer was lost: it stands, even where judging has been closed since."""
    vote = _standing(matchup)
    if vote.outcome != ballot.outcome:
        raise RefusedError(
            "recorded",
            _(
                "You already voted differently on that pair, so this vote was not counted. To change it, undo your "
                "earlier vote."
            ),
        )
    is_open = matchup.run.judging_state == Run.Judging.OPEN
    screen = present_line(matchup.seat, waiting, known) if is_open else Screen(matchup.seat, None, None)
    return Cast(matchup, vote, screen, again=True)


def _standing(matchup: Matchup) -> Vote | GoldAnswer:
    """The vote on a matchup that was read as voted; another tab may have undone it since."""
    if matchup.kind == Kind.GOLD:
        answer = matchup.gold_answers.standing().select_related("matchup", "gold").first()
        return answer or _raise_stale()
    return matchup.votes.standing().first() or _raise_stale()


def _raise_stale() -> NoReturn:
    raise StaleSeatError


def _taken(matchup: Matchup, ballot: Ballot, moment: datetime) -> dict[str, Any]:
    """When and how long. The time is the page's own, but never longer than the matchup has been open here; a clock may have
    been set back.
    """
    waited = int((moment - matchup.opened_at).total_seconds() * 1000) if matchup.opened_at else LONGEST_MS
    claimed = waited if ballot.response_ms is None else ballot.response_ms
    return {
        "at": moment,
        "response_ms": max(min(claimed, waited, LONGEST_MS), 0),
        "left_breaks": ballot.left_breaks,
        "right_breaks": ballot.right_breaks,
    }


def _make_vote(matchup: Matchup, judge: User, ballot: Ballot, moment: datetime) -> Vote:
    revealed = rules_of(matchup.run.code).judging.reveal == "after_vote"
    known = not revealed and could_know_names(matchup.run, judge, samples_of(matchup))
    taken = _taken(matchup, ballot, moment)
    values = {
        "outcome": ballot.outcome,
        "voted_at": taken.pop("at"),
        "unblind": revealed or known,
        "kept_out": known or matchup.kind == Kind.PICKED,
    }
    return new_instance(Vote, values | taken, matchup=matchup, run=matchup.run, seat=matchup.seat)


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
    """Withdraw the judge's vote on that matchup, or the skip, and put it back on the screen; what was there waits behind it.

    A pair that may not be shown now, because a drawing is held back or was taken out, stays away; so does one whose vote a
    public state may contain, or a judge could learn from that state who drew it, and vote again.
    """
    matchup, waiting, known = read_line(judge, code)
    check_open(matchup.run)
    if matchup.state == Matchup.State.SKIPPED:
        screen, away = take_back_skip(matchup, waiting, known)
        return Undone(screen, put_away=away, skip=True)
    if rules_of(matchup.run.code).judging.reveal == "after_vote":
        raise RefusedError("revealed", _("Names were shown after your vote, so it stands."))
    seat = matchup.seat
    if matchup.state != Matchup.State.VOTED:  # pressed twice, or never voted on
        return Undone(present_line(seat, waiting, known))
    if matchup.kind == Kind.GOLD and is_told(seat):
        raise RefusedError("told", _("You were told that this pair was an attention check, so your answer stands."))
    vote, changes = _standing(matchup), Changes(seat, while_open=True)
    if isinstance(vote, GoldAnswer):
        changes.withdraw_answer(vote)
        count_answer(changes, vote, change=-1)
        # A vote in the check's place would be in every state that was read since.
        in_public = matchup.run.public_states.filter(protocol=NAME, read_at__gte=vote.answered_at).exists()
    else:
        seat.voted -= 1
        changes.withdraw(vote, judge.pk)
        remove_vote(changes, matchup, vote)
        in_public = is_in_public(matchup.run, NAME, vote.pk)
    away = NOT_NOW if not is_showable(matchup) else IN_PUBLIC if in_public else ""
    screen = _put_away(changes, matchup, waiting, known) if away else put_back(changes, matchup, waiting)
    changes.apply()
    # In the transaction too: an undo leaves no newer vote by which a lost mark could be noticed.
    mark_stale(matchup.run_id)
    return Undone(screen, put_away=away)


def _put_away(changes: Changes, matchup: Matchup, waiting: list[Matchup], known: Epoch | None) -> Screen:
    changes.move(matchup, Matchup.State.VOID)
    count_out(matchup)
    return fill_screen(changes, waiting, known=known)


@retried
def report_matchup(*, judge: User, code: str, side: str, reason: str, note: str = "") -> Screen:
    """Take the pair off the judge's screen for good and tell the curators why."""
    matchup, waiting, known = read_line(judge, code)
    check_open(matchup.run)
    if matchup.state == Matchup.State.VOID and matchup.reports.exists():
        return present_line(matchup.seat, waiting, known)
    if matchup.state == Matchup.State.VOTED:
        raise RefusedError("recorded", _("You have voted on this pair. Undo the vote first."))
    check_on_screen(matchup)
    recent = Report.objects.filter(matchup__seat__judge=judge, created_at__gte=now() - timedelta(hours=1))
    refuse_many_reports(recent.count())
    changes = Changes(matchup.seat, while_open=True)
    changes.move(matchup, Matchup.State.VOID)
    count_out(matchup)
    changes.then(lambda: Report.objects.create(matchup=matchup, side=side, reason=reason, note=note))
    screen = fill_screen(changes, [other for other in waiting if other.pk != matchup.pk], known=known)
    changes.apply()
    return screen
