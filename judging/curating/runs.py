"""Verbs of a curator: open and close judging, say how much a judge counts, decide on reports; and the figures for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Sum
from django.db.models.functions import TruncHour
from django.utils.timezone import now

from generation.models import Entrant, Event, Run, Sample
from generation.runs.curating import exclude_samples
from generation.runs.lifecycle import refuse_frozen
from generation.runs.staleness import mark_scores
from judging.grades.sheets import step_sheet
from judging.models import GradeItem, GradeSheet, JudgeTally, Outcome, Report, Seat, Vote
from judging.pairs.epochs import load_table, newest_epoch, refresh_epoch
from judging.rules import rules_of

STATES = {"open": Run.Judging.OPEN, "pause": Run.Judging.PAUSED, "close": Run.Judging.CLOSED}
HOURS = 48  # of the chart of votes


@transaction.atomic
def set_judging(*, run: Run, verb: str, by: User | None, reason: str = "") -> None:
    """Open, pause or close judging. Opening looks at the samples anew."""
    if verb == "open":
        refuse_frozen(run)
    run.judging_state = STATES[verb]
    run.save(update_fields=["judging_state"])
    if verb == "open":
        refresh_epoch(run)
    Event.objects.create(run=run, actor=by, verb=f"{verb} judging", reason=reason)


@transaction.atomic
def weigh_judge(*, seat: Seat, weight: float, by: User, reason: str) -> None:
    """Let a judge's votes count fully (1), in part, or not at all in the ranking; they stay on record unchanged."""
    refuse_frozen(seat.run)
    seat.weight, seat.excluded_reason = weight, "" if weight == 1 else reason
    seat.save(update_fields=["weight", "excluded_reason"])
    verb = {0: "set judge aside", 1: "let judge in"}.get(weight, f"weigh judge at {weight:g}")
    Event.objects.create(run=seat.run, actor=by, verb=verb, subject=str(seat), reason=reason)
    mark_scores(seat.run_id)


@transaction.atomic
def decide_report(*, report: Report, exclude: bool, by: User, reason: str = "") -> bool:
    """Exclude the reported drawing or drawings from judging, or dismiss the report. False if it was decided before."""
    run, matchup = report.matchup.run, report.matchup
    decision = "excluded" if exclude else "dismissed"
    undecided = Report.objects.filter(pk=report.pk, decided_at=None)
    if undecided.update(decision=decision, decided_by=by, decided_at=now()) != 1:
        return False
    said = reason or f"reported by a judge: {report.reason}"
    Event.objects.create(run=run, actor=by, verb=f"report {decision}", subject=str(matchup), reason=said)
    if exclude:
        sides = {"left": [matchup.left_sample_id], "right": [matchup.right_sample_id]}
        samples = sides.get(report.side) or [matchup.left_sample_id, matchup.right_sample_id]
        exclude_samples(Sample.objects.filter(pk__in=samples), by=by, reason=said)
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
    said = reason or ": ".join(filter(None, (item.reason, item.note)))
    Event.objects.create(
        run=run, actor=by, verb=f"report {decision}", subject=f"drawing {item.sample.code}", reason=said
    )
    if exclude:
        reported = Sample.objects.filter(pk=item.sample_id)
        exclude_samples(reported, by=by, reason=reason or f"reported by a judge: {item.reason}")
        if newest_epoch(run) is not None:
            refresh_epoch(run)
    else:
        sheet = GradeSheet.objects.get(seat=item.seat_id)
        step_sheet(sheet, items=sheet.items + 1, graded=sheet.graded + (item.graded_at is not None))
    mark_scores(run.pk)
    return True


@dataclass(frozen=True)
class Cell:
    """One pair of entrants in the coverage map: votes in all and by category; `possible` where drawings allow any."""

    row: Entrant
    column: Entrant
    votes: int
    by_category: tuple[tuple[str, int, bool], ...]
    level: int  # 0 to 4, for the shade

    @property
    def possible(self) -> bool:
        return any(possible for *_, possible in self.by_category)


