"""What the pages of a pairwise leaderboard show, from a stored fit alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from generation.models import Entrant
from ranking.charts.intervals import (
    Svg,
    interval_axis,
    interval_row,
)
from ranking.models import Fit
from ranking.pairwise.chart_files import (
    LINES,
    as_interval,
    cost_points,
    cost_svg,
    history_of,
    history_svg,
    scale_of,
    win_table,
    wins_svg,
)
from ranking.pairwise.result import category_tabs, full_of, scope_rows
from ranking.pairwise.sentences import (
    agreement_sentence,
    best_sentence,
    leading_sentence,
    robustness_sentence,
    side_sentence,
    stability_sentence,
    tie_bands,
    ties_sentence,
)
from ranking.words import rank_words

FACES = {"courier": "Courier", "dejavu": "DejaVu", "fira": "Fira"}  # in the order of the judge's keys 1, 2, 3
LANES = 6  # brackets side by side; more would say nothing


@dataclass(frozen=True)
class Row:
    """One line of the table that is the chart."""

    entrant: Entrant | None
    label: str
    standing: dict[str, Any]
    ranks: str
    marks: list[tuple[int, str]]  # (lane, start | middle | end) of each bracket that passes this line
    interval: Svg
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
        "categories": category_tabs(fit),
        "scope_votes": sum(row["votes"] for row in standings) // 2,
        "sentence": sentence,
        "stability": stability_sentence(result, told=sentence) if not scope else "",
        "rows": rows,
        "axis": interval_axis(scale_of(standings)),
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
                interval=interval_row(as_interval(row, label), scale),
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
    made = {"wins": wins, "wins_chart": wins_svg(fit, labels) if wins else ""}
    points = cost_points(fit, labels)
    history = history_of(fit)
    return made | {
        "cost_chart": cost_svg(points) if len(points) > 1 else "",
        "costs": points,
        "history_chart": history_svg(fit, labels) if history else "",
        "history_lines": LINES if len(fit.result["overall"]) > LINES else 0,
    }
