"""Head to head on a scored board: the difference of any two entrants with its interval and verdict, overall and by category."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from generation.models import Entrant
from judging.rules import rules_of
from ranking.best import drawings_of_both
from ranking.boards.conditional import conditional
from ranking.charts.intervals import Interval, interval_axis, interval_row, interval_scale
from ranking.charts.markers import marker_sign
from ranking.models import Fit
from ranking.results import VerdictResult, VerdictsResult
from ranking.views import page_json
from ranking.views.pages import fit_page, ranking_page, show_page, tabs_of
from ranking.words import GAP_WORDS, labels_of, numbers_of, pair_of, stand_words, verdict_words


@require_GET
@ranking_page
@conditional
@fit_page()
def differences(request: HttpRequest, fit: Fit) -> HttpResponse:
    context = differences_context(fit, request.GET.get("a", ""), request.GET.get("b", ""))
    if context is None:
        raise Http404
    context |= tabs_of(request, fit, here="differences")
    if not context["drawings_open"]:
        context["drawings"] = []
    return show_page(request, "ranking/differences.html", context, page_json.differences)


def differences_context(fit: Fit, first: str, second: str) -> dict[str, Any] | None:
    """Two entrants by their codes; by default the two at the top. None where the board compares nobody."""
    verdicts: VerdictsResult | None = fit.result.get("verdicts")
    entrants = {entrant.code: entrant for entrant in fit.run.entrants.all()}
    by_name = {entrant.name: entrant for entrant in entrants.values()}
    compared = {name for pair in verdicts["pairs"] for name in (pair["upper"], pair["lower"])} if verdicts else set()
    top = [by_name[row["entrant"]] for row in fit.result["overall"] if row["entrant"] in compared & {*by_name}]
    if verdicts is None or len(top) < 2 or first not in {"", *entrants} or second not in {"", *entrants}:
        return None
    one = entrants.get(first) or next(e for e in top if e.code != second)
    other = entrants.get(second) or next(e for e in top if e != one)
    labels, digits = labels_of(entrants.values()), digits_of(fit)
    pair = pair_of(verdicts, one.name, other.name)
    by_category, against = category_rows(fit, one, other), rows_against(fit, verdicts, one, by_name)
    scale = interval_scale([NOTHING, *(interval_of(row) for row in [*by_category, *against])])
    for row in [*by_category, *against]:
        row["picture"] = interval_row(interval_of(row), scale, rule=0)
    return {
        "protocol": fit.protocol,
        "one": one,
        "other": other,
        "entrants": sorted(top, key=lambda entrant: entrant.label),
        "pair": pair,
        "sentence": verdict_words(pair, labels, digits=digits) if pair else "",
        "digits": digits,
        "by_category": by_category,
        "against": against,
        "axis": interval_axis(scale),
        "pairs": [row_of(entry, labels) for entry in verdicts["pairs"]],
        "drawings": drawings_of_both(fit.run, one, other),
    }


NOTHING = Interval("", 0.0, 0.0, 0.0)  # no difference: every scale shows it


def interval_of(row: Mapping[str, Any]) -> Interval:
    """Where a bound is missing, the difference alone."""
    bounds = (row["gap"], row["gap"]) if row["low"] is None or row["high"] is None else (row["low"], row["high"])
    return Interval(row["words"], row["gap"], *bounds, number=row.get("number"))


def digits_of(fit: Fit) -> int:
    """Decimals that say something: scores from 0 to 1 need more than scores out of 100."""
    scores = [abs(row.get("score") or row.get("rating") or 0) for row in fit.result["overall"]]
    return 3 if max(scores, default=0) <= 1 else 1


def row_of(pair: VerdictResult, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        **pair,
        "upper": labels.get(pair["upper"], pair["upper"]),
        "lower": labels.get(pair["lower"], pair["lower"]),
        "words": GAP_WORDS[pair["state"]],
    }


def seen_from(pair: VerdictResult, name: str) -> dict[str, Any]:
    """The difference from one of the two to the other."""
    turned = pair["upper"] != name
    low, high = pair["low"], pair["high"]
    if turned:
        low, high = None if high is None else -high, None if low is None else -low
    return {
        "gap": -pair["gap"] if turned else pair["gap"],
        "low": low,
        "high": high,
        "state": pair["state"],
        "words": stand_words(pair, name),
    }


def rows_against(
    fit: Fit, verdicts: VerdictsResult, one: Entrant, by_name: Mapping[str, Entrant]
) -> list[dict[str, Any]]:
    """One entrant against every other, in the order of the board."""
    numbers, rows = numbers_of(by_name.values()), []
    for row in fit.result["overall"]:
        pair = pair_of(verdicts, one.name, row["entrant"]) if row["entrant"] != one.name else None
        if pair is not None and row["entrant"] in by_name:
            number = numbers[row["entrant"]]
            seen = seen_from(pair, one.name)
            rows.append({**seen, "entrant": by_name[row["entrant"]], "number": number, "sign": marker_sign(number)})
    return rows


def category_rows(fit: Fit, one: Entrant, other: Entrant) -> list[dict[str, Any]]:
    """The difference in each category, from the first of the two to the second."""
    rows = []
    for key, name in rules_of(fit.run.code).in_order(fit.result.get("category_verdicts", {})):
        pair = pair_of(fit.result["category_verdicts"][key], one.name, other.name)
        if pair is not None:
            rows.append({"category": name, **seen_from(pair, one.name)})
    return rows
