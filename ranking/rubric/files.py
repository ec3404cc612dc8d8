"""Files of grades: grades.jsonl in, with every bad line named; JSON and Markdown out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchsite.lib.file_errors import BadField, FileError, unreadable
from benchsite.lib.json_lines import JsonError, read_object
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.lib.text import clean_text, csv_text, markdown_cell
from generation.suites.suite import Rubric, Suite
from ranking.rubric.model_judges.document import graders_dict
from ranking.rubric.model_judges.sentences import graders_markdown
from ranking.statistics.agreement.coefficients import Estimate
from ranking.words import gap_lines

if TYPE_CHECKING:
    from ranking.rubric.scores import RubricBoard

COLUMNS = ["judge", "entrant", "stage", "subject", "attempt", "dimension", "value"]
NAMES = ("judge", "entrant", "stage", "subject", "dimension")


def read_grades(path: Path, *, suite: Suite, progress: Progress = unwatched) -> pd.DataFrame:
    """One row a grade, columns `judge, entrant, stage, subject, attempt, dimension, value`.

    Every grade must belong to the suite: stage, subject, dimension, and a value on its scale. Further fields are ignored.
    """
    rows: list[tuple[Any, ...]] = []
    seen: dict[tuple[Any, ...], int] = {}
    subjects = {(p.category, name) for p in suite.prompts for name in (p.subject, p.key) if name}
    number = 0
    if suite.rubric is None:
        raise FileError(path.name, 0, "", f"the suite {suite.slug} has no rubric.")
    try:
        for number, fields in standing_rows(path):
            row = parse_grade(fields, suite.rubric, subjects)
            first = seen.setdefault(row[:-1], number)
            if first != number:
                raise BadField("dimension", f"this judge graded it already in line {first}.")
            rows.append(row)
            progress(len(rows), 0)
    except BadField as error:
        raise FileError(path.name, number, error.field, str(error)) from None
    except UnicodeDecodeError as error:
        raise FileError(path.name, error.object.count(b"\n", 0, error.start) + 1, "", "it is not UTF-8 text.") from None
    except OSError as error:
        raise unreadable(path.name, error) from None
    if not rows:
        raise FileError(path.name, 0, "", "there is no grade in it.")
    return pd.DataFrame(rows, columns=COLUMNS)


def standing_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, row) of each grade; blank lines, and in an archive's file withdrawn grades, are passed over."""
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        try:
            row = read_object(line) if line.strip() else None
        except JsonError as error:
            raise FileError(path.name, number, "", f"it {error}.") from None
        if row is not None and row.get("withdrawn_at") is None:
            yield number, row


def parse_grade(row: dict[str, Any], rubric: Rubric, subjects: set[tuple[str, str]]) -> tuple[Any, ...]:
    """A grade in the order of COLUMNS; raises BadField."""
    for name in COLUMNS:
        if name not in row:
            raise BadField(name, "this field is missing.")
    for name in NAMES:
        if not isinstance(row[name], str) or not row[name].strip():
            raise BadField(name, f"{_short(row[name])} is not a name.")
        if clean_text(row[name])[0] != row[name]:
            raise BadField(name, f"{_short(row[name])} has a character that no database can hold.")
    stages = {stage.key: stage for stage in rubric.stages}
    if row["stage"] not in stages:
        raise BadField("stage", f"{_short(row['stage'])} is none of {', '.join(stages)}.")
    if (row["stage"], row["subject"]) not in subjects:
        raise BadField("subject", f"{_short(row['subject'])} is no subject of stage {row['stage']}.")
    dimensions = [dimension.key for dimension in stages[row["stage"]].dimensions]
    if row["dimension"] not in dimensions:
        raise BadField("dimension", f"{_short(row['dimension'])} is none of {', '.join(dimensions)}.")
    if type(row["attempt"]) is not int or not 0 <= row["attempt"] < 10**6:
        raise BadField("attempt", f"{_short(row['attempt'])} is not a whole number.")
    return (*(row[name] for name in COLUMNS[:-1]), check_value(row["value"], rubric))


