"""The Science Birds competition of seed 003: trials in, weights, scores and the ranking policy's verdicts out.

A frame of trials has the columns `program, model, target, trial, stability, similarity` and either `vector` (the
classifier's softmax, None for a lost level) or `diversity` (the same on every row of a program, model and target).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ranking.competition.files import competition_csv, competition_json, competition_markdown, read_trials
from ranking.competition.policy import apply_policy

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


def score_competition(
    trials: pd.DataFrame,
    *,
    count: int,
    programs: Collection[str] = (),
    targets: Collection[str] = (),
    baselines: Collection[str] = (),
    disqualified: Mapping[str, str] | None = None,
    lengths: Mapping[str, int] | None = None,
) -> Competition:
    """Score all trials, `count` (the seed's T) of them for each program, model and target; missing ones count 0.

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
    cells = group_trials(trials, (names, models, letters), count=count)
    factors = {name: weight_factor(cells[name][in_it]) for name in FACTORS}
    weights = factors["stability"] * factors["similarity"] * factors["diversity"]
    chars = weights * cells["diversity"] * cells["both"]
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
    )


def group_trials(
    trials: pd.DataFrame, axes: tuple[Sequence[str], Sequence[str], Sequence[str]], *, count: int
) -> dict[str, np.ndarray]:
    """Arrays (programs, models, targets): means over T of stability, similarity and their product; and diversity."""
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
    groups = trials.assign(cell=np.ravel_multi_index(place, shape)).groupby("cell")["vector"]
    for cell, vectors in groups:
        present = [vector for vector in vectors if vector is not None]
        cells["diversity"].flat[cell] = diversity(np.array(present, dtype=float), count=count)
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
