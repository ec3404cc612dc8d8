"""A rubric run from the database: the same analysis as of a grades file, and what pages show beside it."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any

import pandas as pd
from django.db.models import Q

from benchsite.lib.text import markdown_cell
from benchsite.lib.times import parse_time
from generation.models import Measurement, Run, Sample
from generation.suites.suite import Rubric
from judging.grades.sheets import rubric_of
from judging.model_judges.answers import model_grade_lines
from judging.model_judges.grading import GRADES
from judging.models import Grade, Seat
from ranking.answers import count_answers, notes_markdown
from ranking.results import ScoreRow
from ranking.rubric.agreement import ITEM
from ranking.rubric.differences import Differences
from ranking.rubric.files import COLUMNS, board_csv, board_json, board_markdown
from ranking.rubric.model_judges.study import study_graders
from ranking.rubric.result import DrawingPoint, RubricResult
from ranking.rubric.scores import EntrantScore, RubricBoard, score_rubric
from ranking.statistics.agreement.coefficients import Estimate
from ranking.statistics.ranks import shared_ranks
from ranking.statistics.rounding import rounded
from ranking.words import missing_sentence

STRUCTURE = ("bytes", "tags", "advanced_share", "anchors_path", "anchors_all")


def analyse_run(run: Run, *, options: dict[str, Any], full: bool) -> RubricResult:
    """The document that `analyse` makes of a grades file, standings, and under `run` what only a database knows."""
    rubric = rubric_of(run.code)
    grades = grades_of(run, weights=options.get("weights", {}), until=options.get("until"))
    grades = in_part(grades, options.get("parts", {}))
    board = score_rubric(grades, rubric=rubric, expected=expected_of(run))
    if lines := [] if options.get("until") else list(model_grade_lines(run)):
        board = replace(board, models=study_graders(grades, lines, rubric))
    answers = count_answers(run)
    missing = missing_sentence(answers)
    structure = structure_of(run, board, high=rubric.high)
    tables = [
        board_markdown(board, rubric),
        *notes_markdown(run),
        *structure_markdown(structure.get("structure", {})),
    ]
    facts = {
        "md": "\n\n".join(part for part in (f"# {markdown_cell(str(run))}", missing, "\n".join(tables)) if part),
        "csv": board_csv(board, rubric),
        "simulated": Seat.objects.filter(run=run, is_simulated=True, grades__isnull=False).distinct().count(),
        "model_judges": GRADES.judges(run).count(),
        "waiting": run.samples.filter(state__in=[Sample.State.PENDING, Sample.State.ASKING]).count(),
        **structure,
    }
    return document_of(board, rubric) | {"answers": answers, "run": rounded(facts)}


def document_of(board: RubricBoard, rubric: Rubric) -> Any:
    """What `analyse` writes of a file of grades, and standings."""
    stages = {stage.key: [(score, score.stages[stage.key]) for score in board.scores] for stage in rubric.stages}
    return json.loads(board_json(board, rubric)) | {
        "overall": standings([(score, score.total) for score in board.scores], board.differences[""]),
        "categories": {key: standings(rows, board.differences[key]) for key, rows in stages.items()},
        "votes": board.grades,
    }


def grades_of(run: Run, *, weights: Mapping[str, float] | None = None, until: str | None = None) -> pd.DataFrame:
    """The standing grades as a frame with the columns of a grades file; judges by pseudonym, those set aside left out."""
    moment = parse_time(until) if until else None
    stood = Q(withdrawn_at=None)
    if moment:
        stood = Q(graded_at__lte=moment) & (stood | Q(withdrawn_at__gt=moment))
    out = [name for name, weight in (weights or {}).items() if weight == 0]
    grades = (
        Grade.objects.filter(stood, run=run, kept_out=False)
        .exclude(seat__pseudonym__in=out)
        .order_by("graded_at", "id")
    )
    names = ("seat__pseudonym", "sample__entrant__name", "sample__prompt__category", "sample__prompt__subject")
    more = ("sample__prompt__key", "sample__attempt", "dimension", "value")
    rows = [
        (judge, entrant, stage, subject or key, attempt, dimension, value)
        for judge, entrant, stage, subject, key, attempt, dimension, value in grades.values_list(*names, *more)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"attempt": int, "value": float})


def in_part(grades: pd.DataFrame, parts: Mapping[str, float]) -> pd.DataFrame:
    """Of the drawings that some judges graded only so large a part, chosen anew each time."""
    left_out = []
    for judge, part in parts.items():
        own = grades[grades["judge"] == judge]
        drawings = list(own.groupby(ITEM, sort=False).groups.values())
        count = len(drawings) - int(part * len(drawings) + 1e-9)
        left_out += [row for rows in random.SystemRandom().sample(drawings, count) for row in rows]
    return grades.drop(index=left_out).reset_index(drop=True) if left_out else grades


def expected_of(run: Run) -> pd.DataFrame:
    """Every answer that counts, `valid` or not. What is missing, still to be drawn, or withheld by a curator is not listed."""
    stages = [stage.key for stage in rubric_of(run.code).stages]
    samples = run.samples.filter(state=Sample.State.DRAWN, held=False, excluded_reason="", entrant__disqualified="")
    samples = samples.filter(prompt__category__in=stages, entrant__approved=True).in_order()
    names = ("entrant__name", "prompt__category", "prompt__subject", "prompt__key", "attempt", "verdict")
    rows = [
        (entrant, stage, subject or key, attempt, verdict == Sample.Verdict.VALID)
        for entrant, stage, subject, key, attempt, verdict in samples.values_list(*names)
    ]
    return pd.DataFrame(rows, columns=[*ITEM, "valid"]).astype({"attempt": int, "valid": bool})


def standings(rows: Iterable[tuple[EntrantScore, Estimate]], differences: Differences) -> list[ScoreRow]:
    """Best first, those without a score left out; ranges of ranks follow from differences."""
    known = [
        (score.entrant, score.graded, estimate, estimate.value)
        for score, estimate in rows
        if estimate.value is not None
    ]
    known.sort(key=lambda row: (-row[3], row[0]))
    ranks = shared_ranks([value for *_, value in known])
    ranges = [differences.ranges[entrant] for entrant, *_ in known]
    return [
        {
            "entrant": entrant,
            "score": value,
            "low": estimate.low,
            "high": estimate.high,
            "rank": rank,
            "rank_low": min(best, rank),
            "rank_high": max(worst, rank),
            "n": graded,
        }
        for (entrant, graded, estimate, value), rank, (best, worst) in zip(known, ranks, ranges, strict=True)
    ]


def structure_markdown(structure: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Means over valid drawings, counted on the code as the model wrote it."""
    if not structure:
        return []
    head = [
        "## SVG structure",
        "",
        "| Entrant | Visual score | Size (bytes) | Total tags | Advanced tags | Anchors | in paths | Drawings |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    rows = [
        f"| {markdown_cell(name)} | {'–' if row['visual'] is None else format(row['visual'], '.1f')} | {row['bytes']:.0f} "
        f"| {row['tags']:.1f} | {row['advanced_share']:.1%} | {row['anchors_all']:.1f} | {row['anchors_path']:.1f} | {row['drawings']} |"
        for name, row in structure.items()
    ]
    return [*head, *rows, ""]


