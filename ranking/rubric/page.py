"""What the page of a rubric leaderboard shows, from a stored fit alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from generation.models import Entrant, Run
from judging.disclosure import drawings_are_open
from judging.grades.sheets import rubric_of
from ranking.best import Best, find_sample
from ranking.charts.intervals import Interval, Scale, interval_axis, interval_row
from ranking.charts.quadrants import Dot, medians, quadrant_chart, quadrant_of
from ranking.models import Fit
from ranking.people import judge_labels
from ranking.results import EstimateResult, ScoreRow
from ranking.rubric.result import EntrantResult, RubricResult, result_of
from ranking.words import (
    ALPHA_WORDS,
    decimals,
    label,
    labels_of,
    named,
    number_word,
    numbers_of,
    rank_words,
    steadiness,
    with_missing,
)

ICC_WORDS = ((0.9, "excellent"), (0.75, "good"), (0.5, "moderate"), (-10.0, "poor"))  # Koo and Li 2016


def page_context(fit: Fit, *, scope: str = "") -> dict[str, Any]:
    """All of the leaderboard's page; `scope` is a stage's key or empty for the total."""
    result, rubric = result_of(fit), rubric_of(fit.run.code)
    entrants = {entrant.name: entrant for entrant in fit.run.entrants.all()}
    labels = labels_of(entrants.values())
    listed = result["categories"].get(scope, []) if scope else result["overall"]
    scale = Scale(rubric.low, rubric.high) if scope else Scale(0, 100)
    known = {row["entrant"] for row in listed}
    return {
        "rubric": rubric,
        "scope": scope,
        "categories": [(stage.key, stage.label) for stage in rubric.stages],
        "stage": rubric.stage(scope) if scope else None,
        "sentence": with_missing(
            leading_words(listed, labels, top=rubric.high if scope else 100, where=scope), result.get("answers")
        ),
        "rows": [make_row(row, result, entrants, scale, digits=2 if scope else 1) for row in listed],
        "axis": interval_axis(scale),
        "unscored": [entrant for name, entrant in entrants.items() if name not in known],
        "agreement": agreement_words(result),
        "agreement_in_short": agreement_words(result)[0].partition(", on ")[0].rstrip("."),
        "steadiness": steadiness(
            ((row["consistency"]["variance"], named(row, labels)) for row in result["scores"]),
            digits=2,
            asked="subject",
        ),
        "judges": judge_rows(fit),
        "simulated": result["run"].get("simulated", 0),
        "gallery": drawings_are_open(fit.run),
        "structure": structure_rows(result, labels) if not scope else [],
        **scatter_context(fit, labels, scope=scope),
    }


def make_row(
    row: ScoreRow, result: RubricResult, entrants: Mapping[str, Entrant], scale: Scale, *, digits: int
) -> dict[str, Any]:
    score = next(score for score in result["scores"] if score["entrant"] == row["entrant"])
    entrant = entrants.get(row["entrant"])
    name = entrant.label if entrant else row["entrant"]
    known = row["low"] is not None
    reach = f"{row['low']:.{digits}f}–{row['high']:.{digits}f}" if known else "no interval"
    title, number = f"{name}: {row['score']:.{digits}f} ({reach})", numbers_of(entrants.values()).get(row["entrant"])
    interval = Interval(name, row["score"], row["low"], row["high"], title=title, number=number)
    return {
        "entrant": entrant,
        "label": name,
        "standing": row,
        "ranks": rank_words(row["rank_low"], row["rank_high"]),
        "value": f"{row['score']:.{digits}f}",
        "reach": reach,
        "interval": interval_row(interval, scale),
        "score": score,
        "stages": list(score["stages"].items()),
        "valid": score["drawings"] - invalid_of(score),
    }


def invalid_of(score: EntrantResult) -> int:
    """Answers without a drawing; fits of earlier releases have them among the missing."""
    earlier: Mapping[str, Any] = score
    return earlier["invalid"] if "invalid" in earlier else earlier["missing"]


def leading_sentence(result: RubricResult, labels: Mapping[str, str]) -> str:
    """What the list of leaderboards says about this one."""
    return with_missing(leading_words(result["overall"], labels, top=100, where=""), result.get("answers"))


def leading_words(rows: list[ScoreRow], labels: Mapping[str, str], *, top: float, where: str) -> str:
    """The first thing the page says; those that it is not ahead of are not separated from it."""
    if not rows:
        nothing = "Nobody has a graded drawing in every stage yet, so there is no total to rank by."
        return "There are no grades here yet, so nothing is ranked." if where else nothing
    first = rows[0]
    name = named(first, labels)
    out_of = f"{first['score']:.1f} of {top:g}"
    if len(rows) == 1:
        return f"{name} has {out_of} points and no rival to compare with."
    close = [row for row in rows if row["rank_low"] == 1]
    if first["low"] is None:
        return f"{name} has the most points ({out_of}). There is no interval yet, so nobody can be said to lead."
    if len(close) == 1:
        second = rows[1]
        gap = first["score"] - second["score"]
        return f"{name} leads with {out_of} points, {gap:.1f} more than {named(second, labels)}. This may still change."
    if len(close) == len(rows) > 2:
        return f"{name} has the most points ({out_of}), but is not separated from the others yet."
    return f"{number_word(len(close)).capitalize()} are not separated at the top yet; {name} has the most points ({out_of})."


def agreement_words(result: RubricResult) -> list[str]:
    """How far judges agree, in sentences with what each number rests on."""
    single, mean, alpha = result["icc1"], result["icck"], result["alpha"]
    if alpha["value"] is None:
        return ["No drawing was graded by two judges yet, so agreement is unknown."]
    words = next((words for limit, words in ALPHA_WORDS if alpha["value"] >= limit), "hardly more than chance")
    sentences = [
        f"Krippendorff’s α (interval) = {number(alpha)}: {words}, on {result['alpha_units']} drawings with two or more judges."
    ]
    if single["value"] is not None and mean["value"] is not None:
        trust = next((words for limit, words in ICC_WORDS if mean["value"] >= limit), "poor")
        sentences.append(
            f"ICC(2,1) = {number(single)} for one judge, ICC(2,k) = {number(mean)} for the mean of these "
            f"{result['icc_judges']}: {trust} reliability, on {result['icc_targets']} drawings that all of them graded."
        )
    return sentences


def number(estimate: EstimateResult) -> str:
    parts = (estimate["value"], estimate["low"], estimate["high"])
    value, low, high = (None if part is None else decimals(part, 2) for part in parts)
    return f"{value} ({low} to {high})" if low and high else str(value)


def judge_rows(fit: Fit) -> list[dict[str, Any]]:
    """Judges by number, the strictest first; names are for curators' pages."""
    labels = judge_labels(fit.run, curator=False)
    simulated = set(fit.run.seats.filter(is_simulated=True).values_list("pseudonym", flat=True))
    return [
        {**judge, "label": labels.get(judge["judge"], "a judge"), "simulated": judge["judge"] in simulated}
        for judge in sorted(result_of(fit)["judges"], key=lambda row: (row["offset"] is None, row["offset"] or 0))
    ]


