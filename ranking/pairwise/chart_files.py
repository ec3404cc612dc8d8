"""The charts of a pairwise leaderboard: as SVG, and their numbers as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypedDict

from benchsite.lib.text import csv_text
from ranking.charts.intervals import Interval, Scale, Svg, heat_map, interval_chart, interval_scale
from ranking.charts.plots import Point, Series, history_chart, scatter
from ranking.models import Fit
from ranking.pairwise.result import (
    HistoryPoint,
    PairsResult,
    PairwiseResult,
    StandingRow,
    full_of,
    result_of,
    scope_rows,
)
from ranking.results import EntrantRow
from ranking.words import label, labels_of, named

SHORT = 28  # letters of a name in a chart

LINES = 10  # entrants in the history's chart

POINTS_PER_DECADE = 400.0  # ratings so far apart have odds of ten to one


Cell = str | float | None


def chart_file(fit: Fit, name: str, form: str, *, scope: str = "") -> str | None:
    """A chart as SVG, or its numbers as CSV; None where there is no such chart."""
    labels = labels_of(fit.run.entrants.all())
    if scope and scope not in result_of(fit)["categories"]:
        return None
    drawn = {
        "ratings": lambda: interval_svg(fit, labels, scope=scope),
        "wins": lambda: wins_svg(fit, labels),
        "cost": lambda: cost_svg(cost_points(fit, labels)),
        "history": lambda: history_svg(fit, labels),
    }
    listed = {"ratings": lambda: ratings_rows(fit, scope), "wins": lambda: wins_rows(fit)}
    listed |= {"cost": lambda: cost_rows(fit), "history": lambda: history_rows(fit)}
    if form == "svg" and name in drawn:
        return drawn[name]()
    return csv_text(listed[name]()) if form == "csv" and name in listed else None


def short(label: str) -> str:
    """A name that leaves room for the picture; tables have it whole."""
    return label if len(label) <= SHORT else f"{label[: SHORT - 1]}…"


def as_interval(row: StandingRow, label: str) -> Interval:
    low, high = ("…" if bound is None else f"{bound:.0f}" for bound in (row["low"], row["high"]))
    title = f"{row['rating']:.0f} ({low}–{high}), {row['votes']} votes"
    return Interval(label, row["rating"], row["low"], row["high"], row["iid_low"], row["iid_high"], title)


def scale_of(rows: list[StandingRow]) -> Scale:
    return interval_scale([as_interval(row, "") for row in rows])


class WinCell(TypedDict):
    """The chance to beat another entrant, and the votes between the two."""

    share: float
    votes: int
    wins: int
    losses: int
    other: str


class WinRow(EntrantRow):
    cells: list[WinCell | None]


def win_table(result: PairwiseResult) -> list[WinRow]:
    """A line for each entrant, best first: chance to beat each other one, by the ratings, and the votes between the two."""
    pairs = result["run"]["pairs"]
    number = {name: i for i, name in enumerate(pairs["entrants"])}
    rows = [row for row in result["overall"] if row["entrant"] in number]
    return [
        {"entrant": row["entrant"], "cells": [win_cell(row, other, pairs, number) for other in rows]} for row in rows
    ]


def win_cell(row: StandingRow, other: StandingRow, pairs: PairsResult, number: dict[str, int]) -> WinCell | None:
    i, j = number[row["entrant"]], number[other["entrant"]]
    if i == j:
        return None
    wins, losses = pairs["wins"][i][j], pairs["wins"][j][i]
    met = wins + losses + pairs["ties"][i][j] + pairs["fails"][i][j]
    share = 1 / (1 + 10 ** ((other["rating"] - row["rating"]) / POINTS_PER_DECADE))
    return {"share": share, "votes": met, "wins": wins, "losses": losses, "other": other["entrant"]}


def wins_svg(fit: Fit, labels: dict[str, str]) -> Svg:
    table = win_table(result_of(fit))
    shares = [[cell and cell["share"] for cell in row["cells"]] for row in table]
    counts = [[cell["votes"] if cell else 0 for cell in row["cells"]] for row in table]
    return heat_map([short(named(row, labels)) for row in table], shares, counts)


def interval_svg(fit: Fit, labels: dict[str, str], *, scope: str = "") -> Svg:
    rows = [as_interval(row, named(row, labels)) for row in scope_rows(result_of(fit), scope)]
    return interval_chart(rows, label=f"Ratings: {fit.run}", unit="rating (Elo scale) with 95% interval")


def cost_points(fit: Fit, labels: dict[str, str]) -> list[Point]:
    costs, points = result_of(fit)["run"]["costs"], []
    for row in result_of(fit)["overall"]:
        cost = costs.get(row["entrant"])
        if cost and cost["each_nano"] is not None and not cost["unknown"]:
            x = 1000 * cost["each_nano"] / 1e9  # US$ per 1,000 answers
            points.append(Point(short(named(row, labels)), x, row["rating"], row["low"], row["high"]))
    return points


def cost_svg(points: list[Point]) -> Svg:
    return scatter(
        points,
        label="Cost against rating",
        x_label="cost, US$ per 1,000 answers",
        y_label="rating",
    )


def history_of(fit: Fit) -> list[HistoryPoint]:
    full = full_of(fit)
    return result_of(full)["run"].get("history", []) if full else []


def history_svg(fit: Fit, labels: dict[str, str]) -> Svg:
    history = history_of(fit)
    order = [row["entrant"] for row in result_of(fit)["overall"]][:LINES]
    series = [
        Series(
            short(label(name, labels)),
            tuple((p["votes"], *p["ratings"][name]) for p in history if name in p["ratings"]),
        )
        for name in order
    ]
    return history_chart([one for one in series if one.points], label="Ratings over votes")


def ratings_rows(fit: Fit, scope: str) -> Iterable[Sequence[Cell]]:
    names = ["entrant", "rating", "low", "high", "iid_low", "iid_high", "rank_low", "rank_high", "votes"]
    yield names
    for row in scope_rows(result_of(fit), scope):
        cells: Mapping[str, Any] = row
        yield [cells[name] for name in names]


def wins_rows(fit: Fit) -> Iterable[Sequence[Cell]]:
    yield ["entrant", "against", "win_probability", "votes", "wins", "losses"]
    for row in win_table(result_of(fit)):
        for cell in filter(None, row["cells"]):
            share = round(cell["share"], 4)
            yield [row["entrant"], cell["other"], share, cell["votes"], cell["wins"], cell["losses"]]


def cost_rows(fit: Fit) -> Iterable[Sequence[Cell]]:
    yield ["entrant", "cost_usd", "answers", "cost_per_answer_usd", "calls_of_unknown_cost", "rating", "low", "high"]
    result = result_of(fit)
    for row in result["overall"]:
        cost = result["run"]["costs"].get(row["entrant"])
        sums = (cost["nano"], cost["each_nano"]) if cost else (None, None)
        total, each = (None if nano is None else nano / 1e9 for nano in sums)
        counts = (cost["answers"], cost["unknown"]) if cost else (0, 0)
        yield [row["entrant"], total, counts[0], each, counts[1], row["rating"], row["low"], row["high"]]


def history_rows(fit: Fit) -> Iterable[Sequence[Cell]]:
    yield ["votes", "at", "entrant", "rating", "low", "high"]
    for point in history_of(fit):
        at = datetime.fromtimestamp(point["at"], UTC).isoformat()
        for name, numbers in point["ratings"].items():
            yield [point["votes"], at, name, *numbers]
