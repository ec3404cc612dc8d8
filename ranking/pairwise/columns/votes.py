"""A run's votes as columns, and the votes that do not count because a curator excluded a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet

from generation.models import Entrant, Run
from judging.models import Matchup, Vote, VoteQuerySet
from ranking.pairwise.columns.names import run_names
from ranking.statistics.votes import KINDS, OUTCOME_NUMBERS, Votes, make_votes

KIND_NUMBERS = {name: number for number, name in enumerate(KINDS)}
VOTE_COLUMNS = (
    *("matchup__left_id", "matchup__right_id", "outcome", "seat_id", "matchup__prompt_id", "matchup__category"),
    *("matchup__left_sample__attempt", "matchup__right_sample__attempt", "matchup__kind"),
    *("voted_at", "response_ms", "withdrawn_at"),
    *("matchup__left_sample__excluded_reason", "matchup__right_sample__excluded_reason"),
)
EXCLUDED = 0.0  # seconds: as if withdrawn before anybody voted


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


def votes_of_seats(run: Run, seats: Iterable[int]) -> QuerySet[Any]:
    votes = run.votes.rated().without_repeats().filter(seat__in=seats)
    grouped = votes.exclude(matchup__prompt=None).order_by()
    columns = ("matchup__prompt_id", "seat_id", "matchup__left_id", "matchup__right_id", "outcome")
    return grouped.values_list(*columns).annotate(Count("id"))
