"""A run's kept counts as cells."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models import Count, Sum

from generation.models import Entrant, Run
from judging.models import JudgeTally, PromptTally
from judging.pairs.tallies import activity_of
from ranking.pairwise.columns.names import Names, RunNames, run_names, seen
from ranking.pairwise.columns.votes import excluded_votes, votes_of_seats, votes_on_excluded
from ranking.statistics.tallies import Cells, Tallies
from ranking.statistics.votes import OUTCOME_NUMBERS

ROUNDING = 1e-6  # of a vote: what sums of weights may leave of nothing


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
