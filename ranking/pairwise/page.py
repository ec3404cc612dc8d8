"""What the pages of a pairwise leaderboard show, from a stored fit alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from benchsite.templatetags.wording import thousands
from generation.models import Entrant
from ranking.charts.intervals import Interval, interval_axis, interval_row, interval_scale
from ranking.charts.svg import Svg
from ranking.models import Fit
from ranking.pairwise.chart_files import as_interval, scale_of, win_charts
from ranking.pairwise.documents.standings import AnswerRow, SampleRateResult, StandingRow
from ranking.pairwise.result import (
    CostResult,
    PairwiseResult,
    VerdictsResult,
    category_tabs,
    full_of,
    result_of,
    scope_rows,
)
from ranking.pairwise.sentences import (
    agreement_sentence,
    best_sentence,
    camps_sentence,
    clustered,
    leading_sentence,
    raw_sentence,
    robustness_sentence,
    side_sentence,
    stability_sentence,
    tie_bands,
    ties_sentence,
)
from ranking.results import ConsistencyResult
from ranking.statistics.notes import THIN
from ranking.words import labels_of, named, numbers_of, rank_words, steadiness, with_labels

FACES = {"courier": "Courier", "dejavu": "DejaVu", "fira": "Fira"}  # in the order of the judge's keys 1, 2, 3
LANES = 6  # brackets side by side; more would say nothing


@dataclass(frozen=True)
class BoardRow:
    """One line of the table that is the chart."""

    entrant: Entrant | None
    label: str
    standing: StandingRow
    ranks: str
    marks: list[
        tuple[int, str, str]
    ]  # (lane, start | middle | end, tied or empty) of each bracket that passes this line
    rule: str  # settled where the lead over the next line is
    interval: Svg
    sample: SampleRateResult | None
    cost: CostResult | None
    consistency: ConsistencyResult | None

    @property
    def low(self) -> str:
        return "no lower limit" if self.standing["low"] is None else thousands(self.standing["low"])

    @property
    def high(self) -> str:
        return "no upper limit" if self.standing["high"] is None else thousands(self.standing["high"])


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
    agreement = result_of(full)["agreement"] if full else {"units": 0}
    return {
        "scope": scope,
        "categories": category_tabs(fit),
        "scope_votes": sum(row["votes"] for row in standings) // 2,
        "sentence": sentence,
        "stability": stability_sentence(result, before=sentence) if not scope else "",
        **basis_context(result, scope),
        "rows": rows,
        "signs": signs_of(rows),
        "axis": interval_axis(scale_of(standings)),
        **answers_context(result, entrants),
        "unvoted": [entrant for name, entrant in entrants.items() if name not in {s["entrant"] for s in standings}],
        "agreement": agreement_sentence(agreement),
        "agreement_in_short": raw_sentence(agreement),
        "notes": [with_labels(note, labels) for note in result["notes"] if scope or not note.startswith(THIN)],
        "camps": camps_sentence(result_of(full)["judges"]) if full else "",
        "side": side_sentence(result["side_bias"]),
        "best": best_sentence(standings, labels) if not scope else "",
        "even": ties_sentence(result),
        "fonts": font_table(rows, full) if not scope else {},
        "steadiness": steadiness((row.consistency["variance"], row.label) for row in rows if row.consistency),
        "robust": robustness_sentence(result["robustness"], labels),
        "full": full,
        "everyone": other_version(result, facts["everyone"]["overall"] if "everyone" in facts else [], labels),
        "unweighted": other_version(result, unweighted_rows(result), labels) if not scope else [],
        "simulated": facts.get("simulated", 0),
        "arena": facts.get("arena"),
        "aside": facts.get("aside", len(result["settings"]["weights"])),
        "joint": joint_lines(result, labels) if not scope else [],
        "labels": labels,
        "clustered": clustered(result),
        **win_charts(fit, labels, scope=scope),
    }


def make_rows(fit: Fit, scope: str, entrants: dict[str, Entrant]) -> list[BoardRow]:
    result = result_of(fit)
    standings = scope_rows(result, scope)
    verdicts = None if scope else result.get("verdicts")
    scale, marks = (
        scale_of(standings),
        bracket_marks(
            standings, verdicts["brackets"] if verdicts else tie_bands(standings), pairs_in(verdicts, "tied")
        ),
    )
    settled, names = pairs_in(verdicts, "settled"), [row["entrant"] for row in standings]
    neighbours = [frozenset(names[place : place + 2]) for place in range(len(names))]
    numbers = numbers_of(entrants.values())
    full = full_of(fit)
    steady = result_of(full)["consistency"] if full else {}
    samples = result.get("category_samples", {}).get(scope, {}) if scope else result["samples"]
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
                rule="settled" if neighbours[place] in settled else "",
                interval=interval_row(as_interval(row, label, numbers.get(row["entrant"])), scale),
                sample=samples.get(row["entrant"]),
                cost=result["run"]["costs"].get(row["entrant"]),
                consistency=steady.get(row["entrant"]),
            )
        )
    return rows


def signs_of(rows: Sequence[BoardRow]) -> set[str]:
    """The verdicts between neighbours that the table draws, for its legend: settled, ahead, tied, open."""
    signs = {row.rule for row in rows if row.rule} | {kind or "open" for row in rows for _, _, kind in row.marks}
    bracketed = [any(part != "end" for _, part, _ in row.marks) for row in rows]
    ahead = any(not row.rule and not joined for row, joined in zip(rows[:-1], bracketed[:-1], strict=True))
    return signs | ({"ahead"} if ahead else set())


def basis_context(result: PairwiseResult, scope: str) -> dict[str, Any]:
    """Judges and prompts of what is shown; None where a fit of an earlier release does not know its categories'."""
    if not scope:
        return {"judges_shown": result["judges_count"], "prompts_shown": result["prompts_count"]}
    basis = result.get("category_basis", {}).get(scope)
    return {
        "judges_shown": basis["judges"] if basis else None,
        "prompts_shown": basis["prompts"] if basis else None,
    }


