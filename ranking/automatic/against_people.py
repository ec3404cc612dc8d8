"""Compares an automatic score with people: two rankings of the same entrants, and the drawings on which they differ most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count

from generation.models import Run
from judging.models import Vote
from ranking.automatic.result import DisputedDrawing, PeopleResult
from ranking.pairwise.columns.tallies import tallies_of
from ranking.results import EstimateResult
from ranking.statistics.rank_correlation import Correlation, compare_rankings, disagreements
from ranking.statistics.ratings.bradley_terry import to_elo
from ranking.statistics.ratings.scopes import Settings, fit_overall
from ranking.statistics.records import entrant_record

POINTS = {"left": (1.0, 0.0), "right": (0.0, 1.0), "tie": (0.5, 0.5), "fail": (0.0, 0.0)}
PRIOR = 2  # votes, half of them won, that every drawing starts with: one lucky vote makes no favourite
SHOWN = 8


def compare_with_people(
    run: Run, *, options: dict[str, Any], entrants: Mapping[str, float], drawings: Mapping[int, float]
) -> PeopleResult | None:
    """Kendall and Spearman of scores and ratings, and the drawings furthest apart; None where nobody has voted.

    `entrants` are automatic scores by name, `drawings` by sample id. Judges who were set aside do not count here either.
    """
    ratings, votes = people_ratings(run, options)
    if not votes:
        return None
    both = compare_rankings(entrants, ratings)
    return {
        "votes": votes,
        "entrants": [
            {"entrant": name, "score": score, "rating": ratings[name]}
            for name, score in sorted(entrants.items(), key=lambda pair: -pair[1])
            if name in ratings
        ],
        "kendall": as_estimate(both.kendall),
        "spearman": as_estimate(both.spearman),
        "count": both.count,
        "drawings": disputed(run, drawings),
    }


def as_estimate(correlation: Correlation) -> EstimateResult:
    return {"value": correlation.value, "low": correlation.low, "high": correlation.high}


def people_ratings(run: Run, options: dict[str, Any]) -> tuple[dict[str, float], int]:
    """Ratings on the Elo scale of the entrants with votes, from the kept counts, and the number of votes."""
    settings = Settings(ties=options["ties"], fails=options["fails"], weights=options["weights"])
    tallies = tallies_of(run, weights=settings.weights)
    if not tallies.entrants:
        return {}, 0
    fit = fit_overall(tallies, settings)
    met = entrant_record(fit.counts).sum(1) > 0
    rated = zip(tallies.entrants, to_elo(fit.theta).tolist(), met.tolist(), strict=True)
    return {name: rating for name, rating, seen in rated if seen}, round(float(fit.counts.sum()))


def liking(run: Run) -> dict[int, tuple[float, int]]:
    """By sample id: the share of points it won, shrunk towards a half by two votes, and its votes. Both bad is no point."""
    votes = Vote.objects.counting(run).without_repeats().exclude(seat__weight=0)
    sums: dict[int, tuple[float, int]] = {}
    for side, column in enumerate(("matchup__left_sample_id", "matchup__right_sample_id")):
        grouped = votes.order_by().values_list(column, "outcome").annotate(Count("id"))
        for sample, outcome, count in grouped.exclude(**{column: None}):
            points, seen = sums.get(sample, (0.0, 0))
            sums[sample] = points + count * POINTS[outcome][side], seen + count
    return {sample: ((points + PRIOR / 2) / (n + PRIOR), n) for sample, (points, n) in sums.items()}


def disputed(run: Run, scores: Mapping[int, float]) -> list[DisputedDrawing]:
    """The drawings whose place among all drawings differs most between the score and the people."""
    liked = liking(run)
    first = {str(sample): score for sample, score in scores.items() if sample in liked}
    second = {str(sample): liked[sample][0] for sample in liked if sample in scores}
    if len(first) < 2:
        return []
    table = disagreements(first, second, most=SHOWN).to_dict("records")
    codes = dict(run.samples.filter(pk__in=[int(row["name"]) for row in table]).values_list("pk", "code"))
    return [
        {
            "sample": codes[int(row["name"])],
            "score": row["first"],
            "liked": row["second"],
            "votes": liked[int(row["name"])][1],
            "score_place": row["first_place"],
            "liked_place": row["second_place"],
            "gap": row["gap"],
        }
        for row in table
    ]
