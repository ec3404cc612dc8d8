"""The page of quality against cost, time and length, for every kind of board."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from benchsite.lib.text import csv_text
from ranking.boards.conditional import conditional
from ranking.boards.frontier import (
    MEASURES,
    FrontierRow,
    frontier_rows,
    frontier_sentence,
    frontier_svg,
    has_groups,
    is_joint,
)
from ranking.boards.rows import describe_entrants
from ranking.charts.frontier import DESK, PHONE
from ranking.models import Fit
from ranking.views import page_json
from ranking.views.pages import as_file, fit_page, ranking_page, show_page, tabs_of


@require_GET
@ranking_page
@conditional
@fit_page()
def frontier(request: HttpRequest, fit: Fit) -> HttpResponse:
    key = request.GET.get("by", "cost")
    weights = request.GET.get("weights", "")
    if key not in MEASURES or weights not in ("", "open", "closed"):
        raise Http404
    measure, entrants = MEASURES[key], list(fit.run.entrants.all())
    describe_entrants(fit.run, entrants, fit=fit)
    known = {entrant.about.facts.get("weights") for entrant in entrants}  # type: ignore[attr-defined]
    chosen = [e for e in entrants if weights in ("", e.about.facts.get("weights"))]  # type: ignore[attr-defined]
    rows = frontier_rows(fit, measure, chosen)
    if form := request.GET.get("file"):
        return _file(fit, key, form, frontier_svg(fit, measure, rows), rows)
    context = {
        **tabs_of(request, fit, here="frontier"),
        "measures": MEASURES,
        "by": key,
        "measure": measure,
        "weights": weights,
        "has_weights": len(known - {None}) > 1,
        "rows": rows,
        "charts": [frontier_svg(fit, measure, rows, frame=frame) for frame in (DESK, PHONE) if len(rows) > 1],
        "sentence": frontier_sentence(rows, measure, fit.run.entrant_word, groups=has_groups(fit)),
        "joint": is_joint(fit),
    }
    return show_page(request, "ranking/frontier.html", context, page_json.frontier)


def _file(fit: Fit, key: str, form: str, svg: str, rows: list[FrontierRow]) -> HttpResponse:
    if form == "svg":
        return as_file(svg, f"{fit.run.suite}-{key}.svg", form)
    if form != "csv":
        raise Http404
    head = ["entrant", key, "quality", "low", "high", "chance_on_frontier"]
    lines = [[r.entrant.name, r.value, r.quality, r.low, r.high, r.chance] for r in rows]
    return as_file(csv_text([head, *lines]), f"{fit.run.suite}-{key}.csv", form)
