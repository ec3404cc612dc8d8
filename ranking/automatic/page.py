"""What the page of an automatic leaderboard shows, from a stored fit alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from benchsite.templatetags.wording import reason_words as spoken
from generation.formats.base import ScorePart
from generation.models import Entrant, Measurement, Run
from judging.rules import rules_of
from ranking.automatic.result import AutomaticResult, PeopleResult, result_of
from ranking.best import Best, find_sample
from ranking.charts.intervals import Interval, Scale, interval_axis, interval_row
from ranking.charts.svg import Svg, tag
from ranking.models import Fit
from ranking.results import EstimateResult, ScoreRow, VerdictsResult
from ranking.statistics.ranks import shared_ranks
from ranking.words import (
    chasing_words,
    joined,
    label,
    labels_of,
    named,
    numbers_of,
    rank_words,
    steadiness,
    with_missing,
)

UNIT = Scale(0.0, 1.0)


def page_context(fit: Fit, *, scope: str = "") -> dict[str, Any]:
    """All of the page; `scope` is a category's key, or empty for the whole."""
    result = result_of(fit)
    entrants = {entrant.name: entrant for entrant in fit.run.entrants.all()}
    labels = labels_of(entrants.values())
    shown: Sequence[ScoreRow] = result["categories"].get(scope, []) if scope else result["overall"]
    parts, stages = score_parts(fit), fit.run.drawing_format.stages
    return {
        "scope": scope,
        "sentence": scope_sentence(result, scope, labels),
        "rows": [make_row(row, entrants, parts, numbers_of(entrants.values())) for row in shown],
        "axis": interval_axis(UNIT),
        "weights": [(part.label, part.weight) for part in parts],
        "categories": category_tabs(fit),
        "category_table": category_table(fit, labels),
        "stages": count_table(result, stage_counts(result), labels, words=stages) if stages else {},
        "reasons": count_table(result, reason_counts(result), labels, words=reason_words(result)),
        "steadiness": steadiness((row["variance"], named(row, labels)) for row in result["overall"]),
        "disqualified": [entrant for entrant in entrants.values() if entrant.disqualified],
        "labels": labels,
        **people_context(fit, labels),
    }


def scope_sentence(result: AutomaticResult, scope: str, labels: Mapping[str, str]) -> str:
    if not scope:
        return overall_sentence(result, labels)
    verdicts = result.get("category_verdicts", {}).get(scope)
    return leading_sentence(result["categories"].get(scope, []), labels, verdicts)


def score_parts(fit: Fit) -> list[ScorePart]:
    """The parts that the fit counted; their labels are the format's."""
    labels = {part.key: part.label for part in fit.run.drawing_format.score_parts}
    return [ScorePart(key, labels.get(key, key), weight) for key, weight in result_of(fit).get("weights", {}).items()]


def overall_sentence(result: AutomaticResult, labels: Mapping[str, str]) -> str:
    sentence = leading_sentence(result["overall"], labels, result.get("verdicts"))
    return with_missing(sentence, result.get("answers"))


def leading_sentence(
    rows: Sequence[ScoreRow], labels: Mapping[str, str], verdicts: VerdictsResult | None = None
) -> str:
    """The first thing a page says: who leads, and whether differences on shared prompts separate it from the rest."""
    if not rows:
        return "Nothing has been scored here yet."
    first = label(rows[0]["entrant"], labels)
    if len(rows) == 1:
        return f"{first} is alone here, with a score of {rows[0]['score']:.2f}."
    top = [row for row in rows if row["rank"] == 1]
    score = f"{rows[0]['score']:.2f}"
    chasing = chasing_words(rows, labels, verdicts)
    if rows[0]["low"] is None:
        return f"{first} has the highest score, {score}. One prompt gives no interval."
    if len(top) > 1:
        lead = f"{joined(top, labels)} share first place with {score}"
        return f"{lead}; they are {chasing}." if chasing else f"{lead}."
    if chasing:
        return f"{first} has the highest score, {score}; it is {chasing}."
    return f"{first} leads with {score}, ahead of all others on the same prompts."


def make_row(
    row: ScoreRow, entrants: Mapping[str, Entrant], parts: Sequence[ScorePart], numbers: Mapping[str, int]
) -> dict[str, Any]:
    entrant = entrants.get(row["entrant"])
    name = entrant.label if entrant else row["entrant"]
    bounds = "" if row["low"] is None else f" ({row['low']:.2f}–{row['high']:.2f})"
    title = f"{name}: {row['score']:.2f}{bounds}, {row['n']} answers"
    # One prompt says nothing about others: a dot alone.
    low, high = (row["score"], row["score"]) if row["low"] is None else (row["low"], row["high"])
    interval = Interval(name, row["score"], low, high, title=title, number=numbers.get(row["entrant"]))
    means: Mapping[str, Any] = row
    return {
        "entrant": entrant,
        "label": name,
        "standing": row,
        "ranks": rank_words(row["rank_low"], row["rank_high"]),
        "interval": interval_row(interval, UNIT),
        "parts": [(part.label, means[part.key]) for part in parts if part.key in means],
        "bar": stacked_bar(means, parts, name) if parts and parts[0].key in means else "",
    }


def stacked_bar(means: Mapping[str, float], parts: Sequence[ScorePart], name: str) -> Svg:
    """The parts of a score laid end to end, each as long as the points it gave; the whole width is a score of 1."""
    start, bars, words = 0.0, [], []
    for number, part in enumerate(parts, start=1):
        points = part.weight * means[part.key]
        bars.append(tag("rect", x=round(start, 3), width=round(100 * points, 3), height=12, class_=f"part-{number}"))
        words.append(f"{part.label} {points:.2f} of {part.weight:.2f}")
        start += 100 * points
    title = f"{name}: {', '.join(words)}"
    return tag(
        "svg",
        tag("title", escape(title)) + "".join(bars),
        viewBox="0 0 100 12",
        preserveAspectRatio="none",
        class_="parts",
        role="img",
        aria_label=title,
    )


