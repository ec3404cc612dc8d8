"""What the page of a competition of programs shows, from a stored fit alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from generation.models import Entrant
from ranking.automatic.page import people_context
from ranking.charts.intervals import Interval, Scale, interval_axis, interval_row, interval_scale
from ranking.competition.result import CompetitionResult, LetterWeight, ProgramScore, result_of
from ranking.models import Fit
from ranking.words import joined, label, labels_of, named, numbers_of, with_missing

LEVELS = 5  # shades of the heat map


def page_context(fit: Fit, *, scope: str = "") -> dict[str, Any]:
    result = result_of(fit)
    entrants = {entrant.name: entrant for entrant in fit.run.entrants.all()}
    labels = labels_of(entrants.values())
    known = dict(fit.run.models.values_list("model_id", "label"))
    models = {name: known.get(name, name) for name in result.get("models", [])}
    scored = [(score, row) for row in result["overall"] if (score := row["score"]) is not None]
    scale = interval_scale([Interval("", score, row["low"], row["high"]) for score, row in scored])
    scale = Scale(max(scale.low, 0.0), min(scale.high, 100.0))
    return {
        "sentence": overall_sentence(result, labels),
        "rests": rests_on(result),
        "read_by": fit.run.drawing_format.backend_name(result.get("backend", fit.run.measure_backend)),
        "rows": [make_row(row, entrants, models, scale) for row in result["overall"]],
        "axis": interval_axis(scale),
        "models": list(models.values()),
        "heat": heat_map(result, labels),
        "model_heats": [(name, heat_map(result, labels, model=model)) for model, name in models.items()],
        "weights": weight_table(result),
        "waiting": [entrants[name] for name in result.get("waiting", []) if name in entrants],
        "labels": labels,
        **people_context(fit, labels),
    }


def overall_sentence(result: CompetitionResult, labels: Mapping[str, str]) -> str:
    sentence = verdict_sentence(result["overall"], labels, trials=result["trials"])
    return with_missing(sentence, result.get("answers"))


def verdict_sentence(rows: Sequence[ProgramScore], labels: Mapping[str, str], *, trials: int) -> str:
    """The policy's verdict in words: a winner, co-winners, or nobody, and against which baseline."""
    if not rows:
        return "No level has been measured yet, so no program leads."
    baselines = [(score, row) for row in rows if row["baseline"] and (score := row["score"]) is not None]
    best = max(baselines, key=lambda pair: pair[0], default=None)
    bar = f"; the baseline {named(best[1], labels)} has {best[0]:.1f}" if best else ""
    winners = [row for row in rows if row["winner"]]
    if len(winners) == 1:
        return f"{named(winners[0], labels)} wins with {winners[0]['score']:.1f} of 100 points{bar}."
    if winners:
        lead = f"{joined(winners, labels)} are co-winners with {winners[0]['score']:.1f} points each"
        return f"{lead}: the same score and the same length of prompt{bar}."
    ranked = [row for row in rows if row["rank"] is not None]
    if not ranked:
        return "No program competes yet."
    if trials == 1:
        return (
            "There is one attempt per letter, so no level can differ from another: diversity, and with it every score, is 0. "
            "Two attempts or more give a ranking."
        )
    if not any(row["score"] for row in rows):
        return "No level has scored yet, so there is no winner."
    return f"No program beats the baseline, so there is no winner: the best has {ranked[0]['score']:.1f} points{bar}."


def rests_on(result: CompetitionResult) -> str:
    if not result["overall"]:
        return ""
    letters, models = len(result["targets"]), len(result["models"])
    return (
        f"{result['votes']} levels: {letters} letter{'s' * (letters != 1)}, {models} model{'s' * (models != 1)}, "
        f"{result['trials']} trial{'s' * (result['trials'] != 1)} each."
    )


def make_row(
    row: ProgramScore, entrants: Mapping[str, Entrant], models: Mapping[str, str], scale: Scale
) -> dict[str, Any]:
    entrant = entrants.get(row["entrant"])
    name = entrant.label if entrant else row["entrant"]
    picture = ""
    if row["score"] is not None:
        bounds = "" if row["low"] is None else f" ({row['low']:.1f}–{row['high']:.1f})"
        low, high = (row["score"], row["score"]) if row["low"] is None else (row["low"], row["high"])
        title, number = f"{name}: {row['score']:.1f}{bounds} of 100", numbers_of(entrants.values()).get(row["entrant"])
        picture = interval_row(Interval(name, row["score"], low, high, title=title, number=number), scale)
    prompts = [(name, 1000 * row["prompt"][model] if row["prompt"] else None) for model, name in models.items()]
    return {"entrant": entrant, "label": name, "standing": row, "interval": picture, "prompts": prompts}


def heat_map(result: CompetitionResult, labels: Mapping[str, str], *, model: str = "") -> dict[str, Any]:
    """Char scores in thousandths by letter (rows) and program (columns): of one model, or their mean over the models."""
    programs = [row["entrant"] for row in result["overall"] if row["score"] is not None]
    sums: dict[tuple[str, str], list[float]] = {}
    for row in result.get("chars", []):
        if row["program"] in programs and model in ("", row["model"]):
            sums.setdefault((row["target"], row["program"]), []).append(1000 * row["char"])
    cells = {key: sum(values) / len(values) for key, values in sums.items()}
    most = max(cells.values(), default=0.0)
    rows = [
        (letter, [shaded(cells.get((letter, program), 0.0), most) for program in programs])
        for letter in result.get("targets", [])
    ]
    return {"heads": [label(name, labels) for name in programs], "rows": rows}


def shaded(value: float, most: float) -> tuple[float, int]:
    """(value, shade from 0 to 5)"""
    return value, round(LEVELS * value / most) if most else 0


def weight_table(result: CompetitionResult) -> list[tuple[str, list[LetterWeight]]]:
    """By letter: the weight and its three factors under each model, in the order of `models`."""
    letters: dict[str, dict[str, LetterWeight]] = {}
    for row in result.get("weights", []):
        letters.setdefault(row["target"], {})[row["model"]] = row
    return [(letter, [letters[letter][model] for model in result["models"]]) for letter in sorted(letters)]
