"""The page about the model judges of a board of grades, from its newest fit."""

from __future__ import annotations

from typing import Any

from generation.models import Run
from generation.suites.suite import Rubric
from judging.grades.sheets import rubric_of
from judging.model_judges.grading import GRADES
from ranking.models import Fit
from ranking.rubric.model_judges.document import DimensionResult, GraderResult, WorstGradeResult
from ranking.rubric.model_judges.sentences import (
    HUMAN,
    basis_sentence,
    dimension_label,
    family_sentence,
    few_sentence,
    figure,
    strictness_sentence,
)
from ranking.rubric.result import result_of
from ranking.words import labels_of


def model_graders_context(fit: Fit, *, drawings_open: bool) -> dict[str, Any]:
    """Drawings and reasons are shown only where nobody can grade them blind any more."""
    models = result_of(fit).get("model_judges")
    if models is None:
        return {"full": fit, "models": None, "lede": HUMAN, "manage": GRADES.page}
    rubric, labels = rubric_of(fit.run.code), labels_of(fit.run.entrants.all())
    return {
        "full": fit,
        "models": models,
        "lede": HUMAN,
        "manage": GRADES.page,
        "rubric": rubric,
        "judges": [_judge(judge, fit.run, rubric, labels, drawings_open=drawings_open) for judge in models["judges"]],
    }


def _judge(
    judge: GraderResult, run: Run, rubric: Rubric, labels: dict[str, str], *, drawings_open: bool
) -> dict[str, Any]:
    return {
        "result": judge,
        "few": few_sentence(judge),
        "sentences": [basis_sentence(judge), strictness_sentence(judge), family_sentence(judge)],
        "rows": [_row(row, rubric) for row in judge["dimensions"]],
        "worst": [_worst(case, run, rubric, labels) for case in judge["worst"]] if drawings_open else [],
    }


def _row(row: DimensionResult, rubric: Rubric) -> dict[str, Any]:
    ours, theirs = row["with_people"], row["among_people"]
    label, stage = dimension_label(row, rubric)
    pairs = ((ours["alpha"], theirs["alpha"]), (ours["order"], theirs["order"]), (ours["apart"], theirs["apart"]))
    cells = [
        figure(estimate, part["grades"]) for pair in pairs for estimate, part in zip(pair, (ours, theirs), strict=True)
    ]
    cells.append(figure(ours["higher"], ours["grades"], signed=True))
    return {"label": label, "stage": stage, "grades": ours["grades"], "cells": [_unbroken(cell) for cell in cells]}


def _unbroken(cell: str) -> str:
    """With an interval that stays on one line where a phone breaks it off its figure."""
    return cell.replace(" to ", "\xa0to\xa0")


def _worst(case: WorstGradeResult, run: Run, rubric: Rubric, labels: dict[str, str]) -> dict[str, Any]:
    # What a curator excluded since the fit is not shown.
    samples = (
        run.samples.judgeable()
        .select_related("run", "prompt", "entrant")
        .filter(entrant__name=case["entrant"], prompt__category=case["stage"], attempt=case["attempt"])
    )
    sample = next((one for one in samples if case["subject"] in (one.prompt.subject, one.prompt.key)), None)
    dimensions = {dimension.key: dimension.label for dimension in rubric.stage(case["stage"]).dimensions}
    return {
        **case,
        "sample": sample,
        "label": labels.get(case["entrant"], case["entrant"]),
        "on": dimensions.get(case["dimension"], case["dimension"]),
        "by_people": f"{case['people_grade']:.1f}",
        "by_model": f"{case['model_grade']:.1f}",
    }


def model_graders_document(context: dict[str, Any]) -> dict[str, Any]:
    """The page as JSON; without the worst cases where the page does not show them."""
    models, run = context["models"], context["run"]
    head = {"run": run.code, "suite": run.suite, "title": str(run), "demo": run.is_demo}
    judges = models["judges"] if models else []
    return {**head, "judges": [judge if context["drawings_open"] else {**judge, "worst": []} for judge in judges]}
