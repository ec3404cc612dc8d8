"""Who may see a run's ranking, and under which names its judges appear there."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from generation.models import Run
from generation.protocols import protocol_of
from judging.disclosure import drawings_are_open, is_judged_blind
from judging.rules import rules_of


def hidden_from(user: User | AnonymousUser, runs: Iterable[Run]) -> set[int]:
    """A judge sees nothing of the ranking of a run that is still being judged, unless the suite tells after each vote."""
    if not user.is_authenticated:
        return set()
    others = [run for run in runs if not run.is_curated_by(user)]
    judged = set(user.seats.values_list("run_id", flat=True)) if others else set()
    closed = (run for run in others if run.pk in judged and not drawings_are_open(run))
    return {run.pk for run in closed if rules_of(run.code).judging.reveal != "after_vote"}


def is_hidden_from(run: Run, user: User | AnonymousUser) -> bool:
    return run.pk in hidden_from(user, [run])


def is_closed_to(user: User | AnonymousUser, run: Run, protocol: str) -> bool:
    """Only curators see how a run stands by a protocol that people judge it by now: see `ranking.public_states`.

    Nor by a formula before drawings are open: whoever measures the drawing on the screen could look up whose score it is.
    """
    entry = protocol_of(run, protocol)
    if entry is None or run.is_curated_by(user):
        return False
    return is_judged_blind(run) if entry.by_people else not drawings_are_open(run)


def judge_labels(run: Run, *, curator: bool) -> dict[str, str]:
    """Pseudonym to what a page calls the judge: the account's name for curators, a number for everyone else."""
    seats = run.seats.select_related("judge").order_by("id")
    labels = {}
    for place, seat in enumerate(seats, start=1):
        name = seat.judge.username if seat.judge else seat.pseudonym
        labels[seat.pseudonym] = name if curator else f"Judge {place}"
    return labels


def with_labels(result: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    """A document with its judges renamed everywhere they occur."""

    def label(name: str) -> str:
        return labels.get(name, "a judge")

    renamed = dict(result)
    if isinstance(result.get("judges"), dict):
        renamed["judges"] = {label(name): report for name, report in result["judges"].items()}
    if isinstance(result.get("judges"), list):  # of grades
        renamed["judges"] = [report | {"judge": label(report["judge"])} for report in result["judges"]]
    settings = result.get("settings", {})
    if "weights" in settings:
        weights = {label(name): weight for name, weight in settings["weights"].items()}
        renamed["settings"] = settings | {"weights": weights}
    agreement = result.get("agreement", {})
    if "cohen" in agreement:
        cohen = [row | {"judges": [label(name) for name in row["judges"]]} for row in agreement["cohen"]]
        renamed["agreement"] = agreement | {"cohen": cohen}
    robustness = result.get("robustness", {})
    if "leave_one_judge_out" in robustness:
        rows = [row | {"judge": label(row["judge"])} for row in robustness["leave_one_judge_out"]]
        renamed["robustness"] = robustness | {"leave_one_judge_out": rows}
    return renamed


def in_order_of_judges(result: dict[str, Any]) -> dict[str, Any]:
    """A renamed document with its lists of judges in the order of their new names, as a fit of renamed votes has them."""
    ordered = dict(result)
    if isinstance(result.get("judges"), dict):
        ordered["judges"] = dict(sorted(result["judges"].items()))
    if isinstance(result.get("judges"), list):  # of grades
        ordered["judges"] = sorted(result["judges"], key=itemgetter("judge"))
    if weights := result.get("settings", {}).get("weights"):
        ordered["settings"] = result["settings"] | {"weights": dict(sorted(weights.items()))}
    if cohen := result.get("agreement", {}).get("cohen"):
        pairs = [row | {"judges": sorted(row["judges"])} for row in cohen]
        ordered["agreement"] = result["agreement"] | {"cohen": sorted(pairs, key=itemgetter("judges"))}
    if rows := result.get("robustness", {}).get("leave_one_judge_out"):
        rows = sorted(rows, key=itemgetter("judge"))
        ordered["robustness"] = result["robustness"] | {"leave_one_judge_out": rows}
    return ordered
