"""Where the ORM meets numpy: a run's votes as columns, its tallies as cells, its samples and costs by entrant."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count, Q, QuerySet, Sum

from generation.models import Entrant, ProviderCall, Run, Sample
from judging.models import JudgeTally, Matchup, PromptTally, Vote, VoteQuerySet
from judging.pairs.tallies import activity_of
from ranking.statistics.samples import SampleRate, sample_rate
from ranking.statistics.votes import KINDS, OUTCOME_NUMBERS, Cells, Tallies, Votes, make_votes

KIND_NUMBERS = {name: number for number, name in enumerate(KINDS)}
VOTE_COLUMNS = (
    *("matchup__left_id", "matchup__right_id", "outcome", "seat_id", "matchup__prompt_id", "matchup__category"),
    *("matchup__left_sample__attempt", "matchup__right_sample__attempt", "matchup__kind"),
    *("voted_at", "response_ms", "withdrawn_at"),
    *("matchup__left_sample__excluded_reason", "matchup__right_sample__excluded_reason"),
)
ROUNDING = 1e-6  # of a vote: what sums of weights may leave of nothing
EXCLUDED = 0.0  # seconds: as if withdrawn before anybody voted


@dataclass(frozen=True)
class Names:
    """Name tables in order of the alphabet, as a file's reader makes them, and the number of each database id.

    Two prompts of the same words are one prompt here, as they are in a file.
    """

    names: tuple[str, ...]
    number: Mapping[Any, int]

    def numbers(self, ids: Iterable[Any]) -> list[int]:
        return [self.number.get(i, -1) for i in ids]


def make_names(pairs: Iterable[tuple[Any, str]]) -> Names:
    pairs = list(pairs)
    names = tuple(sorted({name for _, name in pairs}))
    place = {name: number for number, name in enumerate(names)}
    return Names(names, {key: place[name] for key, name in pairs})


@dataclass(frozen=True)
class RunNames:
    """The four name tables of a run."""

    entrants: Names
    judges: Names
    prompts: Names
    categories: Names
    category_of: Mapping[int, str]  # prompt id -> category


def run_names(run: Run) -> RunNames:
    prompts = list(run.prompts.values_list("id", "text", "category"))
    seats = run.seats.filter(is_unknown=False).values_list("id", "pseudonym")
    voted = JudgeTally.objects.filter(run=run).exclude(category="").order_by().values_list("category", flat=True)
    return RunNames(
        entrants=make_names(run.entrants.values_list("id", "name")),
        judges=make_names(seats),
        prompts=make_names((pk, text) for pk, text, _ in prompts),
        categories=make_names((name, name) for name in {*voted.distinct(), *(c for *_, c in prompts if c)}),
        category_of={pk: category for pk, _, category in prompts},
    )


def votes_of(run: Run, *, until: datetime | None = None) -> Votes:
    """Every vote of the run as columns, withdrawn ones too, in order of time (see `standing_votes`); none kept out."""
    names = run_names(run)
    rows = Vote.objects.filter(run=run, kept_out=False).order_by("voted_at", "id")
    if until is not None:
        rows = rows.filter(voted_at__lte=until)
    columns: list[list[Any]] = [[] for _ in VOTE_COLUMNS]
    for row in rows.values_list(*VOTE_COLUMNS).iterator(chunk_size=5000):
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    left, right, outcome, seat, prompt, category, left_attempt, right_attempt, kind, time, pace, *ends = columns
    return make_votes(
        entrants=names.entrants.names,
        judges=names.judges.names,
        prompts=names.prompts.names,
        categories=names.categories.names,
        left=names.entrants.numbers(left),
        right=names.entrants.numbers(right),
        outcome=[OUTCOME_NUMBERS[name] for name in outcome],
        judge=names.judges.numbers(seat),
        prompt=names.prompts.numbers(prompt),
        category=names.categories.numbers(category),
        left_attempt=[-1 if attempt is None else attempt for attempt in left_attempt],
        right_attempt=[-1 if attempt is None else attempt for attempt in right_attempt],
        kind=[KIND_NUMBERS[name] for name in kind],
        time=[moment.timestamp() for moment in time],
        response_ms=[np.nan if ms is None else ms for ms in pace],
        withdrawn=[_withdrawn(*end) for end in zip(*ends, strict=True)],
    )


def _withdrawn(moment: datetime | None, left_excluded: str | None, right_excluded: str | None) -> float:
    """A vote on a drawing that a curator excluded stays on record and counts nowhere, in past leaderboards neither."""
    if left_excluded or right_excluded:
        return EXCLUDED
    return np.inf if moment is None else moment.timestamp()


def tallies_of(run: Run, *, weights: Mapping[str, float]) -> Tallies:
    """The run's kept counts; their number does not grow with votes. Judges of weight 0 are left out of both ways.

    Votes on excluded drawings are in the kept counts, and are taken off here. Counts by prompt come weighted.
    """
    names = run_names(run)
    named = {pk: names.judges.names[number] for pk, number in names.judges.number.items()}
    weighed = {pk: weights[name] for pk, name in named.items() if weights.get(name, 1) < 1}
    left_out = [pk for pk, weight in weighed.items() if weight == 0]
    counted = JudgeTally.objects.filter(run=run, is_repeat=False, votes__gt=0).exclude(seat__in=left_out)
    rows = counted.values_list("seat_id", "category", "left_id", "right_id", "outcome", "votes")
    away = excluded_votes(run, "seat_id", "matchup__category")
    by_judge = [(*row[:-1], left) for row in rows if (left := row[-1] - away.get(row[:-1], 0)) > 0]
    kept, activity = activities(run)
    by_prompt = prompt_rows(run, weighed=weighed, by_judge=by_judge, names=names, kept=kept, activity=activity)
    return without_unseen(names, by_judge, by_prompt, weights, activity)


def activities(run: Run) -> tuple[dict[int, int], dict[int, int]]:
    """Classes of activity by seat: as the tallies have them, and as they are without votes that do not count."""
    seats = list(run.seats.all())
    kept = {seat.pk: activity_of(seat) for seat in seats}
    votes = votes_on_excluded(run)
    gone = Counter({} if votes is None else dict(votes.order_by().values_list("seat_id").annotate(Count("id"))))
    unblind = run.votes.standing().filter(kept_out=True).order_by()
    gone.update(dict(unblind.values_list("seat_id").annotate(Count("id"))))
    return kept, {seat.pk: activity_of(seat, voted=seat.voted - gone[seat.pk]) for seat in seats}


def prompt_rows(
    run: Run,
    *,
    weighed: Mapping[int, float],
    by_judge: list[Any],
    names: RunNames,
    kept: Mapping[int, int],
    activity: Mapping[int, int],
) -> list[Any]:
    """(prompt, category, left, right, outcome, class, votes times weight, votes times squared weight).

    Votes that name no prompt are in the judges' tallies only, so they are what the prompts' tallies lack there. `weighed`
    has the weights below 1 by seat; only the votes of these judges, and of those whose class is not the tallies', are
    read one by one, to put them right.
    """
    counts: dict[tuple[Any, ...], Any] = defaultdict(lambda: np.zeros(2))

    def add(prompt: Any, key: Sequence[Any], level: int, votes: float, weight: float) -> None:
        counts[prompt, names.category_of.get(prompt, ""), *key, level] += (votes * weight, votes * weight**2)

    rows = PromptTally.objects.filter(run=run, is_repeat=False, votes__gt=0)
    for prompt, *key, level, votes in rows.values_list(
        "prompt_id", "left_id", "right_id", "outcome", "activity", "votes"
    ):
        add(prompt, key, level, votes, 1)
    moved = {pk for pk in kept if kept[pk] != activity[pk]} | weighed.keys()
    for prompt, seat, *key, votes in votes_of_seats(run, moved) if moved else ():
        add(prompt, key, kept[seat], -votes, 1)
        add(prompt, key, activity[seat], votes, weighed.get(seat, 1))
    for (prompt, seat, *key), votes in excluded_votes(run, "matchup__prompt_id", "seat_id").items():
        if prompt is not None:
            add(prompt, key, activity[seat], -votes, weighed.get(seat, 1))
    missing: dict[tuple[Any, ...], Any] = defaultdict(lambda: np.zeros(2))
    for seat, *key, votes in by_judge:
        weight = weighed.get(seat, 1)
        missing[*key, activity[seat]] += (votes * weight, votes * weight**2)
    for (_, *key), listed in counts.items():
        missing[tuple(key)] -= listed
    cells = [*counts.items(), *(((None, *key), n) for key, n in missing.items())]
    return [(*key, float(n[0]), float(n[1])) for key, n in cells if n[0] > ROUNDING]


def excluded_votes(run: Run, *by: str, between: Sequence[Entrant] = ()) -> dict[tuple[Any, ...], int]:
    """Rated votes on excluded drawings, repeats apart, counted by these columns and by left, right and outcome.

    They are looked up by the drawings, so that few of them read few votes; `between` two entrants, even fewer.
    """
    votes = votes_on_excluded(run, between=between)
    if votes is None:
        return {}
    columns = (*by, "matchup__left_id", "matchup__right_id", "outcome")
    rows = votes.without_repeats().order_by().values_list(*columns).annotate(Count("id"))
    return {tuple(key): count for *key, count in rows}


def votes_on_excluded(run: Run, *, between: Sequence[Entrant] = ()) -> VoteQuerySet | None:
    """Rated votes on drawings that a curator excluded, or None where no drawing is excluded."""
    ids, shown = run.samples.excluded().order_by().values("id"), Matchup.objects.filter(run=run).order_by()
    if between:
        ids, shown = ids.filter(entrant__in=between), shown.filter(left__in=between, right__in=between)
    if not ids.exists():
        return None
    left, right = (shown.filter(**{f"{side}_sample__in": ids}).values("id") for side in ("left", "right"))
    return Vote.objects.rated().filter(matchup__in=left.union(right))


def counts_of_pair(run: Run, one: Entrant, other: Entrant) -> Counter[tuple[Any, ...]]:
    """Votes between two entrants by category, left, right and outcome; as in `tallies_of`, but each counts as one."""
    rows = JudgeTally.objects.filter(run=run, is_repeat=False, seat__weight__gt=0, votes__gt=0)
    rows = rows.filter(left__in=[one, other], right__in=[one, other]).order_by()
    columns = ("category", "left_id", "right_id", "outcome")
    counts = Counter({tuple(key): votes for *key, votes in rows.values_list(*columns).annotate(Sum("votes"))})
    away = excluded_votes(run, "seat__weight", "matchup__category", between=(one, other))
    for (weight, *key), votes in away.items():
        counts[tuple(key)] -= votes if weight > 0 else 0
    return +counts


def votes_of_seats(run: Run, seats: Iterable[int]) -> QuerySet[Any]:
    votes = run.votes.rated().without_repeats().filter(seat__in=seats)
    grouped = votes.exclude(matchup__prompt=None).order_by()
    columns = ("matchup__prompt_id", "seat_id", "matchup__left_id", "matchup__right_id", "outcome")
    return grouped.values_list(*columns).annotate(Count("id"))


def without_unseen(
    names: RunNames,
    by_judge: list[Any],
    by_prompt: list[Any],
    weights: Mapping[str, float],
    activity: Mapping[int, int],
) -> Tallies:
    """Tallies whose name tables hold only what a counted vote mentions, as `analyse_votes` has them."""
    entrants = seen(names.entrants, [i for row in by_judge for i in row[2:4]])
    judges = seen(names.judges, [row[0] for row in by_judge])
    prompts = seen(names.prompts, [row[0] for row in by_prompt])
    categories = seen(names.categories, [row[1] for row in by_judge])
    levels, squares = (np.array([row[column] for row in by_prompt], float) for column in (5, 7))
    plain = [(*row[:5], row[6]) for row in by_prompt]
    return Tallies(
        entrants=entrants.names,
        judges=judges.names,
        prompts=prompts.names,
        categories=categories.names,
        by_judge=make_cells(by_judge, judges, categories, entrants),
        by_prompt=replace(
            make_cells(plain, prompts, categories, entrants), activity=levels.astype(np.int8), squares=squares
        ),
        weights=np.array([weights.get(name, 1.0) for name in judges.names], float),
        activity=np.array([activity[pk] for pk in sorted(judges.number, key=judges.number.__getitem__)], np.int8),
    )


def seen(names: Names, ids: Iterable[Any]) -> Names:
    used = {names.number[i] for i in ids if i in names.number}
    return make_names((pk, names.names[number]) for pk, number in names.number.items() if number in used)


def make_cells(rows: list[Any], clusters: Names, categories: Names, entrants: Names) -> Cells:
    cluster, category, left, right, outcome, votes = zip(*rows, strict=True) if rows else ((),) * 6
    return Cells(
        cluster=np.array(clusters.numbers(cluster), np.int32),
        category=np.array(categories.numbers(category), np.int32),
        left=np.array(entrants.numbers(left), np.int32),
        right=np.array(entrants.numbers(right), np.int32),
        outcome=np.array([OUTCOME_NUMBERS[name] for name in outcome], np.int32),
        n=np.array(votes, np.float64),
    )


def sample_rates(run: Run) -> dict[str, SampleRate]:
    """Answers and valid drawings of each entrant, and how well the valid ones hold up in every font."""
    answered = run.samples.filter(state=Sample.State.DRAWN).order_by()
    valid = Count("id", filter=Q(verdict=Sample.Verdict.VALID))
    by_prompt: dict[str, dict[tuple[str, str], tuple[int, int]]] = defaultdict(dict)
    keys = ("entrant__name", "prompt__category", "prompt__text")
    for name, category, text, count, good in answered.values_list(*keys).annotate(samples=Count("id"), good=valid):
        by_prompt[name][category, text] = (count, good)
    measures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    measured = answered.filter(verdict=Sample.Verdict.VALID, measurements__backend=run.measure_backend)
    for name, values in measured.in_order().values_list("entrant__name", "measurements__values"):
        measures[name].append(values)
    return {
        name: sample_rate(
            samples=sum(count for count, _ in counts.values()),
            valid=sum(good for _, good in counts.values()),
            measures=measures[name],
            by_prompt=counts,
        )
        for name, counts in sorted(by_prompt.items())
    }


def font_marks(run: Run) -> dict[str, list[int]]:
    """By entrant: votes in which a judge marked its drawing as breaking in font 1, 2 and 3. Reads marked votes only."""
    marks: dict[str, list[int]] = {}
    counted = Vote.objects.counting(run).order_by()
    for side in ("left", "right"):
        votes = counted.filter(**{f"{side}_breaks__gt": 0})
        for name, bits, count in votes.values_list(f"matchup__{side}__name", f"{side}_breaks").annotate(Count("id")):
            by_font = marks.setdefault(name, [0, 0, 0])
            for font in range(3):
                by_font[font] += count * (bits >> font & 1)
    return marks


@dataclass(frozen=True)
class Cost:
    """What an entrant's answers cost; `unknown` calls have no price yet, so the sum is a lower bound then."""

    nano: int
    answers: int
    unknown: int

    @property
    def each_nano(self) -> float | None:
        return self.nano / self.answers if self.answers else None


def costs_of(run: Run) -> dict[str, Cost]:
    unknown = Count("id", filter=Q(cost_nano=None) & ~Q(outcome=ProviderCall.Outcome.OPEN))
    grouped = run.calls.order_by().values_list("sample__entrant__name")
    rows = grouped.annotate(nano=Sum("cost_nano", default=0), unknown=unknown)
    drawn = run.samples.filter(state=Sample.State.DRAWN, imported=False).order_by().values_list("entrant__name")
    answers = dict(drawn.annotate(Count("id")))
    return {name: Cost(nano, answers.get(name, 0), unknown) for name, nano, unknown in rows}
