"""The page about the model judges of a board of votes, from its newest full fit."""

from __future__ import annotations

from typing import Any

from generation.models import Run
from judging.model_judges.pairs import PAIRS
from ranking.charts.intervals import Interval, interval_axis, interval_row, interval_scale
from ranking.models import Fit
from ranking.pairwise.model_judges.document import CorrectedResult, ModelJudgeResult, WorstResult
from ranking.pairwise.model_judges.sentences import (
    HUMAN,
    coefficient,
    corrected_sentence,
    decided_sentence,
    family_sentence,
    few_sentence,
    picked_sentence,
    position_sentence,
    share,
)
from ranking.pairwise.result import PairwiseResult, full_of, result_of
from ranking.words import labels_of, named


def model_judges_context(fit: Fit, *, drawings_open: bool) -> dict[str, Any]:
    """Drawings and reasons are shown only where nobody can judge them blind any more."""
    full = full_of(fit)
    models = result_of(full).get("model_judges") if full else None
    if full is None or models is None:
        return {"full": full, "models": None, "lede": HUMAN, "manage": PAIRS.page}
    labels = labels_of(fit.run.entrants.all())
    return {
        "full": full,
        "models": models,
        "lede": HUMAN,
        "manage": PAIRS.page,
        "judges": [_judge(judge, fit.run, labels, drawings_open=drawings_open) for judge in models["judges"]],
        "corrected": corrected_sentence(models["corrected"]),
        "picked": [picked_sentence(each) for each in result_of(full)["run"].get("picked", [])],
        **_table(models["corrected"], result_of(full), labels),
    }


def _judge(judge: ModelJudgeResult, run: Run, labels: dict[str, str], *, drawings_open: bool) -> dict[str, Any]:
    agreement, habits = judge["agreement"], judge["habits"]
    people = agreement["among_people"]
    votes, pairs, answers = agreement["votes"], people["pairs"], habits["answers"]
    return {
        "result": judge,
        "few": few_sentence(judge),
        "measures": [
            (label, _unbroken(model), _unbroken(human))
            for label, model, human in (
                ("Raw agreement", share(agreement["raw"], votes), share(people["raw"], pairs)),
                ("Cohen’s κ, Fleiss’ κ", coefficient(agreement["kappa"], votes), coefficient(people["kappa"], pairs)),
                ("Krippendorff’s α", coefficient(agreement["alpha"], votes), coefficient(people["alpha"], pairs)),
                ("Gwet’s AC1", coefficient(agreement["ac1"], votes), coefficient(people["ac1"], pairs)),
                ("Says both good", share(habits["ties"], answers), share(habits["people_ties"], votes)),
                ("Says both bad", share(habits["fails"], answers), share(habits["people_fails"], votes)),
            )
        ],
        "decided": decided_sentence(judge),
        "position": position_sentence(judge),
        "family": family_sentence(judge),
        "categories": [
            (row["category"], row["votes"], _unbroken(share(row["raw"], row["votes"])))
            for row in agreement["by_category"]
        ],
        "worst": [_worst(case, run, labels) for case in judge["worst"]] if drawings_open else [],
    }


def _unbroken(figure: str) -> str:
    """With an interval that stays on one line where a phone breaks it off its figure."""
    return figure.replace(" to ", "\xa0to\xa0").replace("–", "\u2060–\u2060")


def _worst(case: WorstResult, run: Run, labels: dict[str, str]) -> dict[str, Any]:
    # What a curator excluded since the fit is not shown.
    samples = run.samples.judgeable().select_related("run", "prompt", "entrant").filter(prompt__text=case["prompt"])
    drawings = (case["first"], case["first_attempt"]), (case["second"], case["second_attempt"])
    first, second = (labels.get(name, name) for name, _ in drawings)
    shown = [samples.filter(entrant__name=name, attempt=attempt).first() for name, attempt in drawings]
    return {
        **case,
        "prompt": next((sample.prompt.subject for sample in shown if sample and sample.prompt.subject), case["prompt"]),
        "sides": [{"sample": sample, "label": label} for sample, label in zip(shown, (first, second), strict=True)],
        "people": _preferred(case["people_score"], first, second),
        "judge": _preferred(case["model_score"], first, second),
    }


def _preferred(score: float, first: str, second: str) -> str:
    if score == 0.5:
        return "neither"
    return first if score > 0.5 else second


def _table(corrected: CorrectedResult, result: PairwiseResult, labels: dict[str, str]) -> dict[str, Any]:
    """People's ratings and the corrected ones side by side, on one scale."""
    if not corrected["overall"]:
        return {"rows": []}
    people = {row["entrant"]: row for row in result["overall"]}
    names = {row["entrant"]: named(row, labels) for row in corrected["overall"]}
    now = {row["entrant"]: _interval(row, names[row["entrant"]]) for row in corrected["overall"]}
    before = {name: _interval(people[name], names[name]) for name in names}
    scale = interval_scale([*now.values(), *before.values()])
    rows = [
        {
            "label": names[row["entrant"]],
            "row": row,
            "people": people[row["entrant"]],
            "interval": interval_row(now[row["entrant"]], scale),
            "people_interval": interval_row(before[row["entrant"]], scale),
        }
        for row in corrected["overall"]
    ]
    return {"rows": rows, "axis": interval_axis(scale)}


def _interval(row: Any, name: str) -> Interval:
    low, high = ("…" if bound is None else f"{bound:.0f}" for bound in (row["low"], row["high"]))
    return Interval(name, row["rating"], row["low"], row["high"], title=f"{name}: {row['rating']:.0f} ({low}–{high})")


def model_judges_document(context: dict[str, Any]) -> dict[str, Any]:
    """The page as JSON; without the worst cases where the page does not show them."""
    models = context["models"]
    run = context["run"]
    head = {"run": run.code, "suite": run.suite, "title": str(run), "demo": run.is_demo}
    if models is None:
        return {**head, "judges": [], "corrected": None, "picked": []}
    judges = [judge if context["drawings_open"] else {**judge, "worst": []} for judge in models["judges"]]
    picked = context["full"].result.get("run", {}).get("picked", [])
    return {**head, "judges": judges, "corrected": models["corrected"], "picked": picked}
