"""What the pages of a pairwise leaderboard show, from a stored fit alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from generation.models import Entrant
from ranking.charts.intervals import (
    Interval,
    Scale,
    heat_map,
    interval_axis,
    interval_chart,
    interval_row,
    interval_scale,
)
from ranking.charts.plots import Point, Series, history_chart, scatter
from ranking.models import Fit
from ranking.pairwise.sentences import (
    agreement_sentence,
    best_sentence,
    leading_sentence,
    rank_words,
    robustness_sentence,
    side_sentence,
    stability_sentence,
    tie_bands,
    ties_sentence,
)

FACES = {"courier": "Courier", "dejavu": "DejaVu", "fira": "Fira"}  # in the order of the judge's keys 1, 2, 3
LANES = 6  # brackets side by side; more would say nothing
POINTS_PER_DECADE = 400.0  # ratings so far apart have odds of ten to one
SHORT = 28  # letters of a name in a chart
LINES = 10  # entrants in the history's chart


@dataclass(frozen=True)
class Row:
    """One line of the table that is the chart."""

    entrant: Entrant | None
    label: str
    standing: dict[str, Any]
    ranks: str
    marks: list[tuple[int, str]]  # (lane, start | middle | end) of each bracket that passes this line
    interval: SafeString
    sample: dict[str, Any] | None
    cost: dict[str, Any] | None
    consistency: dict[str, Any] | None

    @property
    def low(self) -> str:
        return "no lower limit" if self.standing["low"] is None else f"{self.standing['low']:.0f}"

    @property
    def high(self) -> str:
        return "no upper limit" if self.standing["high"] is None else f"{self.standing['high']:.0f}"


def page_context(fit: Fit, *, scope: str = "") -> dict[str, Any]:
    """All of the leaderboard's page; `scope` is a category's key or empty for the whole."""
    result, facts = fit.result, fit.result.get("run", {})
    entrants = {entrant.name: entrant for entrant in fit.run.entrants.all()}
    labels = {name: entrant.label for name, entrant in entrants.items()}
    full = full_of(fit)
    rows = make_rows(fit, scope, entrants)
    standings = [row.standing for row in rows]
    sentence = leading_sentence(result, labels, scope=scope)
    return {
        "scope": scope,
        "scope_votes": sum(row["votes"] for row in standings) // 2,
        "sentence": sentence,
        "stability": stability_sentence(result, told=sentence) if not scope else "",
        "rows": rows,
        "axis": safe(interval_axis(scale_of(standings))),
        "unvoted": [entrant for name, entrant in entrants.items() if name not in {s["entrant"] for s in standings}],
        "agreement": agreement_sentence(full.result.get("agreement", {}) if full else {}),
        "side": side_sentence(result["side_bias"]),
        "best": best_sentence(standings, labels) if not scope else "",
        "even": ties_sentence(result["ties"]),
        "fonts": font_table(rows, full) if not scope else {},
        "robust": robustness_sentence(result["robustness"], labels),
        "full": full,
        "everyone": other_version(result, facts.get("everyone"), labels),
        "simulated": facts.get("simulated", 0),
        "labels": labels,
        **charts(fit, labels, scope=scope),
    }


def full_of(fit: Fit) -> Fit | None:
    """The fit itself where it is full, else the newest full one of its run."""
    return fit if fit.kind == Fit.Kind.FULL else Fit.objects.newest(fit.run, fit.protocol, kind=Fit.Kind.FULL)


def short(label: str) -> str:
    """A name that leaves room for the picture; tables have it whole."""
    return label if len(label) <= SHORT else f"{label[: SHORT - 1]}…"


def safe(svg: str) -> SafeString:
    """Made by charts.py and plots.py, which escape every name."""
    return SafeString(svg)


def scope_rows(result: dict[str, Any], scope: str) -> list[dict[str, Any]]:
    rows = result["categories"].get(scope, []) if scope else result["overall"]
    return [row for row in rows if row["votes"]]


def as_interval(row: dict[str, Any], label: str) -> Interval:
    low, high = ("…" if row[side] is None else f"{row[side]:.0f}" for side in ("low", "high"))
    said = f"{row['rating']:.0f} ({low}–{high}), {row['votes']} votes"
    return Interval(label, row["rating"], row["low"], row["high"], row["iid_low"], row["iid_high"], said)


def scale_of(rows: list[dict[str, Any]]) -> Scale:
    return interval_scale([as_interval(row, "") for row in rows])


def make_rows(fit: Fit, scope: str, entrants: dict[str, Entrant]) -> list[Row]:
    result, facts = fit.result, fit.result.get("run", {})
    found = scope_rows(result, scope)
    scale, marks = scale_of(found), bracket_marks(found)
    full = full_of(fit)
    steady = full.result.get("consistency", {}) if full else {}
    rows = []
    for place, row in enumerate(found):
        entrant = entrants.get(row["entrant"])
        label = entrant.label if entrant else row["entrant"]
        rows.append(
            Row(
                entrant=entrant,
                label=label,
                standing=row,
                ranks=rank_words(row),
                marks=marks[place],
                interval=safe(interval_row(as_interval(row, label), scale)),
                sample=result["samples"].get(row["entrant"]),
                cost=facts.get("costs", {}).get(row["entrant"]),
                consistency=steady.get(row["entrant"]),
            )
        )
    return rows


def font_table(rows: list[Row], full: Fit | None) -> dict[str, Any]:
    """How drawings hold up in each font: measured shares and judges' marks; empty where a format has no fonts."""
    measured = [row for row in rows if row.sample and row.sample.get("fonts")]
    if not measured:
        return {}
    marks = full.result.get("run", {}).get("font_marks", {}) if full else {}
    lines = []
    for row in measured:
        marked = marks.get(row.standing["entrant"], [0, 0, 0])
        cells = [(row.sample["fonts"].get(font), count) for font, count in zip(FACES, marked, strict=True)]
        lines.append({"label": row.label, "sample": row.sample, "votes": row.standing["votes"], "cells": cells})
    return {"heads": list(FACES.values()), "lines": lines}


