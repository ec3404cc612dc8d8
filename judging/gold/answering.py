"""What an answer to a check changes: the seat's counts, and what the rule says once somebody has failed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from django.db.models import F
from django.utils.timezone import now
from django.utils.translation import gettext as _

from generation.models import Event
from generation.runs.staleness import mark_stale
from judging.gold.placing import rule_of
from judging.gold.verdicts import has_failed, verdict_of
from judging.models import GoldAnswer, Matchup, Report, Seat
from judging.models.gold import choice_of

REASON = "Failed the attention checks."


class Collected(Protocol):
    """What one request changes of a seat: `judging.pairs.changes.Changes`."""

    seat: Seat

    def then(self, follow: Callable[[], object]) -> None: ...


def make_answer(matchup: Matchup, outcome: str, *, at: datetime, **taken: Any) -> GoldAnswer:
    """The answer by drawing, from the key that was pressed and the sides that were shown."""
    if matchup.gold is None:
        raise ValueError(f"{matchup} is no check.")
    choice = choice_of(outcome, better_is_left=matchup.left_sample_id == matchup.gold.better_id)
    return GoldAnswer(
        matchup=matchup,
        gold=matchup.gold,
        run=matchup.run,
        seat=matchup.seat,
        choice=choice,
        answered_at=at,
        **taken,
    )


def count_answer(changes: Collected, answer: GoldAnswer, *, change: int) -> None:
    """Count an answer, or take it out again, and follow the rule in the same transaction."""
    seat, verdict = changes.seat, verdict_of(answer.choice)
    seat.gold_answered += change
    seat.gold_passed += change * (verdict == "passed")
    seat.gold_failed += change * (verdict == "failed")
    _follow_rule(changes)


def failed_checks(seat: Seat) -> bool:
    rule = rule_of(seat)
    return rule is not None and has_failed(rule, passed=seat.gold_passed, failed=seat.gold_failed)


def checks_in_words(seat: Seat) -> str:
    return f"{seat.gold_failed} of {seat.gold_answered} attention checks wrong"


def is_of_damage(report: Report) -> bool:
    """Whether a judge reported what the site itself damaged: no drawing is at fault."""
    matchup = report.matchup
    if matchup.gold is None or not matchup.gold.damaged:
        return False
    damaged = "left" if matchup.left_sample_id == matchup.gold.worse_id else "right"
    return report.side in (damaged, Report.Side.BOTH)


def _follow_rule(changes: Collected) -> None:
    seat, rule = changes.seat, rule_of(changes.seat)
    if rule is None or rule.on_failure == "flag":
        return
    failed = failed_checks(seat)
    if rule.on_failure == "end" and failed:
        seat.ended_at = now()
        ended = seat.ended_at
        changes.then(lambda: Seat.objects.filter(pk=seat.pk).update(ended_at=ended, version=F("version") + 1))
    elif rule.on_failure == "weight_0" and failed and seat.weight == 1:
        changes.then(lambda: _weigh(seat, 0, REASON, Event.Verb.SET_JUDGE_ASIDE))
    elif rule.on_failure == "weight_0" and not failed and seat.excluded_reason == REASON:
        changes.then(lambda: _weigh(seat, 1, "", Event.Verb.LET_JUDGE_IN))


def _weigh(seat: Seat, weight: float, reason: str, verb: Event.Verb) -> None:
    """As a curator would, but by the rule; a run that is frozen takes no votes, and so comes here no more."""
    Seat.objects.filter(pk=seat.pk).update(weight=weight, excluded_reason=reason)
    seat.weight, seat.excluded_reason = weight, reason
    why = reason or "An answer to an attention check was taken back."
    Event.objects.create(run=seat.run, verb=verb, subject=str(seat), reason=why)
    mark_stale(seat.run_id)


def feedback_on(answer: GoldAnswer) -> str:
    """What the judge reads after a check in a study that says so; empty where checks are silent."""
    rule = rule_of(answer.seat)
    if rule is None or not rule.feedback:
        return ""
    verdict = verdict_of(answer.choice)
    if verdict == "passed":
        return _("That pair was an attention check, and you answered it right.")
    return _("That pair was an attention check: one of its drawings is clearly the better one. Please look closely.")
