"""A run scored by its measurements: by the format's own score, or by the share of answers with a drawing."""

from __future__ import annotations

from typing import Any

import pandas as pd
from django.db.models import QuerySet

from generation.models import Run, Sample
from ranking.automatic.against_people import compare_with_people
from ranking.automatic.files import records, to_csv, to_markdown
from ranking.automatic.scores import Scores, score_samples
from ranking.statistics.rounding import rounded

TABLES = ("stages", "reasons", "prompts")


def answers_of(run: Run) -> QuerySet[Sample]:
    """The answers that count: stored, not excluded by a curator, of entrants that compete."""
    return run.samples.filter(
        state=Sample.State.DRAWN, excluded_reason="", entrant__disqualified="", entrant__approved=True
    )


def measured_rows(run: Run, *, backend: str) -> list[dict[str, Any]]:
    """One row an answer that this backend has measured; what another backend said is not looked at."""
    rows = answers_of(run).filter(measurements__backend=backend).in_order()
    columns = ("id", "code", "entrant__name", "model__model_id", "prompt__key", "prompt__category", "attempt")
    columns += ("verdict", "reason", "measurements__values")
    return list(rows.values(*columns))


def unmeasured(run: Run, *, backend: str) -> int:
    return answers_of(run).exclude(measurements__backend=backend).count()


def scored_by_format(run: Run, *, backend: str) -> bool:
    """Whether the format's measurements hold a score of their own."""
    first = run.samples.filter(measurements__backend=backend).order_by("id").values_list("measurements__values").first()
    return bool(first) and isinstance(first[0].get("score"), int | float)


def sample_frame(run: Run, *, backend: str) -> pd.DataFrame:
    """The frame that `score_samples` takes; without a score of the format's own, an answer with a drawing has 1."""
    if scored_by_format(run, backend=backend):
        rows = measured_rows(run, backend=backend)
    else:
        columns = ("id", "code", "entrant__name", "model__model_id", "prompt__key", "prompt__category", "attempt")
        rows = list(answers_of(run).in_order().values(*columns, "verdict", "reason"))
        for row in rows:
            row["measurements__values"] = {"score": float(row["verdict"] == Sample.Verdict.VALID)}
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


def analyse_run(run: Run, *, options: dict[str, Any], full: bool) -> dict[str, Any]:
    """Standings by score with their intervals, parts, stages and reasons, and how far people agree where they judged."""
    backend = options["backend"]
    frame = sample_frame(run, backend=backend)
    by_format = scored_by_format(run, backend=backend)
    found: dict[str, Any] = {
        "backend": backend,
        "by_format": by_format,
        "votes": len(frame),
        "unmeasured": unmeasured(run, backend=backend) if by_format else 0,
        "overall": [],
        "categories": {},
        "run": {},
    }
    if frame.empty:
        return found
    scores = score_samples(frame, form=run.drawing_format)
    names = {"slug": run.suite, "title": str(run)}
    found |= {
        "overall": standings(records(scores.models)),
        "categories": categories(scores),
        "weights": {part.key: part.weight for part in scores.parts},
        **{table: [as_entrant(row) for row in records(getattr(scores, table))] for table in TABLES},
        "run": {"md": to_markdown(scores, **names), "csv": to_csv(scores, **names)},
    }
    found["people"] = compare_with_people(
        run,
        options=options,
        entrants={row["entrant"]: row["score"] for row in found["overall"]},
        drawings=dict(zip(frame["sample"], frame["score"], strict=True)),
    )
    return rounded(found)


def as_entrant(row: dict[str, Any]) -> dict[str, Any]:
    return {"entrant": row.pop("model"), **row}


def standings(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with `rank_low` and `rank_high`: places that are possible where only intervals apart from each other count."""
    done = []
    for row in rows:
        above = sum(
            other["low"] is not None and row["high"] is not None and other["low"] > row["high"] for other in rows
        )
        below = sum(
            other["high"] is not None and row["low"] is not None and other["high"] < row["low"] for other in rows
        )
        ranks = {"rank_low": 1 + above, "rank_high": len(rows) - below, "n": row["samples"]}
        done.append(as_entrant(dict(row)) | ranks)
    return done


def categories(scores: Scores) -> dict[str, list[dict[str, Any]]]:
    """Each category's rows, best first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(records(scores.categories), key=lambda row: (-row["score"], row["model"])):
        found.setdefault(row["category"], []).append(row)
    for rows in found.values():
        for row in rows:
            row["rank"] = 1 + sum(round(other["score"], 9) > round(row["score"], 9) for other in rows)
    return {key: standings(rows) for key, rows in sorted(found.items())}
