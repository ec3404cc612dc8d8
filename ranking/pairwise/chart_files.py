"""The charts of a pairwise leaderboard: as SVG, and their numbers as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from benchsite.lib.text import csv_cell
from ranking.charts.intervals import Interval, Scale, Svg, heat_map, interval_chart, interval_scale
from ranking.charts.plots import Point, Series, history_chart, scatter
from ranking.models import Fit
from ranking.pairwise.result import full_of, scope_rows

SHORT = 28  # letters of a name in a chart

LINES = 10  # entrants in the history's chart

POINTS_PER_DECADE = 400.0  # ratings so far apart have odds of ten to one


def chart_file(fit: Fit, name: str, form: str, *, scope: str = "") -> str | None:
    """A chart as SVG, or its numbers as CSV; None where there is no such chart."""
    labels = dict(fit.run.entrants.values_list("name", "label"))
    if scope and scope not in fit.result["categories"]:
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
    return as_csv(listed[name]()) if form == "csv" and name in listed else None


def short(label: str) -> str:
    """A name that leaves room for the picture; tables have it whole."""
    return label if len(label) <= SHORT else f"{label[: SHORT - 1]}…"


def as_interval(row: dict[str, Any], label: str) -> Interval:
    low, high = ("…" if row[side] is None else f"{row[side]:.0f}" for side in ("low", "high"))
    said = f"{row['rating']:.0f} ({low}–{high}), {row['votes']} votes"
    return Interval(label, row["rating"], row["low"], row["high"], row["iid_low"], row["iid_high"], said)


def scale_of(rows: list[dict[str, Any]]) -> Scale:
    return interval_scale([as_interval(row, "") for row in rows])


def win_table(result: dict[str, Any]) -> list[dict[str, Any]]:
    """A line for each entrant, best first: chance to beat each other one, by the ratings, and the votes between the two."""
    pairs = result.get("run", {}).get("pairs", {"entrants": []})
    number = {name: i for i, name in enumerate(pairs["entrants"])}
    rows = [row for row in result["overall"] if row["entrant"] in number]
    table = []
    for row in rows:
        cells = [win_cell(row, other, pairs, number) for other in rows]
        table.append({"entrant": row["entrant"], "cells": cells})
    return table


def win_cell(row: dict[str, Any], other: dict[str, Any], pairs: dict[str, Any], number: dict[str, int]) -> Any:
    i, j = number[row["entrant"]], number[other["entrant"]]
    if i == j:
        return None
    wins, losses = pairs["wins"][i][j], pairs["wins"][j][i]
    met = wins + losses + pairs["ties"][i][j] + pairs["fails"][i][j]
    share = 1 / (1 + 10 ** ((other["rating"] - row["rating"]) / POINTS_PER_DECADE))
    return {"share": share, "votes": met, "wins": wins, "losses": losses, "other": other["entrant"]}


def wins_svg(fit: Fit, labels: dict[str, str]) -> Svg:
    table = win_table(fit.result)
    shares = [[cell and cell["share"] for cell in row["cells"]] for row in table]
    counts = [[cell["votes"] if cell else 0 for cell in row["cells"]] for row in table]
    return heat_map([short(labels.get(row["entrant"], row["entrant"])) for row in table], shares, counts)


def interval_svg(fit: Fit, labels: dict[str, str], *, scope: str = "") -> Svg:
    rows = [as_interval(row, labels.get(row["entrant"], row["entrant"])) for row in scope_rows(fit.result, scope)]
    return interval_chart(rows, label=f"Ratings: {fit.run}", unit="rating (Elo scale) with 95 % interval")


def cost_points(fit: Fit, labels: dict[str, str]) -> list[Point]:
    costs = fit.result.get("run", {}).get("costs", {})
    found = []
    for row in fit.result["overall"]:
        each = costs.get(row["entrant"], {}).get("each_nano")
        if each is not None and not costs[row["entrant"]]["unknown"]:
            label = labels.get(row["entrant"], row["entrant"])
            found.append(Point(short(label), each / 1e6, row["rating"], row["low"], row["high"]))
    return found


def cost_svg(points: list[Point]) -> Svg:
    return scatter(
        points,
        label="Cost against rating",
        x_label="cost of an answer, thousandths of a US dollar",
        y_label="rating",
    )


def history_of(fit: Fit) -> list[dict[str, Any]]:
    full = full_of(fit)
    return full.result.get("run", {}).get("history", []) if full else []


def history_svg(fit: Fit, labels: dict[str, str]) -> Svg:
    history = history_of(fit)
    order = [row["entrant"] for row in fit.result["overall"]][:LINES]
    series = [
        Series(
            short(labels.get(name, name)),
            tuple((p["votes"], *p["ratings"][name]) for p in history if name in p["ratings"]),
        )
        for name in order
    ]
    return history_chart([one for one in series if one.points], label="Ratings over votes")


def as_csv(rows: Iterable[Iterable[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([csv_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


def ratings_rows(fit: Fit, scope: str) -> Iterable[list[Any]]:
    names = ["entrant", "rating", "low", "high", "iid_low", "iid_high", "rank_low", "rank_high", "votes"]
    yield names
    yield from ([row[name] for name in names] for row in scope_rows(fit.result, scope))


def wins_rows(fit: Fit) -> Iterable[list[Any]]:
    yield ["entrant", "against", "win_probability", "votes", "wins", "losses"]
    for row in win_table(fit.result):
        for cell in filter(None, row["cells"]):
            share = round(cell["share"], 4)
            yield [row["entrant"], cell["other"], share, cell["votes"], cell["wins"], cell["losses"]]


def cost_rows(fit: Fit) -> Iterable[list[Any]]:
    yield ["entrant", "cost_usd", "answers", "cost_per_answer_usd", "calls_of_unknown_cost", "rating", "low", "high"]
    for row in fit.result["overall"]:
        cost = fit.result["run"]["costs"].get(row["entrant"], {"nano": None, "answers": 0, "each_nano": None})
        usd = [None if cost[key] is None else cost[key] / 1e9 for key in ("nano", "each_nano")]
        numbers = [row["rating"], row["low"], row["high"]]
        yield [row["entrant"], usd[0], cost["answers"], usd[1], cost.get("unknown", 0), *numbers]


def history_rows(fit: Fit) -> Iterable[list[Any]]:
    yield ["votes", "at", "entrant", "rating", "low", "high"]
    for point in history_of(fit):
        at = datetime.fromtimestamp(point["at"], UTC).isoformat()
        for name, numbers in point["ratings"].items():
            yield [point["votes"], at, name, *numbers]