def check_value(value: Any, rubric: Rubric) -> float:
    """The value as a number on the rubric's scale; raises BadField."""
    if fault := rubric.fault(value):
        raise BadField("value", fault)
    return float(value)


def _short(value: Any) -> str:
    return repr(value)[:60]


def board_json(board: RubricBoard, rubric: Rubric) -> str:
    record = {key: value for key, value in vars(board).items() if key not in ("items", "differences", "models")}
    record["verdicts"] = board.differences[""].table
    record["category_verdicts"] = {key: value.table for key, value in board.differences.items() if key}
    record["scores"] = [asdict(score) for score in board.scores]
    record["judges"] = [asdict(judge) for judge in board.judges]
    record["stages"] = {stage.key: {"label": stage.label, "weight": stage.weight} for stage in rubric.stages}
    record |= {key: asdict(record[key]) for key in ("icc1", "icck", "alpha")}
    if board.models:
        record["model_judges"] = graders_dict(board.models)
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def board_csv(board: RubricBoard, rubric: Rubric) -> str:
    stages = [stage.key for stage in rubric.stages]
    rows: list[list[object]] = [
        ["rank", "entrant", "total", "low", "high", *stages, "drawings", "graded", "invalid", "pending", "sd"]
    ]
    for score in board.scores:
        numbers = [score.total.value, score.total.low, score.total.high, *(score.stages[key].value for key in stages)]
        counts = [score.drawings, score.graded, score.invalid, score.pending, score.consistency.sd]
        rows.append([score.rank, score.entrant, *numbers, *counts])
    return csv_text(rows)


def board_markdown(board: RubricBoard, rubric: Rubric) -> str:
    stages = [stage.key for stage in rubric.stages]
    labels = " | ".join(markdown_cell(stage.label) for stage in rubric.stages)
    lines = [
        f"| Rank | Entrant | Total | 95% interval | {labels} | Graded | Invalid | SD across attempts |",
        f"|---:|---|---:|---|{'---:|' * len(stages)}---:|---:|---:|",
    ]
    for score in board.scores:
        cells = " | ".join(_number(score.stages[stage].value) for stage in stages)
        lines.append(
            f"| {score.rank or '–'} | {markdown_cell(score.entrant)} | {_number(score.total.value)} | {_range(score.total)} "
            f"| {cells} | {score.graded} | {score.invalid} | {_number(score.consistency.sd)} |"
        )
    lines += ["", *gap_lines(board.differences[""].table, [score.entrant for score in board.scores], digits=1)]
    lines += ["", "| Judge | Drawings | Mean | Offset from others |", "|---|---:|---:|---:|"]
    for judge in board.judges:
        offset = "–" if judge.offset is None else f"{judge.offset:+.2f}"
        lines.append(f"| {markdown_cell(judge.judge)} | {judge.drawings} | {judge.mean:.2f} | {offset} |")
    lines += ["", *_agreement_lines(board), *board.notes]
    if board.models:
        lines += ["", "\n\n".join(graders_markdown(graders_dict(board.models)))]
    return "\n".join(lines) + "\n"


def _agreement_lines(board: RubricBoard) -> list[str]:
    on = f"{board.icc_targets} drawings graded by the same {board.icc_judges} judges"
    return [
        f"ICC(2,1) {_number(board.icc1.value)} ({_range(board.icc1)}), ICC(2,k) {_number(board.icck.value)} on {on}; "
        f"Krippendorff's alpha (interval) {_number(board.alpha.value)} ({_range(board.alpha)}) on {board.alpha_units} drawings "
        f"with two or more judges. {board.grades} grades."
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _range(estimate: Estimate) -> str:
    return "–" if estimate.low is None else f"{estimate.low:.2f} – {estimate.high:.2f}"


OUTPUTS = {"json": board_json, "markdown": board_markdown, "csv": board_csv}
