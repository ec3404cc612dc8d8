"""The charts of a pairwise leaderboard: as SVG, and their numbers as CSV."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypedDict

from benchsite.lib.text import csv_text
from ranking.charts.intervals import Interval, Scale, heat_map, interval_chart, interval_scale
from ranking.charts.plots import DESK, Frame, Series, history_chart
from ranking.charts.svg import Svg
from ranking.models import Fit
from ranking.pairwise.documents.standings import StandingRow
from ranking.pairwise.result import HistoryPoint, PairsResult, PairwiseResult, full_of, result_of, scope_rows
from ranking.results import EntrantRow
from ranking.words import counted, label, labels_of, named, numbers_of

SHORT = 28  # letters of a name in a chart

LINES = 12  # entrants in the history's chart

MET = 8  # entrants whose chances against each other the board shows

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
        "history": lambda: history_svg(fit, labels),
    }
    listed = {"ratings": lambda: ratings_rows(fit, scope), "wins": lambda: wins_rows(fit)}
    listed["history"] = lambda: history_rows(fit)
    if form == "svg" and name in drawn:
        return drawn[name]()
    return csv_text(listed[name]()) if form == "csv" and name in listed else None


def short(label: str) -> str:
    """A name that leaves room for the picture; tables have it whole."""
    return label if len(label) <= SHORT else f"{label[: SHORT - 1]}…"


def as_interval(row: StandingRow, label: str, number: int | None = None) -> Interval:
    low, high = ("…" if bound is None else f"{bound:.0f}" for bound in (row["low"], row["high"]))
    title = f"{row['rating']:.0f} ({low}–{high}), {counted(row['votes'], 'vote')}"
    return Interval(label, row["rating"], row["low"], row["high"], row["iid_low"], row["iid_high"], title, number)


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
    island = {name: n for n, names in enumerate(result["connectivity"]["islands"]) for name in names}
    return [
        {
            "entrant": row["entrant"],
            "cells": [
                win_cell(row, other, pairs, number) if island[row["entrant"]] == island[other["entrant"]] else None
                for other in rows
            ],
        }
        for row in rows
    ]


def win_cell(row: StandingRow, other: StandingRow, pairs: PairsResult, number: dict[str, int]) -> WinCell | None:
    i, j = number[row["entrant"]], number[other["entrant"]]
    if i == j:
        return None
    wins, losses = pairs["wins"][i][j], pairs["wins"][j][i]
    met = wins + losses + pairs["ties"][i][j] + pairs["fails"][i][j]
    share = 1 / (1 + 10 ** ((other["rating"] - row["rating"]) / POINTS_PER_DECADE))
    return {"share": share, "votes": met, "wins": wins, "losses": losses, "other": other["entrant"]}


def wins_svg(fit: Fit, labels: dict[str, str], *, most: int | None = None) -> Svg:
    table = win_table(result_of(fit))[:most]
    shares = [[cell and cell["share"] for cell in row["cells"][:most]] for row in table]
    counts = [[cell["votes"] if cell else 0 for cell in row["cells"][:most]] for row in table]
    return heat_map([short(named(row, labels)) for row in table], shares, counts)


def win_charts(fit: Fit, labels: dict[str, str], *, scope: str) -> dict[str, Any]:
    """Under the table, who beats whom among the first; nothing in a category, where only the table differs."""
    if scope:
        return {}
    table = win_table(result_of(fit))
    wins = [{"label": named(row, labels), "cells": row["cells"][:MET]} for row in table[:MET]]
    chart = wins_svg(fit, labels, most=MET) if wins else ""
    return {"wins": wins, "wins_chart": chart, "wins_left_out": len(table) > MET}


def interval_svg(fit: Fit, labels: dict[str, str], *, scope: str = "") -> Svg:
    rows = [as_interval(row, named(row, labels)) for row in scope_rows(result_of(fit), scope)]
    return interval_chart(rows, label=f"Ratings: {fit.run}", unit="rating (Elo scale) with 95% interval")


def history_of(fit: Fit) -> list[HistoryPoint]:
    full = full_of(fit)
    return result_of(full)["run"].get("history", []) if full else []


def history_svg(fit: Fit, labels: dict[str, str], *, banded: Collection[str] = (), frame: Frame = DESK) -> Svg:
    """The first lines of the ranking and those whose bands are asked for."""
    history, numbers = history_of(fit), numbers_of(fit.run.entrants.all())
    names = [row["entrant"] for row in result_of(fit)["overall"]]
    shown = [name for place, name in enumerate(names) if place < LINES or name in banded]
    series = [
        Series(
            label(name, labels),
            tuple((p["votes"], *p["ratings"][name]) for p in history if name in p["ratings"]),
            numbers.get(name, len(names)),
            name in banded,
        )
        for name in shown
    ]
    return history_chart([one for one in series if one.points], label="Ratings over votes", frame=frame)


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


def history_rows(fit: Fit) -> Iterable[Sequence[Cell]]:
    yield ["votes", "at", "entrant", "rating", "low", "high"]
    for point in history_of(fit):
        at = datetime.fromtimestamp(point["at"], UTC).isoformat()
        for name, numbers in point["ratings"].items():
            yield [point["votes"], at, name, *numbers]