def bracket_marks(rows: list[dict[str, Any]]) -> list[list[tuple[int, str]]]:
    """For each line the brackets that pass it; a bracket takes the first lane that is free again."""
    marks: list[list[tuple[int, str]]] = [[] for _ in rows]
    ends: list[int] = []
    for first, last in tie_bands(rows):
        lane = next((n for n, end in enumerate(ends) if end < first), len(ends))
        if lane >= LANES:
            continue
        ends[lane : lane + 1] = [last]
        for place in range(first, last + 1):
            marks[place].append((lane, "start" if place == first else "end" if place == last else "middle"))
    return marks


def category_tabs(fit: Fit) -> list[tuple[str, str, int]]:
    """(key, label, votes) of each category, in the suite's order."""
    labels = {row["key"]: row["label"] for row in fit.run.config.get("categories", [])}
    found = fit.result["categories"]
    order = [key for key in labels if key in found] + [key for key in found if key not in labels]
    return [(key, labels.get(key, key), sum(row["votes"] for row in found[key]) // 2) for key in order]


def other_version(
    result: dict[str, Any], everyone: dict[str, Any] | None, labels: dict[str, str]
) -> list[dict[str, Any]]:
    """As it is and had every judge counted fully, side by side; empty where all do."""
    if not everyone:
        return []
    other = {row["entrant"]: row for row in everyone["overall"]}
    return [
        {"label": labels.get(row["entrant"], row["entrant"]), "now": row, "then": other.get(row["entrant"])}
        for row in result["overall"]
    ]


def charts(fit: Fit, labels: dict[str, str], *, scope: str) -> dict[str, Any]:
    """The pictures under the table; in a category only the table differs."""
    if scope:
        return {}
    wins = [row | {"label": labels.get(row["entrant"], row["entrant"])} for row in win_table(fit.result)]
    made = {"wins": wins, "wins_chart": safe(wins_svg(fit, labels)) if wins else ""}
    points = cost_points(fit, labels)
    history = history_of(fit)
    return made | {
        "cost_chart": safe(cost_svg(points)) if len(points) > 1 else "",
        "costs": points,
        "history_chart": safe(history_svg(fit, labels)) if history else "",
        "history_lines": LINES if len(fit.result["overall"]) > LINES else 0,
    }


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


def wins_svg(fit: Fit, labels: dict[str, str]) -> str:
    table = win_table(fit.result)
    shares = [[cell and cell["share"] for cell in row["cells"]] for row in table]
    counts = [[cell["votes"] if cell else 0 for cell in row["cells"]] for row in table]
    return heat_map([short(labels.get(row["entrant"], row["entrant"])) for row in table], shares, counts)


def interval_svg(fit: Fit, labels: dict[str, str], *, scope: str = "") -> str:
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


def cost_svg(points: list[Point]) -> str:
    return scatter(
        points,
        label="Cost against rating",
        x_label="cost of an answer, thousandths of a US dollar",
        y_label="rating",
    )


def history_of(fit: Fit) -> list[dict[str, Any]]:
    full = full_of(fit)
    return full.result.get("run", {}).get("history", []) if full else []


def history_svg(fit: Fit, labels: dict[str, str]) -> str:
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
