"""Automatic scores of answers: per sample in, per model, category and stage out, with intervals clustered by prompt.

A frame of samples has the columns `model, prompt, category, attempt, score, stage, reason`, the parts of the score where
the format names some, and perhaps more. An answer without a drawing is a row like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from generation.formats import get_format
from generation.formats.base import Answer, Format, ScorePart
from generation.formats.silence import extract_answer
from generation.suites.suite import Suite
from ranking.automatic.files import WRITERS, read_samples
from ranking.statistics.agreement.consistency import score_consistency
from ranking.statistics.ratings.intervals import LEVEL, clustered_mean
from ranking.statistics.verdicts.paired import judge_gaps, paired_gaps, verdict_table

MARGIN = 0.02  # of the scale: scores within it are practically equal


@dataclass(frozen=True)
class Scores:
    """A run scored automatically: all a leaderboard shows.

    - `models`: model, rank, rank_low, rank_high, score, low, high, the means of `parts`, samples, prompts, valid,
      variance, sd, variance_low, variance_high (across attempts at a prompt); best first. `rank_low` is 1 + the number
      of models that are ahead by their paired difference on shared prompts.
    - `categories`: model, category, rank, rank_low, rank_high, score, low, high, samples, prompts, valid; best first.
    - `verdicts`: every pair of models once, with its gap (see `verdict_table`); by category in `category_verdicts`.
    - `stages`: model, stage, samples; a stage is one of the ladder's, or `none`.
    - `reasons`: model, reason, samples; only answers without a drawing.
    - `prompts`: model, prompt, category, score, samples.
    """

    models: pd.DataFrame
    categories: pd.DataFrame
    stages: pd.DataFrame
    reasons: pd.DataFrame
    prompts: pd.DataFrame
    verdicts: dict[str, Any]
    category_verdicts: dict[str, dict[str, Any]]
    samples: int
    parts: tuple[ScorePart, ...] = ()
    level: float = LEVEL


def score_samples(samples: pd.DataFrame, *, form: Format) -> Scores:
    """The whole analysis of one frame of samples in this format; there must be some."""
    if samples.empty:
        raise ValueError("There are no samples to score.")
    parts = tuple(part for part in form.score_parts if part.key in samples)
    rows = [_model_row(str(name), group, parts) for name, group in samples.groupby("model", sort=True)]
    models, verdicts = _ranked(pd.DataFrame(rows), samples, after="model")
    categories = [_category_table(str(name), group) for name, group in samples.groupby("category", sort=True)]
    failed = samples[samples["reason"] != ""]
    staged = samples.assign(stage=samples["stage"].replace("", "none"))
    return Scores(
        models=models,
        categories=pd.concat([table for _, table, _ in categories], ignore_index=True),
        stages=_counts(staged, "stage", order=form.stages),
        reasons=_counts(failed, "reason"),
        prompts=samples.groupby(["model", "prompt", "category"], as_index=False, sort=True).agg(
            score=("score", "mean"), samples=("score", "size")
        ),
        verdicts=verdicts,
        category_verdicts={name: pairs for name, _, pairs in categories},
        samples=len(samples),
        parts=parts,
    )


def _ranked(table: pd.DataFrame, samples: pd.DataFrame, *, after: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Best first, with rank and the range of ranks that paired differences allow; and the verdicts on all pairs."""
    table = table.sort_values(["score", "model"], ascending=[False, True], ignore_index=True)
    cells = samples.pivot_table(index="model", columns="prompt", values="score").reindex(table["model"])
    verdicts = judge_gaps(paired_gaps(cells.to_numpy(float)), margin=MARGIN)
    rank = table["score"].round(9).rank(ascending=False, method="min").astype(int)
    at = list(table.columns).index(after) + 1
    table.insert(at, "rank", rank)
    table.insert(at + 1, "rank_low", np.minimum(verdicts.rank_low, rank))
    table.insert(at + 2, "rank_high", np.maximum(verdicts.rank_high, rank))
    names = [str(name) for name in table["model"]]
    return table, verdict_table(verdicts, names, range(len(names)))


def _model_row(name: str, group: pd.DataFrame, parts: Iterable[ScorePart]) -> dict[str, Any]:
    mean, low, high = clustered_mean(group["score"].to_numpy(), group["prompt"].to_numpy())
    grid = group.pivot_table(index="prompt", columns="attempt", values="score")
    steady = score_consistency(grid.to_numpy(dtype=float))
    return {
        "model": name,
        "score": mean,
        "low": low,
        "high": high,
        **{part.key: float(group[part.key].mean()) for part in parts},
        "samples": len(group),
        "prompts": group["prompt"].nunique(),
        "valid": float((group["reason"] == "").mean()),
        "variance": steady.variance,
        "sd": steady.sd,
        "variance_low": steady.low,
        "variance_high": steady.high,
    }


def _category_table(category: str, samples: pd.DataFrame) -> tuple[str, pd.DataFrame, dict[str, Any]]:
    rows = []
    for model, group in samples.groupby("model", sort=True):
        mean, low, high = clustered_mean(group["score"].to_numpy(), group["prompt"].to_numpy())
        count = {
            "samples": len(group),
            "prompts": group["prompt"].nunique(),
            "valid": float((group["reason"] == "").mean()),
        }
        rows.append({"model": model, "category": category, "score": mean, "low": low, "high": high, **count})
    return category, *_ranked(pd.DataFrame(rows), samples, after="category")


def _counts(samples: pd.DataFrame, column: str, *, order: Iterable[str] = ()) -> pd.DataFrame:
    if samples.empty:
        return pd.DataFrame({"model": [], column: [], "samples": []})
    table = samples.groupby(["model", column], as_index=False).size().rename(columns={"size": "samples"})
    places = {value: place for place, value in enumerate(order)}
    return table.sort_values(
        ["model", column], key=lambda values: values.map(lambda name: (places.get(name, 99), name)), ignore_index=True
    )


def score_answers(answers: Iterable[Mapping[str, Any]], *, form: Format) -> pd.DataFrame:
    """The frame of samples from rows with model, prompt, category, attempt, raw_output and perhaps finish_reason.

    Where the format has no score of its own, an answer with a drawing has 1.
    """
    rows, backend = [], form.measure_backends[0]
    for row in answers:
        answer = Answer(row["raw_output"], finish_reason=row.get("finish_reason", ""))
        extraction = extract_answer(form, answer)
        if extraction.drawing is None:
            measured = form.measure_invalid(answer, extraction, backend=backend)
        else:
            measured = form.measure(extraction.drawing, answer, backend=backend)
        names = {key: row[key] for key in ("model", "prompt", "category", "attempt")}
        default = {"score": float(extraction.valid), "stage": ""}
        rows.append({**names, **default, **measured, "reason": extraction.reason})
    return pd.DataFrame(rows)


def analyse_file(path: Path, *, suite: Suite, out_format: str = "json") -> str:
    """A bare file of answers, scored and written as `json`, `markdown` or `csv`; FileError names a bad line."""
    form = get_format(suite.format)
    frame = score_answers(read_samples(path, suite=suite), form=form)
    return WRITERS[out_format](score_samples(frame, form=form), slug=suite.slug, title=suite.title)
