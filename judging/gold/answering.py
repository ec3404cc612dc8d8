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
    failed_before = failed_checks(seat)
    seat.gold_answered += change
    seat.gold_passed += change * (verdict == "passed")
    seat.gold_failed += change * (verdict == "failed")
    if failed_checks(seat) != failed_before:
        _follow_rule(changes, failed=not failed_before)


def failed_checks(seat: Seat) -> bool:
    rule = rule_of(seat)
    return rule is not None and has_failed(rule, passed=seat.gold_passed, failed=seat.gold_failed)


def checks_in_words(seat: Seat) -> str:
    return f"{seat.gold_failed} of {seat.gold_answered} attention checks wrong"


def blamed_side(report: Report) -> str:
    """The side whose drawing a report is about, or both; empty where it is about nothing but what the site itself damaged."""
    matchup = report.matchup
    if matchup.gold is None or not matchup.gold.damaged:
        return report.side
    damaged, intact = Report.Side.LEFT, Report.Side.RIGHT
    if matchup.right_sample_id == matchup.gold.worse_id:
        damaged, intact = intact, damaged
    return "" if report.side == damaged else intact


def _follow_rule(changes: Collected, *, failed: bool) -> None:
    """Only when somebody fails, or has no longer failed: in between, a curator's word about the judge stands."""
    seat, rule = changes.seat, rule_of(changes.seat)
    if rule is None:
        return
    if rule.on_failure == "end" and failed:
        seat.ended_at = now()
        ended = seat.ended_at
        changes.then(lambda: Seat.objects.filter(pk=seat.pk).update(ended_at=ended, version=F("version") + 1))
    elif rule.on_failure == "weight_0" and failed and seat.weight > 0:
        changes.then(lambda: _set_aside(seat))
    elif rule.on_failure == "weight_0" and not failed and seat.excluded_reason == REASON:
        changes.then(lambda: _let_in(seat))


def _set_aside(seat: Seat) -> None:
    """As a curator would, but by the rule; a run that is frozen takes no votes, and so comes here no more."""
    before = {"weight": seat.weight, "reason": seat.excluded_reason}
    if _weigh(seat, 0, REASON):
        _record(seat, Event.Verb.SET_JUDGE_ASIDE, REASON, facts=before)


def _let_in(seat: Seat) -> None:
    """With the weight from before."""
    aside = Event.objects.filter(run=seat.run_id, verb=Event.Verb.SET_JUDGE_ASIDE, subject=str(seat), reason=REASON)
    facts = aside.order_by("-id").values_list("facts", flat=True).first() or {}
    weight = facts.get("weight", 1)
    if _weigh(seat, weight, facts.get("reason", "")):
        verb = Event.Verb.LET_JUDGE_IN if weight == 1 else Event.Verb.WEIGH_JUDGE
        _record(seat, verb, "An answer to an attention check was taken back.")


def _weigh(seat: Seat, weight: float, reason: str) -> bool:
    """False where a curator weighed the judge since the seat was read: that stands."""
    as_read = Seat.objects.filter(pk=seat.pk, weight=seat.weight, excluded_reason=seat.excluded_reason)
    if not as_read.update(weight=weight, excluded_reason=reason):
        return False
    seat.weight, seat.excluded_reason = weight, reason
    return True


def _record(seat: Seat, verb: Event.Verb, reason: str, *, facts: dict[str, Any] | None = None) -> None:
    subject = str(seat) if seat.weight in (0, 1) else f"{seat} at {seat.weight:g}"
    Event.objects.create(run=seat.run, verb=verb, subject=subject, reason=reason, facts=facts or {})
    mark_stale(seat.run_id)


def is_told(seat: Seat) -> bool:
    """Whether the judge learns after each check that it was one. Its first answer stands then, or everybody would pass."""
    rule = rule_of(seat)
    return rule is not None and rule.feedback


def feedback_on(answer: GoldAnswer) -> str:
    """What the judge reads after a check in a study that says so; empty where checks are silent."""
    if not is_told(answer.seat):
        return ""
    verdict = verdict_of(answer.choice)
    if verdict == "passed":
        return _("That pair was an attention check, and you answered it right.")
    return _("That pair was an attention check: one of its drawings is clearly the better one. Please look closely.")
