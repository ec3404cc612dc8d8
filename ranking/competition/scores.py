"""The Science Birds competition of seed 003: trials in, weights, scores and the ranking policy's verdicts out.

A frame of trials has the columns `program, model, target, trial, stability, similarity` and either `vector` (the
classifier's softmax, None for a lost level) or `diversity` (the same on every row of a program, model and target).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ranking.competition.files import competition_csv, competition_json, competition_markdown, read_trials
from ranking.competition.policy import apply_policy
from ranking.statistics.rounding import rounded
from ranking.statistics.verdicts.paired import Gaps, judge_gaps, verdict_table

LEVEL = 0.95
FACTORS = ("stability", "similarity", "diversity")


@dataclass(frozen=True)
class Competition:
    """One competition, scored: all a leaderboard shows, and the number of trials it rests on.

    - `weights`: model, target, weight, stability, similarity, diversity (the weight and its three factors).
    - `chars`: program, model, target, stability, similarity (means over T), diversity, char.
    - `prompts`: one row a program, one column a model.
    - `programs`: program, baseline, disqualified, prompt_length, total, normalised, low, high, rank, winner, note;
      a rank is None where the policy gives none.
    """

    weights: pd.DataFrame
    chars: pd.DataFrame
    prompts: pd.DataFrame
    programs: pd.DataFrame
    competition: float
    trials: int
    verdicts: dict[str, Any]  # on all pairs of programs that compete, see `verdict_table`


def score_competition(
    trials: pd.DataFrame,
    *,
    count: int,
    programs: Collection[str] = (),
    targets: Collection[str] = (),
    baselines: Collection[str] = (),
    disqualified: Mapping[str, str] | None = None,
    lengths: Mapping[str, int] | None = None,
    lost: Mapping[tuple[str, str, str], int] | None = None,
) -> Competition:
    """Score all trials, `count` (the seed's T) of them for each program, model and target; absent ones count 0.

    `lost` says of how many (by program, model and target) the answer is missing by nobody's doing: T is that much smaller
    there, and a letter with no answer at all has its program's mean of the others.

    `programs` and `targets` name those that may have no trial yet, since P and C count them too. `disqualified` maps a
    program to the reason, `lengths` to the characters of all its turns.
    """
    names = sorted({*trials["program"], *programs})
    models, letters = sorted({*trials["model"]}), sorted({*trials["target"], *targets})
    table = pd.DataFrame(
        {
            "program": names,
            "baseline": [name in baselines for name in names],
            "disqualified": [(disqualified or {}).get(name, "") for name in names],
            "prompt_length": [float((lengths or {}).get(name, np.nan)) for name in names],
        }
    )
    in_it = (table["disqualified"] == "").to_numpy()
    held = count - lost_trials(lost or {}, (names, models, letters))
    cells = group_trials(trials, (names, models, letters), count=np.maximum(held, 1))
    unknown = held <= 0
    factors = {name: weight_factor(filled(cells[name], unknown, axis=0)[in_it]) for name in FACTORS}
    weights = factors["stability"] * factors["similarity"] * factors["diversity"]
    chars = filled(weights * cells["diversity"] * cells["both"], unknown, axis=2)
    totals = np.where(in_it, chars.mean(axis=2).sum(axis=1), np.nan)
    table = table.assign(total=totals, normalised=normalise(totals), **jackknife_letters(chars, in_it))
    by_letter = {name: cells[name] for name in FACTORS} | {"char": chars}
    return Competition(
        weights=flatten({"weight": weights, **factors}, {"model": models, "target": letters}),
        chars=flatten(by_letter, {"program": names, "model": models, "target": letters}),
        prompts=pd.DataFrame(chars.mean(axis=2), index=names, columns=models),
        programs=ranked_table(table),
        competition=float(np.nansum(totals)),
        trials=count,
        verdicts=compare_programs(names, chars, in_it),
    )


def lost_trials(lost: Mapping[tuple[str, str, str], int], axes: Sequence[Sequence[str]]) -> np.ndarray:
    """The mapping as an array over programs, models and targets."""
    table = np.zeros([len(names) for names in axes], int)
    places = [{name: place for place, name in enumerate(names)} for names in axes]
    for key, number in lost.items():
        if all(name in known for name, known in zip(key, places, strict=True)):
            table[tuple(known[name] for name, known in zip(key, places, strict=True))] += number
    return table


def filled(values: np.ndarray, unknown: np.ndarray, *, axis: int) -> np.ndarray:
    """Values with the unknown ones at the mean of the known ones along an axis; 0 where none is known."""
    known = (~unknown).sum(axis=axis, keepdims=True)
    means = np.where(unknown, 0.0, values).sum(axis=axis, keepdims=True) / np.maximum(known, 1)
    return np.where(unknown, means, values)


def group_trials(
    trials: pd.DataFrame, axes: tuple[Sequence[str], Sequence[str], Sequence[str]], *, count: np.ndarray
) -> dict[str, np.ndarray]:
    """Arrays (programs, models, targets): means over `count`, the T of each, of stability, similarity and their product; and diversity."""
    place = tuple(
        pd.Index(names).get_indexer(pd.Index(trials[column]))
        for column, names in zip(("program", "model", "target"), axes, strict=True)
    )
    shape = tuple(len(names) for names in axes)
    stability, similarity = (trials[column].to_numpy(float) for column in ("stability", "similarity"))
    cells = {"stability": stability, "similarity": similarity, "both": stability * similarity}
    for name, values in cells.items():
        sums = np.zeros(shape)
        np.add.at(sums, place, values)
        cells[name] = sums / count
    cells["diversity"] = np.zeros(shape)
    if "diversity" in trials:
        cells["diversity"][place] = trials["diversity"].to_numpy(float)
        return cells
    places = np.ravel_multi_index(place, shape)
    for cell, vectors in trials["vector"].groupby(places):
        present = [vector for vector in vectors if vector is not None]
        at = int(str(cell))
        cells["diversity"].flat[at] = diversity(np.array(present, dtype=float), count=int(count.flat[at]))
    return cells


def diversity(vectors: np.ndarray, *, count: int) -> float:
    """Σ over unordered pairs of cosine distances / (T(T+1)/2 − T), for the (n, 26) vectors of n ≤ T trials.

    T is the configured number, so missing trials lower it; equal vectors add exactly 0; one trial alone has none.
    """
    if len(vectors) < 2:
        return 0.0
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    distances = np.maximum(1 - units @ units.T, 0)
    _, kind = np.unique(vectors, axis=0, return_inverse=True)
    distances[kind.ravel()[:, None] == kind.ravel()[None, :]] = 0
    return float(np.triu(distances, 1).sum() / (0.5 * count * (count + 1) - count))


def weight_factor(means: np.ndarray) -> np.ndarray:
    """`max(1 − Σ_k mean_k / P, 1/C)` for (P, models, C) means over T, per model and target: harder letters weigh more."""
    if not len(means):
        return np.ones(means.shape[1:])
    return np.asarray(np.maximum(1 - means.mean(axis=0), 1 / means.shape[2]))


def normalise(totals: np.ndarray) -> np.ndarray:
    """100 · total / competition; all 0 when nobody scored; nan (disqualified) stays nan."""
    competition = np.nansum(totals)
    return 100 * totals / competition if competition > 0 else totals * 0


def jackknife_letters(chars: np.ndarray, in_it: np.ndarray) -> dict[str, np.ndarray]:
    """A 95% interval (`low`, `high`) of each normalised score: leave out one letter at a time, Student's t with C − 1.

    The weights stay those of the whole competition. With one letter there is no interval.
    """
    letters = chars.shape[2]
    by_letter = np.where(in_it[:, None], chars.sum(axis=1), np.nan)
    center = normalise(by_letter.sum(axis=1))
    if letters < 2:
        return {"low": np.full(len(chars), np.nan), "high": np.full(len(chars), np.nan)}
    left_out = np.array([normalise(np.delete(by_letter, letter, axis=1).sum(axis=1)) for letter in range(letters)])
    error = np.sqrt((letters - 1) / letters * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    reach = stdtrit(letters - 1, (1 + LEVEL) / 2) * error
    return {"low": np.maximum(center - reach, 0), "high": np.minimum(center + reach, 100)}


def compare_programs(names: Sequence[str], chars: np.ndarray, in_it: np.ndarray) -> dict[str, Any]:
    """Differences of points between programs that compete, by the same jackknife over letters as their intervals."""
    letters = chars.shape[2]
    by_letter = chars[in_it].sum(axis=1)
    points = normalise(by_letter.sum(axis=1))
    gap = points[:, None] - points[None, :]
    covariance, variance = np.zeros_like(gap), np.full_like(gap, np.inf)
    if letters > 1:
        left_out = np.array([normalise(np.delete(by_letter, one, axis=1).sum(axis=1)) for one in range(letters)])
        moved = left_out - left_out.mean(axis=0)
        covariance = (letters - 1) / letters * moved.T @ moved
        own = np.diag(covariance)
        variance = np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0)
    df, units = np.full_like(gap, max(letters - 1, 1)), np.full_like(gap, letters)
    verdicts = judge_gaps(Gaps(gap, variance, df, units, covariance), margin=0.0)
    order = sorted(range(len(points)), key=lambda i: (-round(float(points[i]), 9), i))
    return rounded(verdict_table(verdicts, [name for name, kept in zip(names, in_it, strict=True) if kept], order))


def ranked_table(table: pd.DataFrame) -> pd.DataFrame:
    records = apply_policy(table.to_dict("records"))
    ranks = pd.Series([record["rank"] for record in records], dtype=object)  # None must not turn whole ranks to floats
    return pd.DataFrame(records).assign(rank=ranks)


def flatten(arrays: Mapping[str, np.ndarray], axes: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Arrays over the same named axes as one long frame, in the order of the axes."""
    index = pd.MultiIndex.from_product([*axes.values()], names=[*axes])
    return pd.DataFrame({name: array.ravel() for name, array in arrays.items()}, index=index).reset_index()


def analyse_file(path: Path, *, trials: int | None = None, out_format: str = "json") -> str:
    """Score a trials.csv; T is `trials`, or as many as the file has different trial numbers."""
    read = read_trials(path, trials=trials)
    scored = score_competition(
        read.trials, count=read.count, baselines=read.baselines, disqualified=read.disqualified, lengths=read.lengths
    )
    return OUTPUTS[out_format](scored)


OUTPUTS = {"json": competition_json, "markdown": competition_markdown, "csv": competition_csv}