def answers_context(result: PairwiseResult, entrants: dict[str, Entrant]) -> dict[str, Any]:
    """The table of the rating of the answers; empty where there is none."""
    ratings = result.get("answer_ratings")
    if not ratings:
        return {"answer_rows": []}
    names = labels_of(entrants.values())
    numbers = numbers_of(entrants.values())
    intervals = [answer_interval(row, named(row, names), numbers.get(row["entrant"])) for row in ratings["overall"]]
    scale = interval_scale(intervals)
    ranks = {r["entrant"]: rank_words(r["rank_low"], r["rank_high"]) for r in result["overall"] if r["votes"]}
    rows = [
        {
            "entrant": entrants.get(row["entrant"]),
            "label": named(row, names),
            "standing": row,
            "ranks": rank_words(row["rank_low"], row["rank_high"]),
            "interval": interval_row(interval, scale),
            "valid_rate": row["valid"] / row["answers"],
            "drawings_rank": ranks.get(row["entrant"]),
        }
        for row, interval in zip(ratings["overall"], intervals, strict=True)
    ]
    return {"answer_rows": rows, "answer_axis": interval_axis(scale)}


def answer_interval(row: AnswerRow, name: str, number: int | None) -> Interval:
    low, high = ("…" if bound is None else f"{bound:.0f}" for bound in (row["low"], row["high"]))
    title = f"{name}: {row['rating']:.0f} ({low}–{high}), {row['valid']} of {row['answers']} answers valid"
    return Interval(name, row["rating"], row["low"], row["high"], title=title, number=number)


def font_table(rows: list[BoardRow], full: Fit | None) -> dict[str, Any]:
    """How drawings hold up in each font: compared pictures, characters and judges' marks; empty where a format has no fonts."""
    measured = [(row, row.sample) for row in rows if row.sample and row.sample["fonts"]]
    if not measured:
        return {}
    facts = result_of(full)["run"] if full else None
    marks = facts.get("font_marks", {}) if facts else {}
    lines: list[dict[str, Any]] = []
    for row, sample in measured:
        marked = marks.get(row.standing["entrant"], [0, 0, 0])
        similar = sample.get("similarity", {})
        cells = [
            {"similarity": similar.get(font), "coverage": sample["fonts"].get(font), "marks": count}
            for font, count in zip(FACES, marked, strict=True)
        ]
        lines.append(
            {
                "label": row.label,
                "votes": row.standing["votes"],
                "cells": cells,
                "robustness": sample["robustness"] if similar else None,
                "measured": sample["measured"],
            }
        )
    compared = sorted((line["robustness"], line["label"]) for line in lines if line["robustness"] is not None)
    if not compared and all(cell["coverage"] == 1 and not cell["marks"] for line in lines for cell in line["cells"]):
        return {}  # a table that only says 100% says nothing
    (low, worst), (high, best) = (compared[0], compared[-1]) if compared else ((0.0, ""), (0.0, ""))
    sentence = "Measure the run again to compare the pictures" if not compared else f"{best} {high:.2f}"
    if len(compared) > 1:
        sentence = f"From {low:.2f} ({worst}) to {high:.2f} ({best})"
    check = facts.get("font_check") if facts else None
    return {"heads": list(FACES.values()), "lines": lines, "result": sentence, "check": check}


def pairs_in(verdicts: VerdictsResult | None, state: str) -> set[frozenset[str]]:
    """The pairs of entrants on which this is the verdict."""
    return (
        {frozenset((p["upper"], p["lower"])) for p in verdicts["pairs"] if p["state"] == state} if verdicts else set()
    )


def bracket_marks(
    rows: list[StandingRow], brackets: Iterable[tuple[int, int]], equal: Collection[frozenset[str]] = ()
) -> list[list[tuple[int, str, str]]]:
    """For each line the brackets that pass it; a bracket takes the first lane that is free again.

    It is `tied` where all its pairs are practically equal; otherwise they are not separated yet.
    """
    marks: list[list[tuple[int, str, str]]] = [[] for _ in rows]
    ends: list[int] = []
    for first, last in brackets:
        lane = next((n for n, end in enumerate(ends) if end < first), len(ends))
        if lane >= LANES:
            continue
        ends[lane : lane + 1] = [last]
        names = [row["entrant"] for row in rows[first : last + 1]]
        kind = "tied" if all(frozenset(pair) in equal for pair in combinations(names, 2)) else ""
        for place in range(first, last + 1):
            marks[place].append((lane, "start" if place == first else "end" if place == last else "middle", kind))
    return marks


def joint_lines(result: PairwiseResult, labels: dict[str, str]) -> list[dict[str, Any]]:
    """The ratings that use both bad too, best first."""
    joint = result.get("joint")
    return [{**row, "label": labels.get(row["entrant"], row["entrant"])} for row in joint["ratings"]] if joint else []


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