def coverage_map(run: Run) -> list[tuple[Entrant, list[Cell]]]:
    """Votes (repeats apart) for each pair and category, as the lower triangle of a table."""
    rows = JudgeTally.objects.filter(run=run, is_repeat=False).order_by().values_list("left", "right", "category")
    counts: Counter[tuple[int, int, str]] = Counter()
    for left, right, category, votes in rows.annotate(Sum("votes")):
        counts[min(left, right), max(left, right), category] += votes
    entrants = list(run.entrants.filter(disqualified=""))
    labels = rules_of(run.code).categories or {category: category for *_, category in counts}
    showable = _showable(run)
    found = {}
    for number, row in enumerate(entrants):
        for column in entrants[:number]:
            low, high = sorted((row.pk, column.pk))
            found[row.pk, column.pk] = tuple(
                (label, counts[low, high, key], showable is None or (low, high, key) in showable)
                for key, label in labels.items()
            )
    most = max((sum(n for _, n, _ in cells) for cells in found.values()), default=0)

    def cell(row: Entrant, column: Entrant) -> Cell:
        by_category = found[row.pk, column.pk]
        votes = sum(n for _, n, _ in by_category)
        return Cell(row, column, votes, by_category, round(4 * votes / most) if most else 0)

    return [(row, [cell(row, column) for column in entrants[:number]]) for number, row in enumerate(entrants)]


def _showable(run: Run) -> set[tuple[int, int, str]] | None:
    """Pairs of entrants and the categories in which both have a drawing; None before anything was looked at."""
    epoch = newest_epoch(run)
    if epoch is None:
        return None
    table, _ = load_table(epoch.pk, epoch.seed)
    names, categories = table.entrants, table.categories
    return {(names[a], names[b], categories[q]) for (a, b), common in table.common.items() for q in common}


def shortfalls(run: Run) -> list[str]:
    """Sentences about what the present epoch cannot balance."""
    epoch = newest_epoch(run)
    if epoch is None:
        return []
    table, _ = load_table(epoch.pk, epoch.seed)
    names = dict(run.entrants.values_list("pk", "label"))
    absent = [label for pk, label in names.items() if pk not in table.entrants]
    said = [f"{label} has no drawing that can be judged." for label in absent]
    rules = rules_of(run.code)
    impossible = Counter(category for pair, category in table.gaps() if pair in table.common)
    said += [
        f"{count} pairs have no common prompt in {rules.label(category)}."
        for category, count in sorted(impossible.items())
    ]
    questions = len(table.questions)
    thin = [
        f"{names[entrant]} lacks a drawing for {missing} of {questions} prompts."
        for number, entrant in enumerate(table.entrants)
        if (missing := questions - sum((number, q) in table.drawings for q in range(questions)))
    ]
    return said + thin


def judge_progress(run: Run) -> list[tuple[Seat, dict[str, int]]]:
    """The run's seats, the busiest first, with their standing votes by outcome."""
    tallies = JudgeTally.objects.filter(run=run).order_by().values_list("seat", "outcome")
    counts = {(seat, outcome): votes for seat, outcome, votes in tallies.annotate(Sum("votes"))}
    seats = run.seats.select_related("judge").defer("plan").order_by("-voted", "id")
    return [(seat, {outcome: counts.get((seat.pk, outcome), 0) for outcome in Outcome.values}) for seat in seats]


def votes_per_hour(run: Run) -> list[tuple[datetime, int]]:
    """Votes in each of the last hours, oldest first, hours without any included."""
    end = now().replace(minute=0, second=0, microsecond=0)
    start = end - timedelta(hours=HOURS - 1)
    votes = Vote.objects.filter(run=run, voted_at__gte=start, withdrawn_at=None).order_by()
    found = dict(votes.annotate(hour=TruncHour("voted_at")).values_list("hour").annotate(Count("id")))
    return [(hour, found.get(hour, 0)) for hour in (start + timedelta(hours=n) for n in range(HOURS))]