def structure_of(run: Run, board: RubricBoard, *, high: float) -> dict[str, Any]:
    """How drawings are built, where the format counts that: a point for each graded drawing, and means by entrant."""
    rows = Measurement.objects.filter(sample__run=run, backend=run.measure_backend, sample__verdict="valid")
    names = ("sample__entrant__name", "sample__prompt__category", "sample__prompt__subject", "sample__prompt__key")
    measured: dict[tuple[Any, ...], tuple[str, dict[str, Any]]] = {}
    for entrant, stage, subject, key, attempt, code, values in rows.values_list(
        *names, "sample__attempt", "sample__code", "values"
    ):
        if "anchors_all" in values:
            measured[entrant, stage, subject or key, attempt] = (code, values)
    graded = board.items[board.items["state"] == "graded"] if len(board.items) else board.items
    points: list[DrawingPoint] = []
    items: Iterable[Any] = graded.itertuples()
    for item in items:
        code, values = measured.get((item.entrant, item.stage, item.subject, item.attempt), ("", None))
        if values is not None:
            points.append(
                {
                    "entrant": item.entrant,
                    "subject": item.subject,
                    "attempt": int(item.attempt),
                    "code": code,
                    "visual": item.score * 100 / high,
                    "anchors": values["anchors_all"],
                }
            )
    return {"points": points, "structure": structure_means(measured, points)} if measured else {}


def structure_means(measured: Mapping[tuple[Any, ...], Any], points: list[DrawingPoint]) -> dict[str, dict[str, Any]]:
    """Means over an entrant's valid drawings; `visual` over those that were graded."""
    by_entrant: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for (entrant, *_), (_, values) in measured.items():
        by_entrant[entrant].append(values)
    visual: dict[str, list[float]] = defaultdict(list)
    for point in points:
        visual[point["entrant"]].append(point["visual"])
    return {
        entrant: {name: fmean(values[name] for values in rows) for name in STRUCTURE}
        | {"drawings": len(rows), "visual": fmean(visual[entrant]) if visual[entrant] else None}
        for entrant, rows in by_entrant.items()
    }
