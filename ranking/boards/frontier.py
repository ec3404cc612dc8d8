"""Quality against what an answer takes: the points of a run's frontier, from a stored fit and its medians."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchsite.templatetags.wording import chance, seconds, small_dollars, thousands
from generation.models import Entrant
from generation.protocols import load, protocols_of
from ranking.charts.frontier import DESK, FrontierPoint, frontier_chart
from ranking.charts.plots import Frame
from ranking.charts.svg import Svg
from ranking.models import Fit
from ranking.statistics.frontier import frontier_chances, independent, on_frontier
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.words import numbers_of


@dataclass(frozen=True)
class Measure:
    """What may stand on the axis across."""

    key: str  # in the fit's medians
    label: str
    axis: str
    head: str
    divided_by: float = 1.0

    def written(self, value: float) -> str:
        if self.key == "seconds":
            return seconds(value)
        return small_dollars(value) if self.key == "cost_nano" else thousands(value)


MEASURES = {
    "cost": Measure("cost_nano", "Cost", "Cost of an answer, US$", "US$ per answer", 1e9),
    "seconds": Measure("seconds", "Median time", "Median time of an answer, seconds", "Median time"),
    "tokens": Measure("tokens", "Tokens", "Median length of an answer, tokens", "Median tokens"),
}


@dataclass(frozen=True)
class FrontierRow:
    entrant: Entrant
    value: float
    quality: float
    low: float | None
    high: float | None
    chance: float | None
    on: bool
    written: str


def frontier_rows(fit: Fit, measure: Measure, entrants: Collection[Entrant]) -> list[FrontierRow]:
    """Those of the entrants with both numbers, likeliest on the frontier first."""
    effort, by_name = fit.result.get("run", {}).get("effort", {}), {entrant.name: entrant for entrant in entrants}
    known = []
    for row in fit.result.get("overall", []):
        value = effort.get(row["entrant"], {}).get(measure.key)
        quality = row.get("rating", row.get("score"))
        if row["entrant"] in by_name and value is not None and quality is not None:
            known.append((row, value, quality))
    if not known:
        return []
    quality, cost = np.array([q for *_, q in known], float), np.array([value for _, value, _ in known], float)
    rated = [row for row, *_ in known]
    chances, met = _chances(fit, rated, quality, cost), _comparable(fit, rated)
    on = on_frontier(quality, cost, met)
    rows = [
        FrontierRow(
            entrant=by_name[row["entrant"]],
            value=value,
            quality=q,
            low=row.get("low"),
            high=row.get("high"),
            chance=None if chances is None else float(chances[place]),
            on=bool(on[place]),
            written=measure.written(value),
        )
        for place, (row, value, q) in enumerate(known)
    ]
    return sorted(rows, key=lambda row: (-(row.chance or 0), -row.quality))


def _joint(fit: Fit, rows: list[dict[str, Any]]) -> tuple[Any, float] | None:
    """The protocol's joint uncertainty of these entrants, if it has one."""
    entry = protocols_of(fit.run).get(fit.protocol)
    names = [row["entrant"] for row in rows]
    return load(entry.covariance)(fit.result, names) if entry and entry.covariance else None


def _chances(fit: Fit, rows: list[dict[str, Any]], quality: Any, cost: Any) -> Any:
    """By the protocol's joint uncertainty; from single intervals where it has none; None where an interval lacks a bound."""
    joint = _joint(fit, rows)
    if joint is not None:
        covariance, df = joint
        return frontier_chances(quality, covariance, cost, df=df, unit=ELO)
    bounds = [(row.get("low"), row.get("high")) for row in rows]
    if any(low is None or high is None for low, high in bounds):
        return None
    low, high = np.array(bounds, float).T
    return frontier_chances(quality, independent(low, high), cost)


def _comparable(fit: Fit, rows: list[dict[str, Any]]) -> Any:
    """[K, K]: who met whom, at least through others; None where all did, or nobody knows."""
    joint = _joint(fit, rows)
    return None if joint is None or np.isfinite(joint[0]).all() else np.isfinite(joint[0])


def has_groups(fit: Fit) -> bool:
    """Whether some never met, so that each is compared with its own group only."""
    return _comparable(fit, fit.result.get("overall", [])) is not None


def is_joint(fit: Fit) -> bool:
    return _joint(fit, fit.result.get("overall", [])) is not None


def frontier_svg(fit: Fit, measure: Measure, rows: list[FrontierRow], *, frame: Frame = DESK) -> Svg:
    numbers = numbers_of(fit.run.entrants.all())
    unit = "Rating" if rows and rows[0].quality > 100 else "Score"
    points = [
        FrontierPoint(
            label=row.entrant.label,
            number=numbers[row.entrant.name],
            x=row.value / measure.divided_by,
            y=row.quality,
            low=row.low,
            high=row.high,
            on=row.on,
            tip=tip(row, measure, unit),
        )
        for row in rows
    ]
    return frontier_chart(
        points,
        label=f"{unit} against {measure.label.lower()}",
        x_label=measure.axis,
        y_label=f"{unit}, 95% interval",
        frame=frame,
    )


def tip(row: FrontierRow, measure: Measure, unit: str) -> str:
    digits = 0 if abs(row.quality) > 100 else 2
    reach = "" if row.low is None or row.high is None else f" ({row.low:,.{digits}f}–{row.high:,.{digits}f})"
    lines = [row.entrant.label, f"{unit} {row.quality:,.{digits}f}{reach}", f"{measure.head}: {row.written}"]
    return "|".join([*lines, f"On the frontier: {chance(row.chance)}"] if row.chance is not None else lines)


def frontier_sentence(rows: list[FrontierRow], measure: Measure, noun: str, *, groups: bool = False) -> str:
    """What the page says first: who is on the frontier so far, and who gives most for least; `groups` that never met."""
    if len(rows) < 2:
        return f"Too few {noun}s have both a score and this number."
    sure = [row for row in rows if row.on]
    best, least = max(rows, key=lambda row: row.quality), min(rows, key=lambda row: row.value)
    if best.entrant == least.entrant and not groups:
        words = {"cost_nano": "cheapest", "seconds": "fastest", "tokens": "shortest"}[measure.key]
        return f"{best.entrant.label} is rated highest and is {words}, by the figures so far."
    word = {"cost_nano": "cheaper", "seconds": "faster", "tokens": "shorter"}[measure.key]
    within = f" in their own group: some {noun}s never met" if groups else ""
    many = f"All {len(rows)}" if len(sure) == len(rows) else f"{len(sure)} of {len(rows)}"
    return f"{many} {noun}s are on the frontier so far: no {word} {noun} is rated higher{within}."
