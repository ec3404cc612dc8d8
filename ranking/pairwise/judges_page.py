"""What the page about the judges of a pairwise leaderboard shows."""

from __future__ import annotations

from typing import Any

from judging.models import Seat
from ranking.charts.intervals import Interval, interval_axis, interval_row, interval_scale
from ranking.models import Fit
from ranking.pairwise.documents.standings import JudgeResult
from ranking.pairwise.documents.trust import CohenResult
from ranking.pairwise.result import full_of, result_of
from ranking.pairwise.sentences import agreement_sentence, camps_sentence, scale_sentence, side_sentence
from ranking.words import decimals, labels_of

FLAGS = {
    "unreliable": "hardly agrees with the other judges",
    "doubtful": "agrees with the other judges less than 99% of reliable judges do",
    "one_entrant": "always for or against one entrant",
    "one_side": "one side is chosen far more often",
    "few_decisions": "nearly always undecided",
    "same_key": "a long run of one key",
    "fast": "much faster than the others",
}


def judges_context(fit: Fit, *, labels: dict[str, str]) -> dict[str, Any]:
    full = full_of(fit) or fit
    result = result_of(full)
    reports = result["judges"]
    ordered = [name for name in labels if name in reports]
    simulated = set(fit.run.seats.filter(is_simulated=True).values_list("pseudonym", flat=True))
    slopes = {name: reliability_interval(reports[name]) for name in ordered}
    scale = interval_scale([*slopes.values(), Interval("", 0, 0, 1.5)])
    entrants = [row["entrant"] for row in result["overall"]]
    names = labels_of(fit.run.entrants.all())
    lines = [
        {
            "label": labels.get(name, "a judge"),
            "report": reports[name],
            "simulated": name in simulated,
            "flags": [FLAGS.get(flag, flag) for flag in reports[name]["flags"]],
            "reliability": interval_row(slopes[name], scale),
        }
        for name in ordered
    ]
    return {
        "full": full,
        "judges": lines,
        "axis": interval_axis(scale),
        "agreement": agreement_sentence(result["agreement"]),
        "measures": result["agreement"],
        "side": side_sentence(result["side_bias"]),
        "camps": camps_sentence(reports),
        "scale": scale_sentence(result["model_fit"]) if "model_fit" in result else "",
        "matrix": cohen_matrix(result["agreement"].get("cohen", []), ordered, labels),
        "rankings": own_rankings(
            entrants, names, [name for name in ordered if reports[name]["shown"]], reports, labels
        ),
        "aside": [
            {"label": labels.get(seat.pseudonym, "a judge"), "weight": seat.weight, "reason": seat.excluded_reason}
            for seat in fit.run.seats.filter(weight__lt=1, panel=Seat.Panel.JUDGES).defer("plan")
        ],
    }


def reliability_interval(report: JudgeResult) -> Interval:
    low, value, high = report["reliability_low"], report["reliability"], report["reliability_high"]
    reliability = f"{decimals(value, 2)} ({decimals(low, 2)} to {decimals(high, 2)})"
    return Interval("", value, low, high, title=reliability)


def cohen_matrix(cohen: list[CohenResult], ordered: list[str], labels: dict[str, str]) -> dict[str, Any]:
    """Kappa and shared items of each two judges, as a square table; None where they share nothing."""
    pairs = {frozenset(row["judges"]): row for row in cohen}
    seen = [name for name in ordered if any(name in pair for pair in pairs)]
    rows = [(labels.get(a, "a judge"), [None if a == b else pairs.get(frozenset((a, b))) for b in seen]) for a in seen]
    return {"heads": [labels.get(name, "a judge") for name in seen], "rows": rows}


def own_rankings(
    entrants: list[str],
    names: dict[str, str],
    judges: list[str],
    reports: dict[str, JudgeResult],
    labels: dict[str, str],
) -> dict[str, Any]:
    """Each judge's own ranking beside the others', entrants in the pooled order."""
    places = {j: {row["entrant"]: row for row in reports[j]["standings"]} for j in judges}
    rows = [(names.get(entrant, entrant), [places[j].get(entrant) for j in judges]) for entrant in entrants]
    return {"heads": [labels.get(j, "a judge") for j in judges], "rows": rows}
