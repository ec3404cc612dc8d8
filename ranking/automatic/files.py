"""Reads answers from database.jsonl or a log of inspect_ai, naming every bad line, and writes an automatic leaderboard as JSON, Markdown and CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchsite.lib.file_errors import BadLine
from benchsite.lib.text import clean_text, csv_text, markdown_cell
from generation.files.inspect_logs import read_answers
from generation.files.sample_lines import SampleRow
from generation.suites.suite import Suite
from ranking.results import VerdictsResult
from ranking.statistics.rounding import rounded
from ranking.words import gap_lines, rank_words

if TYPE_CHECKING:
    from ranking.automatic.scores import Scores

MOST_ATTEMPTS = 10**6
DIFFERENCES = "On the prompts that both answered. Ranks are ranges: they follow from who is ahead."


def read_samples(path: Path, *, suite: Suite) -> Iterator[dict[str, Any]]:
    """Rows with model, prompt, category, attempt, raw_output, finish_reason.

    A prompt is known by its text; typographic characters are overlooked, since files often come with broken ones. An
    unknown prompt keeps its own text as its name, and the line's `category` if it has one.
    """
    known = {_plain(prompt.text): prompt for prompt in suite.prompts}
    seen: set[tuple[str, str, int]] = set()
    for row in read_answers(path):
        model, text = (clean_text(row.text(name))[0] for name in ("model_id", "prompt_text"))  # as a run stores them
        attempt = row.whole_number("attempt_number", least=0, most=MOST_ATTEMPTS)
        prompt = known.get(_plain(text))
        key = (model, prompt.key if prompt else text, attempt)
        if key in seen:
            raise row.bad("attempt_number", "repeats this model's attempt at this prompt")
        seen.add(key)
        category = prompt.category if prompt else row.fields.get("category") or ""
        reason = row.fields.get("finish_reason")
        yield {
            "model": model,
            "prompt": key[1],
            "category": clean_text(str(category))[0],
            "attempt": attempt,
            "raw_output": _answer(row),
            "finish_reason": clean_text(reason)[0] if isinstance(reason, str) else "",
        }
    if not seen:
        raise BadLine(path.name, 0, "", "there is no answer in it")


def _answer(row: SampleRow) -> str:
    """A model without any answer has still been asked."""
    asked = "raw_output" in row.fields and row.fields["raw_output"] is None
    return "" if asked else clean_text(row.text("raw_output"))[0]


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\x20-\x7e\n]+", "", text).split())


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON has them: NaN as null."""
    return json.loads(table.to_json(orient="records", double_precision=9))


def to_json(scores: Scores, *, slug: str, title: str) -> str:
    tables = ("models", "categories", "stages", "reasons", "prompts")
    document = {"suite": slug, "title": title, "samples": scores.samples, "level": scores.level}
    document |= {name: records(getattr(scores, name)) for name in tables}
    document |= rounded({"verdicts": scores.verdicts, "category_verdicts": scores.category_verdicts})
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _span(row: dict[str, Any]) -> str:
    return "one prompt" if row["low"] is None else f"{row['low']:.3f} – {row['high']:.3f}"


def to_markdown(scores: Scores, *, slug: str, title: str, missing: str = "") -> str:
    lines = [
        f"# {markdown_cell(title)}",
        "",
        f"{scores.samples} answers. {f'{missing} ' if missing else ''}Intervals are 95%, clustered by prompt. Spread is the standard deviation across attempts.",
        "",
        f"| Rank | Model | Score | Interval | {''.join(f'{part.label} | ' for part in scores.parts)}Drawable | Spread | Answers |",
        f"|---:|---|---:|---|{'---:|' * len(scores.parts)}---:|---:|---:|",
    ]
    for row in records(scores.models):
        shown = "".join(f"{row[part.key]:.3f} | " for part in scores.parts)
        spread = "–" if row["sd"] is None else f"{row['sd']:.3f}"
        lines.append(
            f"| {rank_words(row['rank_low'], row['rank_high'])} | {markdown_cell(row['model'])} | {row['score']:.3f} | {_span(row)} | {shown}"
            f"{row['valid']:.0%} | {spread} | {row['samples']} |"
        )
    verdicts: VerdictsResult = rounded(scores.verdicts)
    lines += ["", "## Differences between neighbours", "", DIFFERENCES]
    lines += ["", "", *gap_lines(verdicts, list(scores.models["model"]), digits=3)]
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
    return csv_text([scores.models.columns, *(row.values() for row in records(scores.models))])


WRITERS = {"json": to_json, "markdown": to_markdown, "csv": to_csv}