def category_tabs(fit: Fit) -> list[tuple[str, str]]:
    scored = result_of(fit)["categories"]
    return rules_of(fit.run.code).in_order(scored) if len(scored) > 1 else []


def category_table(fit: Fit, labels: Mapping[str, str]) -> dict[str, Any]:
    """Scores by entrant (in the overall order) and category."""
    tabs, result = category_tabs(fit), result_of(fit)
    cells = {(row["entrant"], key): row for key, rows in result["categories"].items() for row in rows}
    rows = [(named(row, labels), [cells.get((row["entrant"], key)) for key, _ in tabs]) for row in result["overall"]]
    return {"heads": [name for _, name in tabs], "rows": rows if tabs else []}


Counts = Mapping[tuple[str, str], int]  # by entrant and kind


def stage_counts(result: AutomaticResult) -> Counts:
    return {(row["entrant"], row["stage"]): row["samples"] for row in result.get("stages", [])}


def reason_counts(result: AutomaticResult) -> Counts:
    return {(row["entrant"], row["reason"]): row["samples"] for row in result.get("reasons", [])}


def reason_words(result: AutomaticResult) -> dict[str, str]:
    """Reasons as people say them: `invalid_json` is for files."""
    counts = reason_counts(result)
    kinds = sorted(
        {kind for _, kind in counts}, key=lambda kind: (-sum(n for (_, k), n in counts.items() if k == kind), kind)
    )
    return {kind: spoken(kind) for kind in kinds}


def count_table(
    result: AutomaticResult, counts: Counts, labels: Mapping[str, str], words: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Counts by entrant (columns, in the overall order) and stage or reason (rows, the most frequent first)."""
    order = [row["entrant"] for row in result["overall"]]
    kinds = list(words) if words else []
    kinds = [k for k in kinds if any(k == kind for _, kind in counts)] or sorted(
        {kind for _, kind in counts}, key=lambda kind: (-sum(n for (_, k), n in counts.items() if k == kind), kind)
    )
    rows = []
    for kind in kinds:
        cells = [counts.get((name, kind), 0) for name in order]
        rows.append({"kind": kind, "words": (words or {}).get(kind, ""), "counts": cells, "sum": sum(cells)})
    return {"heads": [label(name, labels) for name in order], "rows": rows, "sum": sum(row["sum"] for row in rows)}


def people_context(fit: Fit, labels: Mapping[str, str]) -> dict[str, Any]:
    """The automatic score beside what people voted; {} where nobody did."""
    people: PeopleResult | None = fit.result.get("people")
    if not people:
        return {"people": None}
    by_score = shared_ranks([row["score"] for row in people["entrants"]])
    by_rating = shared_ranks([row["rating"] for row in people["entrants"]])
    codes = [row["sample"] for row in people["drawings"]]
    samples = {
        s.code: s
        for s in fit.run.samples.filter(code__in=codes)
        .select_related("entrant", "model", "prompt", "run")
        .defer("run__config")
    }
    return {
        "people": people,
        "people_sentence": people_sentence(people),
        "people_rows": [
            {**row, "label": named(row, labels), "score_place": score, "rating_place": rating}
            for row, score, rating in zip(people["entrants"], by_score, by_rating, strict=True)
        ],
        "disputed": [
            {**row, "drawing": samples[row["sample"]]} for row in people["drawings"] if row["sample"] in samples
        ],
    }


def people_sentence(people: PeopleResult) -> str:
    tau, rho = people["kendall"], people["spearman"]
    rests = f"over {people['count']} ranked by both and {people['votes']} votes"
    if tau["value"] is None:
        return f"There is no correlation to speak of yet, {rests}."
    words = next(words for limit, words in AGREEMENT if tau["value"] >= limit)
    figures = f"Kendall’s τ is {correlation(tau)}, Spearman’s ρ is {correlation(rho)}, {rests}."
    caveat = "" if tau["low"] is not None else " Fewer than five give no interval."
    return f"{words} {figures}{caveat}"


def correlation(estimate: EstimateResult) -> str:
    bounds = "" if estimate["low"] is None else f" ({estimate['low']:.2f} to {estimate['high']:.2f})"
    return f"{estimate['value']:.2f}{bounds}"


AGREEMENT = (
    (0.999, "People and the score find the same order."),
    (0.6, "People and the score find much the same order."),
    (0.2, "People and the score agree on the order in part."),
    (-0.2, "The score says little about the order people find."),
    (-2.0, "People find the opposite order."),
)


def best_drawing(run: Run, fit: Fit) -> Best | None:
    """The drawing of the leader with the best score."""
    leader = next((row["entrant"] for row in result_of(fit)["overall"]), None)
    drawings = run.samples.judgeable().filter(entrant__name=leader)
    measured = Measurement.objects.filter(sample__in=drawings, backend=run.measure_backend)
    scores = {pk: run.drawing_format.score(values) for pk, values in measured.values_list("sample_id", "values")}
    known = {pk: score for pk, score in scores.items() if score is not None}
    if not known:
        return None
    best = min(known, key=lambda pk: (-known[pk], pk))
    sample = find_sample(run, pk=best)
    return Best(sample, f"score {known[best]:.2f} of 1") if sample else None