def structure_rows(result: RubricResult, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    structure = sorted(result["run"].get("structure", {}).items(), key=lambda item: -(item[1]["visual"] or 0))
    return [{"label": label(name, labels), **values} for name, values in structure]


def scatter_context(fit: Fit, labels: Mapping[str, str], *, scope: str) -> dict[str, Any]:
    facts = result_of(fit)["run"]
    points = facts.get("points", [])
    if scope or len(points) < 2:
        return {}
    # A name beside its picture would end blind judging, and a private run's pictures are not for everybody.
    linked = drawings_are_open(fit.run) and fit.run.visibility == Run.Visibility.PUBLISHED
    dots = [
        Dot(
            anchors=point["anchors"],
            visual=point["visual"],
            title=f"{point['subject']}|{named(point, labels)}, attempt {point['attempt']}"
            f"|{point['visual']:.0f} points, {point['anchors']} anchors",
            link=reverse("gallery:sample", args=[point["code"]]) if linked else "",
        )
        for point in points
    ]
    numbers = numbers_of(fit.run.entrants.all())
    means = [
        Dot(
            values["anchors_all"],
            values["visual"],
            f"{label(name, labels)}|mean of its drawings|{values['visual']:.0f} points, {values['anchors_all']:.0f} anchors",
            name=label(name, labels),
            number=numbers.get(name, len(numbers)),
        )
        for name, values in facts.get("structure", {}).items()
        if values["visual"] is not None
    ]
    anchors, visual = medians(dots)
    places = [(dot, quadrant_of(dot, anchors=anchors, visual=visual)) for dot in means]
    return {
        "scatter": quadrant_chart(dots, means),
        "quadrants": places,
        "middle": (anchors, visual),
        "linked": linked,
    }


def best_drawing(run: Run, fit: Fit) -> Best | None:
    """The drawing with the best grades."""
    points = sorted(result_of(fit)["run"].get("points", []), key=lambda point: -point["visual"])
    for point in points[:1]:
        if sample := find_sample(run, code=point["code"]):
            return Best(sample, f"{point['visual']:.0f} of 100 points by its grades")
    return None
