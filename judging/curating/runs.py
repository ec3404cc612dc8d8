"""Verbs of a curator: open and close judging, say how much a judge counts, decide on reports."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils.timezone import now

from generation.models import Event, Run, Sample
from generation.runs.curating import exclude_samples
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.staleness import mark_stale
from judging.disclosure import names_were_shown, standings_were_shown
from judging.gold.answering import blamed_side
from judging.gold.pool import fill_pool, rule_for
from judging.grades.sheets import step_sheet
from judging.models import GradeItem, GradeSheet, Report, Seat
from judging.pairs.epochs import newest_epoch, refresh_epoch

STATES = {"open": Run.Judging.OPEN, "pause": Run.Judging.PAUSED, "close": Run.Judging.CLOSED}
SET_JUDGING = {
    "open": Event.Verb.OPEN_JUDGING,
    "pause": Event.Verb.PAUSE_JUDGING,
    "close": Event.Verb.CLOSE_JUDGING,
}
WEIGHTS = {0.0: Event.Verb.SET_JUDGE_ASIDE, 1.0: Event.Verb.LET_JUDGE_IN}
SHOWN_BEFORE = "Standings were shown before judging was opened: adaptive pairs would tell judges who is close to whom."
DECISIONS = {"excluded": Event.Verb.REPORT_EXCLUDED, "dismissed": Event.Verb.REPORT_DISMISSED}


@transaction.atomic
def set_judging(*, run: Run, verb: str, by: User | None, reason: str = "") -> None:
    """Open, pause or close judging. Opening looks at the samples anew.

    Opened again after names were shown, it keeps later votes and grades on the drawings of before out of the ratings, and
    pairs are balanced.
    """
    if verb == "open":
        refuse_frozen(run)
        _refuse_unread(run)
        if run.judging_state == Run.Judging.CLOSED and names_were_shown(run):
            run.names_shown_at = now()
        if run.adaptive_pairs and standings_were_shown(run):
            run.adaptive_pairs = False
            Event.objects.create(run=run, actor=by, verb=Event.Verb.BALANCED_PAIRS, reason=SHOWN_BEFORE)
    run.judging_state = STATES[verb]
    run.save(update_fields=["judging_state", "names_shown_at", "adaptive_pairs"])
    if verb == "open":
        refresh_epoch(run)
        if rule_for(run):
            fill_pool(run, by=by)
    if verb == "close":
        mark_stale(run.pk)  # for what leaderboards do not state while people judge
    Event.objects.create(run=run, actor=by, verb=SET_JUDGING[verb], reason=reason)


def _refuse_unread(run: Run) -> None:
    """Earlier releases believed an archive's drawings; judges see only what this site's readers made of the answers."""
    read = Q(verb=Event.Verb.IMPORT_RUN, facts__reread=True) | Q(verb=Event.Verb.REREAD_RUN)
    if run.events.filter(verb=Event.Verb.IMPORT_RUN).exists() and not run.events.filter(read).exists():
        raise RunError(
            f"The drawings of run {run.code} are those of an imported archive and were never read here. "
            "Read all answers again (an action on Runs in the admin, or `reread`), then open judging."
        )


@transaction.atomic
def weigh_judge(*, seat: Seat, weight: float, by: User | None, reason: str) -> None:
    """Let a judge's votes count fully (1), in part, or not at all in the ranking; they stay on record unchanged."""
    refuse_frozen(seat.run)
    seat.weight, seat.excluded_reason = weight, "" if weight == 1 else reason
    if seat.panel == Seat.Panel.ARENA and weight > 0:
        if weight < 1:
            raise RunError(
                f"{seat} is in the open arena, whose judges are weighed by their votes. Set it aside, or let it in."
            )
        seat.weight, seat.excluded_reason = 0.0, Seat.APART  # let in again, to the arena
    seat.save(update_fields=["weight", "excluded_reason"])
    verb = WEIGHTS.get(weight, Event.Verb.WEIGH_JUDGE)
    subject = str(seat) if weight in WEIGHTS else f"{seat} at {weight:g}"
    Event.objects.create(run=seat.run, actor=by, verb=verb, subject=subject, reason=reason)
    mark_stale(seat.run_id)


@transaction.atomic
def decide_report(*, report: Report, exclude: bool, by: User, reason: str = "") -> bool:
    """Exclude the reported drawing or drawings from judging, or dismiss the report. False if it was decided before."""
    run, matchup = report.matchup.run, report.matchup
    decision = "excluded" if exclude else "dismissed"
    undecided = Report.objects.filter(pk=report.pk, decided_at=None)
    if undecided.update(decision=decision, decided_by=by, decided_at=now()) != 1:
        return False
    reason = reason or f"reported by a judge: {report.reason}"
    Event.objects.create(run=run, actor=by, verb=DECISIONS[decision], subject=str(matchup), reason=reason)
    if exclude:
        sides = {"left": matchup.left_sample_id, "right": matchup.right_sample_id}
        samples = [pk for side, pk in sides.items() if pk and blamed_side(report) in (side, Report.Side.BOTH)]
        exclude_samples(Sample.objects.filter(pk__in=samples), by=by, reason=reason)
        refresh_epoch(run)
    return True


@transaction.atomic
def decide_item(*, item: GradeItem, exclude: bool, by: User, reason: str = "") -> bool:
    """Exclude the reported drawing from judging and the scores, or put it back on the list. False if decided before."""
    run = item.seat.run
    if exclude:
        refuse_frozen(run)
    decision = "excluded" if exclude else "dismissed"
    undecided = GradeItem.objects.filter(pk=item.pk, decision="").exclude(reported_at=None)
    back = {} if exclude else {"reported_at": None}
    if undecided.update(decision=decision, decided_by=by, **back) != 1:
        return False
    item.refresh_from_db(fields=["reason", "note"])
    logged = reason or ": ".join(filter(None, (item.reason, item.note)))
    Event.objects.create(
        run=run, actor=by, verb=DECISIONS[decision], subject=f"drawing {item.sample.code}", reason=logged
    )
    if exclude:
        reported = Sample.objects.filter(pk=item.sample_id)
        exclude_samples(reported, by=by, reason=reason or f"reported by a judge: {item.reason}")
        if newest_epoch(run) is not None:
            refresh_epoch(run)
    else:
        sheet = GradeSheet.objects.get(seat=item.seat_id)
        step_sheet(sheet, items=sheet.items + 1, graded=sheet.graded + (item.graded_at is not None))
    mark_stale(run.pk)
    return True
