"""What the page about the judges of a pairwise leaderboard shows."""

from __future__ import annotations

from typing import Any

from ranking.charts.intervals import Interval, interval_axis, interval_row, interval_scale
from ranking.models import Fit
from ranking.pairwise.result import full_of
from ranking.pairwise.sentences import agreement_sentence, side_sentence

FLAGS = {
    "unreliable": "votes hardly follow the other judges'",
    "doubtful": "votes follow the other judges' less than those of 99 in 100 honest judges",
    "one_entrant": "always for or against one entrant",
    "one_side": "one side is chosen far more often",
    "few_decisions": "nearly always undecided",
    "same_key": "a long run of one key",
    "fast": "much faster than the others",
}


def judges_context(fit: Fit, *, labels: dict[str, str]) -> dict[str, Any]:
    full = full_of(fit) or fit
    reports = full.result["judges"]
    ordered = [name for name in labels if name in reports]
    simulated = set(fit.run.seats.filter(is_simulated=True).values_list("pseudonym", flat=True))
    slopes = {name: reliability_interval(reports[name]) for name in ordered}
    scale = interval_scale([*slopes.values(), Interval("", 0, 0, 1.5)])
    entrants = [row["entrant"] for row in full.result["overall"]]
    names = dict(fit.run.entrants.values_list("name", "label"))
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
        "agreement": agreement_sentence(full.result["agreement"]),
        "measures": full.result["agreement"],
        "side": side_sentence(full.result["side_bias"]),
        "matrix": cohen_matrix(full.result["agreement"].get("cohen", []), ordered, labels),
        "rankings": own_rankings(
            entrants, names, [name for name in ordered if reports[name]["shown"]], reports, labels
        ),
        "aside": [
            {"label": labels.get(seat.pseudonym, "a judge"), "weight": seat.weight, "reason": seat.excluded_reason}
            for seat in fit.run.seats.filter(weight__lt=1).defer("plan")
        ],
    }


def reliability_interval(report: dict[str, Any]) -> Interval:
    low, value, high = (report[name] for name in ("reliability_low", "reliability", "reliability_high"))
    return Interval("", value, low, high, said=f"{value:.2f} ({low:.2f} to {high:.2f})")


def cohen_matrix(cohen: list[dict[str, Any]], ordered: list[str], labels: dict[str, str]) -> dict[str, Any]:
    """Kappa and shared items of each two judges, as a square table; None where they share nothing."""
    found = {frozenset(row["judges"]): row for row in cohen}
    seen = [name for name in ordered if any(name in pair for pair in found)]
    rows = [(labels.get(a, "a judge"), [None if a == b else found.get(frozenset((a, b))) for b in seen]) for a in seen]
    return {"heads": [labels.get(name, "a judge") for name in seen], "rows": rows}


def own_rankings(
    entrants: list[str], names: dict[str, str], judges: list[str], reports: dict[str, Any], labels: dict[str, str]
) -> dict[str, Any]:
    """Each judge's own ranking beside the others', entrants in the pooled order."""
    places = {j: {row["entrant"]: row for row in reports[j]["standings"]} for j in judges}
    rows = [(names.get(entrant, entrant), [places[j].get(entrant) for j in judges]) for entrant in entrants]
    return {"heads": [labels.get(j, "a judge") for j in judges], "rows": rows}
