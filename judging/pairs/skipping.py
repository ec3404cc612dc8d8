"""Verbs: skip a matchup, and take that back. A skip is an answer, but no vote: it is counted apart and in no rating."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.timezone import now
from django.utils.translation import gettext as _

from judging.gold.placing import shown_done
from judging.models import Epoch, Matchup, Seat
from judging.pairs.changes import Changes
from judging.pairs.matchups import count_in, count_out, is_showable
from judging.pairs.serving import (
    Screen,
    check_on_screen,
    check_open,
    fill_screen,
    present_line,
    put_back,
    read_line,
)
from judging.seats import RefusedError, retried

FREE, ONE_IN = 5, 5
NOT_NOW = "not now"  # why a pair does not come back


def skips_left(seat: Seat) -> int:
    """A judge may skip five pairs, and one more for every five votes: who could skip at will could fish for pairs."""
    skipped = Matchup.objects.filter(seat=seat, state=Matchup.State.SKIPPED).count()
    return max(FREE + shown_done(seat) // ONE_IN - skipped, 0)


@retried
def skip_matchup(*, judge: User, code: str) -> tuple[Matchup, Screen]:
    """Take the pair off the judge's screen without a vote. It keeps no place in the quota, and other judges still get it."""
    matchup, waiting, known = read_line(judge, code)
    seat, moment = matchup.seat, now()
    check_open(matchup.run)
    if matchup.state == Matchup.State.SKIPPED:  # sent again, perhaps because the answer was lost
        return matchup, present_line(seat, waiting, known)
    if matchup.state == Matchup.State.VOTED:
        raise RefusedError("recorded", _("You have voted on this pair. Undo the vote first."))
    check_on_screen(matchup)
    shortest = timedelta(seconds=settings.MIN_VOTE_SECONDS)
    if matchup.opened_at and timedelta(0) <= moment - matchup.opened_at < shortest:
        raise RefusedError("too_fast", _("That was very quick. Look again, then vote."))
    others = [other for other in waiting if other.pk != matchup.pk]
    changes = Changes(seat, while_open=True)
    if is_showable(matchup):  # else a drawing was taken out meanwhile, and the pair goes for good
        _check_limit(seat)
        changes.move(matchup, Matchup.State.SKIPPED)
        count_out(matchup)
        waiting = others
    screen = fill_screen(changes, waiting, known=known)
    changes.apply()
    return matchup, screen


def _check_limit(seat: Seat) -> None:
    if not skips_left(seat):
        raise RefusedError(
            "skips",
            _(
                "You can skip %(free)s pairs, and one more for every %(one_in)s votes. "
                "Where neither is better, choose both good or both bad."
            )
            % {"free": FREE, "one_in": ONE_IN},
        )


def take_back_skip(matchup: Matchup, waiting: list[Matchup], known: Epoch | None) -> tuple[Screen, str]:
    """Put a skipped pair back on the screen; or, where it may not be shown now, the screen as it is and why."""
    seat = matchup.seat
    if not is_showable(matchup):
        return present_line(seat, waiting, known), NOT_NOW
    changes = Changes(seat, while_open=True)
    screen = put_back(changes, matchup, waiting)
    count_in(matchup)
    changes.apply()
    return screen, ""
