"""What a curator sees of a run's judging: coverage, shortfalls, the judges' progress and votes per hour."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, TruncHour
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import now

from generation.models import Entrant, Run
from judging.models import JudgeTally, Matchup, Outcome, ResetLink, Seat
from judging.pairs.epochs import load_table, newest_epoch
from judging.rules import rules_of

HOURS = 48  # of the chart of votes
WIDTH, HEIGHT, GAP = 480, 64, 2  # of the chart


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
    by_pair = {}
    for number, row in enumerate(entrants):
        for column in entrants[:number]:
            low, high = sorted((row.pk, column.pk))
            by_pair[row.pk, column.pk] = tuple(
                (label, counts[low, high, key], showable is None or (low, high, key) in showable)
                for key, label in labels.items()
            )
    most = max((sum(n for _, n, _ in cells) for cells in by_pair.values()), default=0)

    def cell(row: Entrant, column: Entrant) -> Cell:
        by_category = by_pair[row.pk, column.pk]
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
    sentences = [f"{label} has no drawing that can be judged." for label in absent]
    rules = rules_of(run.code)
    impossible = Counter(category for pair, category in table.gaps() if pair in table.common)
    sentences += [
        f"{count} pairs have no common prompt in {rules.label(category)}."
        for category, count in sorted(impossible.items())
    ]
    questions = len(table.questions)
    thin = [
        f"{names[entrant]} lacks a drawing for {missing} of {questions} prompts."
        for number, entrant in enumerate(table.entrants)
        if (missing := questions - sum((number, q) in table.drawings for q in range(questions)))
    ]
    return sentences + thin


def judge_progress(run: Run) -> list[tuple[Seat, dict[str, int]]]:
    """The run's seats, the busiest first, with their standing votes by outcome, and their skips."""
    tallies = JudgeTally.objects.filter(run=run).order_by().values_list("seat", "outcome")
    counts = {(seat, outcome): votes for seat, outcome, votes in tallies.annotate(Sum("votes"))}
    waiting = ResetLink.objects.waiting().filter(judge=OuterRef("judge"))
    skipped = (
        Matchup.objects.filter(seat=OuterRef("pk"), state=Matchup.State.SKIPPED, gold=None).order_by().values("seat")
    )
    skips = Coalesce(Subquery(skipped.annotate(n=Count("id")).values("n")), 0)
    seats = run.seats.select_related("judge").defer("plan").annotate(unconfirmed=Exists(waiting), skips=skips)
    seats = seats.order_by("-voted", "id")
    return [
        (seat, {out: counts.get((seat.pk, out), 0) for out in Outcome.values} | {"skip": seat.skips}) for seat in seats
    ]


def votes_per_hour(run: Run) -> list[tuple[datetime, int]]:
    """Votes in each of the last hours, oldest first, hours without any included."""
    end = now().replace(minute=0, second=0, microsecond=0)
    start = end - timedelta(hours=HOURS - 1)
    votes = run.votes.standing().filter(voted_at__gte=start).order_by()
    counts = dict(votes.annotate(hour=TruncHour("voted_at")).values_list("hour").annotate(Count("id")))
    return [(hour, counts.get(hour, 0)) for hour in (start + timedelta(hours=n) for n in range(HOURS))]


def hour_bars(hours: list[tuple[datetime, int]]) -> SafeString:
    """One bar an hour; the figures stand in a table beside it for those who cannot see it."""
    most = max((votes for _, votes in hours), default=0) or 1
    step = WIDTH / max(len(hours), 1)
    bars = [
        (
            f"{n * step:.1f}",
            f"{HEIGHT - HEIGHT * v / most:.1f}",
            f"{step - GAP:.1f}",
            f"{HEIGHT * v / most:.1f}",
            hour,
            v,
        )
        for n, (hour, v) in enumerate(hours)
    ]
    drawn = format_html_join("", '<rect x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>', bars)
    box = f"0 0 {WIDTH} {HEIGHT}"
    return format_html(
        '<svg class="hours" viewBox="{}" preserveAspectRatio="none" role="img" aria-label="Votes per hour">{}</svg>',
        box,
        drawn,
    )
