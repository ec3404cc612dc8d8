"""How far judges' scores of the same drawings agree, and how strict each judge is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ranking.statistics.agreement.coefficients import Estimate, interval_delta, krippendorff, panel_of
from ranking.statistics.agreement.intraclass import icc, icc_interval

ITEM = ["entrant", "stage", "subject", "attempt"]


@dataclass(frozen=True)
class JudgeSeverity:
    """How a judge's scores lie against the others' on the same drawings; negative is stricter."""

    judge: str
    drawings: int
    shared: int  # drawings that another judge graded, too
    mean: float
    offset: float | None


def judge_severity(judgements: pd.DataFrame) -> tuple[JudgeSeverity, ...]:
    """Each judge's mean offset from the mean of the other judges, over the drawings they share."""
    frame = judgements.assign(
        others=judgements.groupby(ITEM)["score"].transform("sum") - judgements["score"],
        count=judgements.groupby(ITEM)["score"].transform("size") - 1,
    )
    severities = []
    for judge, rows in frame.groupby("judge"):
        shared = rows[rows["count"] > 0]
        offset = float((shared["score"] - shared["others"] / shared["count"]).mean()) if len(shared) else None
        severities.append(JudgeSeverity(str(judge), len(rows), len(shared), float(rows["score"].mean()), offset))
    return tuple(severities)


def complete_block(scores: np.ndarray) -> np.ndarray:
    """The largest table without gaps, from scores [drawings, judges] with NaN; judges with least grades leave first."""
    best, kept = scores[:0], np.argsort(-(~np.isnan(scores)).sum(0), kind="stable")
    for judges in range(len(kept), 1, -1):
        block = scores[:, np.sort(kept[:judges])]
        block = block[~np.isnan(block).any(1)]
        best = block if len(block) > 1 and block.size > best.size else best
    return best


def agreement_of(judgements: pd.DataFrame) -> dict[str, Any]:
    table = judgements.pivot_table(index=ITEM, columns="judge", values="score").to_numpy(float)
    block = complete_block(table) if table.size else np.empty((0, 0))
    units = table[(~np.isnan(table)).sum(1) > 1] if table.size else table
    values, at = np.unique(np.round(units[~np.isnan(units)], 9), return_inverse=True)
    counts = np.zeros((len(units), len(values)))
    np.add.at(counts, (np.nonzero(~np.isnan(units))[0], at), 1)
    estimate = icc(block)
    return {
        "icc1": icc_interval(block, lambda values: values.icc2),
        "icck": icc_interval(block, lambda values: values.icc2k),
        "icc_targets": estimate.targets,
        "icc_judges": estimate.judges,
        "alpha": krippendorff(panel_of(counts), interval_delta(values)) if len(units) else Estimate(None),
        "alpha_units": len(units),
    }
