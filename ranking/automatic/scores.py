"""Automatic scores of answers: per sample in, per model, category and stage out, with intervals clustered by prompt.

A frame of samples has the columns `model, prompt, category, attempt, json, render, quality, score, stage, reason`; the
parts `height, width, type, diversity, density` may be there too; a format without parts leaves `json, render, quality` out.
An answer without a drawing is a row like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from generation.formats.base import Answer
from generation.formats.pixel_art import FORMAT, STAGES
from generation.suites.suite import Suite
from ranking.automatic.files import WRITERS, read_samples
from ranking.statistics.agreement.consistency import score_consistency

LEVEL = 0.95
# A model's score is the weighted sum of its parts, so a page can stack them.
WEIGHTS = {"json": 0.4, "render": 0.3, "quality": 0.3}
PARTS = tuple(WEIGHTS)


@dataclass(frozen=True)
class Scores:
    """A run scored automatically: all a leaderboard shows.

    - `models`: model, rank, separated_rank, score, low, high, json, render, quality (means), samples, prompts, valid,
      variance, sd, variance_low, variance_high (across attempts at a prompt); best first. `separated_rank` is 1 + the
      number of models whose interval lies wholly above this one's.
    - `categories`: model, category, score, low, high, samples, prompts.
    - `stages`: model, stage, samples; a stage is one of the ladder's, or `none`.
    - `reasons`: model, reason, samples; only answers without a drawing.
    - `prompts`: model, prompt, category, score, samples.
    """

    models: pd.DataFrame
    categories: pd.DataFrame
    stages: pd.DataFrame
    reasons: pd.DataFrame
    prompts: pd.DataFrame
    samples: int
    level: float = LEVEL


def clustered_mean(values: np.ndarray, clusters: np.ndarray) -> tuple[float, float, float]:
    """Mean of values [n] with its 95 % interval (mean, low, high) when values of one cluster [n] are not independent.

    V = G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))² / n² over the G clusters (the CR1 sandwich of a mean), t with G − 1 degrees
    of freedom, cut to [0, 1]. One cluster says nothing about others: then low and high are NaN.
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    codes, count = pd.factorize(np.asarray(clusters))[0], len(set(clusters))
    if count < 2:
        return mean, float("nan"), float("nan")
    sums = np.bincount(codes, weights=values - mean)
    error = np.sqrt(count / (count - 1) * (sums**2).sum()) / len(values)
    reach = stdtrit(count - 1, (1 + LEVEL) / 2) * error
    return mean, float(max(mean - reach, 0.0)), float(min(mean + reach, 1.0))


def score_samples(samples: pd.DataFrame) -> Scores:
    """The whole analysis of one frame of samples; there must be some."""
    if samples.empty:
        raise ValueError("There are no samples to score.")
    rows = [_model_row(str(name), group) for name, group in samples.groupby("model", sort=True)]
    models = pd.DataFrame(rows).sort_values(["score", "model"], ascending=[False, True], ignore_index=True)
    models.insert(1, "rank", models["score"].round(9).rank(ascending=False, method="min").astype(int))
    above = models["low"].to_numpy()[None, :] > models["high"].to_numpy()[:, None]
    models.insert(2, "separated_rank", 1 + above.sum(axis=1))
    failed = samples[samples["reason"] != ""]
    staged = samples.assign(stage=samples["stage"].replace("", "none"))
    return Scores(
        models=models,
        categories=_category_table(samples),
        stages=_counts(staged, "stage"),
        reasons=_counts(failed, "reason"),
        prompts=samples.groupby(["model", "prompt", "category"], as_index=False, sort=True).agg(
            score=("score", "mean"), samples=("score", "size")
        ),
        samples=len(samples),
    )


def _model_row(name: str, group: pd.DataFrame) -> dict[str, Any]:
    mean, low, high = clustered_mean(group["score"].to_numpy(), group["prompt"].to_numpy())
    grid = group.pivot_table(index="prompt", columns="attempt", values="score")
    steady = score_consistency(grid.to_numpy(dtype=float))
    return {
        "model": name,
        "score": mean,
        "low": low,
        "high": high,
        **{part: float(group[part].mean()) for part in PARTS if part in group},
        "samples": len(group),
        "prompts": group["prompt"].nunique(),
        "valid": float((group["reason"] == "").mean()),
        "variance": steady.variance,
        "sd": steady.sd,
        "variance_low": steady.low,
        "variance_high": steady.high,
    }


def _category_table(samples: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (model, category), group in samples.groupby(["model", "category"], sort=True):
        mean, low, high = clustered_mean(group["score"].to_numpy(), group["prompt"].to_numpy())
        count = {"samples": len(group), "prompts": group["prompt"].nunique()}
        rows.append({"model": model, "category": category, "score": mean, "low": low, "high": high, **count})
    return pd.DataFrame(rows)


def _counts(samples: pd.DataFrame, column: str) -> pd.DataFrame:
    if samples.empty:
        return pd.DataFrame({"model": [], column: [], "samples": []})
    table = samples.groupby(["model", column], as_index=False).size().rename(columns={"size": "samples"})
    order = {stage: place for place, stage in enumerate(STAGES)}
    return table.sort_values(
        ["model", column], key=lambda values: values.map(lambda name: (order.get(name, 99), name)), ignore_index=True
    )


def score_answers(answers: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The frame of samples from rows with model, prompt, category, attempt, raw_output and perhaps finish_reason."""
    rows = []
    for row in answers:
        answer = Answer(row["raw_output"], finish_reason=row.get("finish_reason", ""))
        found = FORMAT.extract(answer)
        measured = (
            FORMAT.measure_invalid(answer, found) if found.drawing is None else FORMAT.measure(found.drawing, answer)
        )
        names = {key: row[key] for key in ("model", "prompt", "category", "attempt")}
        rows.append({**names, **measured, "reason": found.reason})
    return pd.DataFrame(rows)


def analyse_file(path: Path, *, suite: Suite, out_format: str = "json") -> str:
    """A bare file of answers, scored and written as `json`, `markdown` or `csv`; FileError names a bad line."""
    write = WRITERS[out_format]
    return write(score_samples(score_answers(read_samples(path, suite=suite))), slug=suite.slug, title=suite.title)
