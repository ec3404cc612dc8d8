"""A run scored by its measurements: by the format's own score, or by the share of answers with a drawing."""

from __future__ import annotations

from typing import Any

import pandas as pd

from generation.models import Run, Sample, SampleQuerySet
from judging.disclosure import is_judged_blind
from ranking.answers import count_answers, notes_markdown
from ranking.automatic.against_people import compare_with_people
from ranking.automatic.files import records, to_csv, to_markdown
from ranking.automatic.result import AutomaticResult
from ranking.automatic.scores import Scores, score_samples
from ranking.statistics.rounding import rounded
from ranking.words import missing_sentence

COLUMNS = (
    *("id", "code", "entrant__name", "model__model_id", "prompt__key", "prompt__category"),
    *("attempt", "verdict", "reason"),
)
TABLES = ("stages", "reasons", "prompts")


def answers_of(run: Run) -> SampleQuerySet:
    """The answers that count: stored, not excluded by a curator, of entrants that compete."""
    return run.samples.filter(
        state=Sample.State.DRAWN, excluded_reason="", entrant__disqualified="", entrant__approved=True
    )


def measured_rows(run: Run, *, backend: str) -> list[dict[str, Any]]:
    """One row an answer that this backend has measured; what another backend measured does not count."""
    rows = answers_of(run).filter(measurements__backend=backend).in_order()
    return list(rows.values(*COLUMNS, "measurements__values"))


def unscored_rows(run: Run, *, backend: str) -> list[dict[str, Any]]:
    """Invalid answers about which the format's score has nothing to say: they have 0 points."""
    invalid = answers_of(run).filter(verdict=Sample.Verdict.INVALID).unmeasured(backend).in_order()
    parts = {part.key: 0.0 for part in run.drawing_format.score_parts}
    return [{**row, "measurements__values": {"score": 0.0, **parts}} for row in invalid.values(*COLUMNS)]


def unmeasured_of(run: Run, *, backend: str) -> int:
    """Drawings that wait to be measured."""
    return answers_of(run).exclude(verdict=Sample.Verdict.INVALID).unmeasured(backend).count()


def scored_by_format(run: Run, *, backend: str) -> bool:
    """Whether the format's measurements hold a score of their own."""
    first = run.samples.filter(measurements__backend=backend).order_by("id").values_list("measurements__values").first()
    return first is not None and isinstance(first[0].get("score"), int | float)


def sample_frame(run: Run, *, backend: str) -> pd.DataFrame:
    """The frame that `score_samples` takes; without a score of the format's own, an answer with a drawing has 1."""
    if scored_by_format(run, backend=backend):
        rows = [*measured_rows(run, backend=backend), *unscored_rows(run, backend=backend)]
    else:
        rows = list(answers_of(run).in_order().values(*COLUMNS))
        for row in rows:
            row["measurements__values"] = {"score": float(row["verdict"] == Sample.Verdict.VALID)}
    return frame_of(rows)


def frame_of(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sample": row["id"],
            "code": row["code"],
            "model": row["entrant__name"],
            "prompt": row["prompt__key"],
            "category": row["prompt__category"],
            "attempt": row["attempt"],
            "reason": row["reason"],
            "stage": "",
            **row["measurements__values"],
        }
        for row in rows
    )


def analyse_run(run: Run, *, options: dict[str, Any], full: bool) -> AutomaticResult:
    """Standings by score with their intervals, parts, stages and reasons, and how far people agree where they judged."""
    backend = options["backend"]
    frame = sample_frame(run, backend=backend)
    by_format = scored_by_format(run, backend=backend)
    result: dict[str, Any] = {
        "backend": backend,
        "by_format": by_format,
        "votes": len(frame),
        "unmeasured": unmeasured_of(run, backend=backend) if by_format else 0,
        "answers": count_answers(run),
        "overall": [],
        "categories": {},
        "run": {},
    }
    if frame.empty:
        return rounded(result)
    scores = score_samples(frame, form=run.drawing_format)
    names = {"slug": run.suite, "title": str(run)}
    result |= document_of(scores) | {
        "run": {
            "md": "\n".join(
                [to_markdown(scores, **names, missing=missing_sentence(result["answers"])), *notes_markdown(run)]
            ),
            "csv": to_csv(scores, **names),
        },
    }
    # Everybody sees this board, so it says nothing of people's votes while they could be told apart by it.
    result["people"] = None
    if not is_judged_blind(run):
        result["people"] = compare_with_people(
            run,
            options=options,
            entrants={row["entrant"]: row["score"] for row in result["overall"]},
            drawings=dict(zip(frame["sample"], frame["score"], strict=True)),
        )
    return rounded(result)


def document_of(scores: Scores) -> dict[str, Any]:
    return {
        "overall": standings(records(scores.models)),
        "categories": categories(scores),
        "verdicts": scores.verdicts,
        "category_verdicts": scores.category_verdicts,
        "weights": {part.key: part.weight for part in scores.parts},
        **{table: [as_entrant(row) for row in records(getattr(scores, table))] for table in TABLES},
    }


def as_entrant(row: dict[str, Any]) -> dict[str, Any]:
    return {"entrant": row.pop("model"), **row}


def standings(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [as_entrant(dict(row)) | {"n": row["samples"]} for row in rows]


def categories(scores: Scores) -> dict[str, list[dict[str, Any]]]:
    """Each category's rows, best first."""
    by_category: dict[str, list[dict[str, Any]]] = {}
    for row in records(scores.categories):
        by_category.setdefault(row["category"], []).append(row)
    return {key: standings(rows) for key, rows in sorted(by_category.items())}
