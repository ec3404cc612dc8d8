"""Answers as files: database.jsonl in, with every bad line named; an automatic leaderboard as JSON, Markdown and CSV out."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchsite.lib.file_errors import FileError
from benchsite.lib.json_lines import JsonError, read_object
from benchsite.lib.text import clean_text, csv_cell, decode, markdown_cell
from generation.suites.suite import Suite

if TYPE_CHECKING:
    from ranking.automatic.scores import Scores

NEEDED = {"model_id": str, "prompt_text": str, "attempt_number": int, "raw_output": str}


def read_samples(path: Path, *, suite: Suite) -> Iterator[dict[str, Any]]:
    """Rows with model, prompt, category, attempt, raw_output, finish_reason.

    A prompt is known by its text; typographic characters are overlooked, since files often come with broken ones. An
    unknown prompt keeps its own text as its name, and the line's `category` if it has one.
    """
    known = {_plain(prompt.text): prompt for prompt in suite.prompts}
    seen: set[tuple[str, str, int]] = set()
    for line, raw in enumerate(_lines(path), start=1):
        text, _ = decode(raw)
        if not text.strip():
            continue
        row = _row(path.name, line, text)
        prompt = known.get(_plain(row["prompt_text"]))
        key = (row["model_id"], prompt.key if prompt else row["prompt_text"], row["attempt_number"])
        if key in seen:
            raise FileError(path.name, line, "attempt_number", "this model's attempt at this prompt came before.")
        seen.add(key)
        category = prompt.category if prompt else row.get("category") or ""
        reason = row.get("finish_reason")
        yield {
            "model": key[0],
            "prompt": key[1],
            "category": clean_text(str(category))[0],
            "attempt": key[2],
            "raw_output": row["raw_output"],
            "finish_reason": clean_text(reason)[0] if isinstance(reason, str) else "",
        }
    if not seen:
        raise FileError(path.name, 0, "", "there is no answer in it.")


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise FileError(path.name, 0, "", f"it cannot be read ({error.strerror}).") from None


def _row(file: str, line: int, text: str) -> dict[str, Any]:
    try:
        row = read_object(text)
    except JsonError as error:
        raise FileError(file, line, "", f"this {error}.") from None
    for field, kind in NEEDED.items():
        if row.get(field) is None:
            # A model that said nothing at all has still been asked.
            if field == "raw_output" and field in row:
                row[field] = ""
                continue
            raise FileError(file, line, field, "is missing.")
        if type(row[field]) is not kind:
            raise FileError(file, line, field, f"must be {'text' if kind is str else 'a whole number'}.")
        if kind is str:
            row[field] = clean_text(row[field])[0]  # as a run stores it
    return row


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\x20-\x7e\n]+", "", text).split())


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON has them: NaN as null."""
    return json.loads(table.to_json(orient="records", double_precision=9))


def to_json(scores: Scores, *, slug: str, title: str) -> str:
    tables = ("models", "categories", "stages", "reasons", "prompts")
    found = {"suite": slug, "title": title, "samples": scores.samples, "level": scores.level}
    found |= {name: records(getattr(scores, name)) for name in tables}
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n"


def _span(row: dict[str, Any]) -> str:
    return "one prompt" if row["low"] is None else f"{row['low']:.3f} – {row['high']:.3f}"


def to_markdown(scores: Scores, *, slug: str, title: str) -> str:
    lines = [
        f"# {markdown_cell(title)}",
        "",
        f"{scores.samples} answers. Intervals are 95 %, clustered by prompt. Spread is the standard deviation across attempts.",
        "",
        f"| # | Model | Score | Interval | {''.join(f'{part.label} | ' for part in scores.parts)}Drawable | Spread | Answers |",
        f"|---:|---|---:|---|{'---:|' * len(scores.parts)}---:|---:|---:|",
    ]
    for row in records(scores.models):
        shown = "".join(f"{row[part.key]:.3f} | " for part in scores.parts)
        spread = "–" if row["sd"] is None else f"{row['sd']:.3f}"
        lines.append(
            f"| {row['rank']} | {markdown_cell(row['model'])} | {row['score']:.3f} | {_span(row)} | {shown}"
            f"{row['valid']:.0%} | {spread} | {row['samples']} |"
        )
    lines += ["", "## By category", "", "| Category | Model | Score | Interval | Answers |", "|---|---|---:|---|---:|"]
    for row in sorted(records(scores.categories), key=lambda row: (row["category"], -row["score"])):
        lines.append(
            f"| {markdown_cell(row['category']) or '–'} | {markdown_cell(row['model'])} | {row['score']:.3f} | {_span(row)} | {row['samples']} |"
        )
    lines += ["", "## How answers were read", "", "| Model | Stage or reason | Answers |", "|---|---|---:|"]
    lines += [
        f"| {markdown_cell(row['model'])} | {row['stage']} | {row['samples']} |" for row in records(scores.stages)
    ]
    lines += [
        f"| {markdown_cell(row['model'])} | no drawing: {row['reason']} | {row['samples']} |"
        for row in records(scores.reasons)
    ]
    return "\n".join(lines) + "\n"


def to_csv(scores: Scores, *, slug: str, title: str) -> str:
    """The table of models; names are kept from being read as formulas."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(scores.models.columns)
    for row in records(scores.models):
        writer.writerow([csv_cell(value) if isinstance(value, str) else value for value in row.values()])
    return file.getvalue()


WRITERS = {"json": to_json, "markdown": to_markdown, "csv": to_csv}
