"""What the pages of a pairwise leaderboard show, from a stored fit alone."""

from __future__ import annotations

from collections.abc import Iterable
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
from ranking.pairwise.result import (
    CostResult,
    PairwiseResult,
    SampleRateResult,
    StandingRow,
    category_tabs,
    full_of,
    result_of,
    scope_rows,
)
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
from ranking.results import ConsistencyResult
from ranking.words import labels_of, named, rank_words

FACES = {"courier": "Courier", "dejavu": "DejaVu", "fira": "Fira"}  # in the order of the judge's keys 1, 2, 3
LANES = 6  # brackets side by side; more would say nothing


@dataclass(frozen=True)
class BoardRow:
    """One line of the table that is the chart."""

    entrant: Entrant | None
    label: str
    standing: StandingRow
    ranks: str
    marks: list[tuple[int, str]]  # (lane, start | middle | end) of each bracket that passes this line
    interval: Svg
    sample: SampleRateResult | None
    cost: CostResult | None
    consistency: ConsistencyResult | None

    @property
    def low(self) -> str:
        return "no lower limit" if self.standing["low"] is None else f"{self.standing['low']:.0f}"

    @property
    def high(self) -> str:
        return "no upper limit" if self.standing["high"] is None else f"{self.standing['high']:.0f}"


def page_context(fit: Fit, *, scope: str = "") -> dict[str, Any]:
    """All of the leaderboard's page; `scope` is a category's key or empty for the whole."""
    result = result_of(fit)
    facts = result["run"]
    entrants = {entrant.name: entrant for entrant in fit.run.entrants.all()}
    labels = labels_of(entrants.values())
    full = full_of(fit)
    rows = make_rows(fit, scope, entrants)
    standings = [row.standing for row in rows]
    sentence = leading_sentence(result, labels, scope=scope)
    return {
        "scope": scope,
        "categories": category_tabs(fit),
        "scope_votes": sum(row["votes"] for row in standings) // 2,
        "sentence": sentence,
        "stability": stability_sentence(result, before=sentence) if not scope else "",
        "rows": rows,
        "axis": interval_axis(scale_of(standings)),
        "unvoted": [entrant for name, entrant in entrants.items() if name not in {s["entrant"] for s in standings}],
        "agreement": agreement_sentence(result_of(full)["agreement"] if full else {"units": 0}),
        "side": side_sentence(result["side_bias"]),
        "best": best_sentence(standings, labels) if not scope else "",
        "even": ties_sentence(result["ties"]),
        "fonts": font_table(rows, full) if not scope else {},
        "robust": robustness_sentence(result["robustness"], labels),
        "full": full,
        "everyone": other_version(result, facts["everyone"]["overall"] if "everyone" in facts else [], labels),
        "unweighted": other_version(result, unweighted_rows(result), labels) if not scope else [],
        "simulated": facts.get("simulated", 0),
        "labels": labels,
        **charts(fit, labels, scope=scope),
    }


def make_rows(fit: Fit, scope: str, entrants: dict[str, Entrant]) -> list[BoardRow]:
    result = result_of(fit)
    standings = scope_rows(result, scope)
    verdicts = None if scope else result.get("verdicts")
    scale, marks = (
        scale_of(standings),
        bracket_marks(standings, verdicts["brackets"] if verdicts else tie_bands(standings)),
    )
    full = full_of(fit)
    steady = result_of(full)["consistency"] if full else {}
    rows = []
    for place, row in enumerate(standings):
        entrant = entrants.get(row["entrant"])
        label = entrant.label if entrant else row["entrant"]
        rows.append(
            BoardRow(
                entrant=entrant,
                label=label,
                standing=row,
                ranks=rank_words(row["rank_low"], row["rank_high"]),
                marks=marks[place],
                interval=interval_row(as_interval(row, label), scale),
                sample=result["samples"].get(row["entrant"]),
                cost=result["run"]["costs"].get(row["entrant"]),
                consistency=steady.get(row["entrant"]),
            )
        )
    return rows


def font_table(rows: list[BoardRow], full: Fit | None) -> dict[str, Any]:
    """How drawings hold up in each font: measured shares and judges' marks; empty where a format has no fonts."""
    measured = [(row, row.sample) for row in rows if row.sample and row.sample["fonts"]]
    if not measured:
        return {}
    marks = result_of(full)["run"].get("font_marks", {}) if full else {}
    lines = []
    for row, sample in measured:
        marked = marks.get(row.standing["entrant"], [0, 0, 0])
        cells = [(sample["fonts"].get(font), count) for font, count in zip(FACES, marked, strict=True)]
        lines.append({"label": row.label, "sample": sample, "votes": row.standing["votes"], "cells": cells})
    return {"heads": list(FACES.values()), "lines": lines}


def bracket_marks(rows: list[StandingRow], brackets: Iterable[tuple[int, int]]) -> list[list[tuple[int, str]]]:
    """For each line the brackets that pass it; a bracket takes the first lane that is free again."""
    marks: list[list[tuple[int, str]]] = [[] for _ in rows]
    ends: list[int] = []
    for first, last in brackets:
        lane = next((n for n, end in enumerate(ends) if end < first), len(ends))
        if lane >= LANES:
            continue
        ends[lane : lane + 1] = [last]
        for place in range(first, last + 1):
            marks[place].append((lane, "start" if place == first else "end" if place == last else "middle"))
    return marks


def other_version(result: PairwiseResult, others: list[StandingRow], labels: dict[str, str]) -> list[dict[str, Any]]:
    """The overall table as it is and as it would be, side by side; empty where nothing would be different."""
    if not others:
        return []
    other = {row["entrant"]: row for row in others}
    return [{"label": named(row, labels), "now": row, "then": other.get(row["entrant"])} for row in result["overall"]]


def unweighted_rows(result: PairwiseResult) -> list[StandingRow]:
    """The ratings had very active judges' votes counted like all others; empty where they do."""
    activity = result.get("activity")
    return activity["unweighted"] if activity and any(c["weight"] < 1 for c in activity["weights"]) else []


def charts(fit: Fit, labels: dict[str, str], *, scope: str) -> dict[str, Any]:
    """The pictures under the table; in a category only the table differs."""
    if scope:
        return {}
    wins = [{**row, "label": named(row, labels)} for row in win_table(result_of(fit))]
    made = {"wins": wins, "wins_chart": wins_svg(fit, labels) if wins else ""}
    points = cost_points(fit, labels)
    history = history_of(fit)
    return made | {
        "cost_chart": cost_svg(points) if len(points) > 1 else "",
        "costs": points,
        "history_chart": history_svg(fit, labels) if history else "",
        "history_lines": LINES if len(result_of(fit)["overall"]) > LINES else 0,
    }
