"""Pages about prompts: the list of a run's, and one with every drawing of it and who wins there."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from benchsite.templatetags.wording import thousands
from generation.models import Prompt, Run, Sample
from generation.protocols import load, protocols_of
from judging.rules import rules_of
from ranking.boards.conditional import conditional
from ranking.boards.rows import describe_entrants, first_of_prompts
from ranking.models import Fit
from ranking.views import page_json
from ranking.views.gallery_page import describe, shown_samples
from ranking.views.pages import board_tabs, drawings_page, show_page
from ranking.words import counted

PROMPTS_A_PAGE = 24
ORDERS = {"won": "By points won", "rank": "By overall rank", "name": "By name"}


@require_GET
@drawings_page
@conditional
def prompts(request: HttpRequest, run: Run) -> HttpResponse:
    rules = rules_of(run.code)
    category = request.GET.get("category", "")
    listed = run.prompts.filter(category=category) if category else run.prompts.all()
    page = Paginator(listed, PROMPTS_A_PAGE).get_page(request.GET.get("page"))
    drawings = first_of_prompts(run, [prompt.pk for prompt in page])
    present = set(run.prompts.order_by().values_list("category", flat=True)) - {""}
    context = {
        **board_tabs(request, run, here="gallery:prompts"),
        "page": page,
        "lines": [
            {"prompt": prompt, "category": rules.label(prompt.category), "samples": drawings.get(prompt.pk, [])}
            for prompt in page
        ],
        "categories": rules.in_order(present) if len(present) > 1 else [],
        "category": category,
        "query": f"category={category}" if category else "",
    }
    return show_page(request, "ranking/prompts.html", context, page_json.prompts)


@require_GET
@drawings_page
@conditional
def prompt(request: HttpRequest, run: Run, prompt: str) -> HttpResponse:
    asked = get_object_or_404(run.prompts, code=prompt)
    tabs = board_tabs(request, run, here="gallery:prompts")
    fit: Fit | None = tabs.get("fit")
    cells, records = prompt_cells(run, asked, fit)
    order = request.GET.get("order", "won" if records else "rank")
    keys: dict[str, Any] = {
        "won": lambda cell: (-(cell["points"] / cell["votes"] if cell["votes"] else -1), cell["rank"]),
        "rank": lambda cell: cell["rank"],
        "name": lambda cell: cell["entrant"].label.lower(),
    }
    cells.sort(key=keys.get(order, keys["rank"]))
    around = list(run.prompts.order_by("position").values_list("code", "subject", "text"))
    place = next(n for n, (key, *_) in enumerate(around) if key == asked.code)
    context = {
        **tabs,
        "prompt": asked,
        "category": rules_of(run.code).label(asked.category),
        "place": place + 1,
        "of": len(around),
        "previous": _named(around, place - 1) if place else None,
        "next": _named(around, place + 1) if place + 1 < len(around) else None,
        "cells": cells,
        "records": records,
        "sentence": prompt_sentence(cells, records),
        "pictured": next((c["best"]["sample"] for c in cells if c["best"] and c["best"]["sample"].drawing), None),
        "orders": ORDERS if records else {key: ORDERS[key] for key in ("rank", "name")},
        "order": order,
    }
    return show_page(request, "ranking/prompt.html", context, page_json.prompt)


def _named(around: list[Any], place: int) -> dict[str, str]:
    code, subject, text = around[place]
    return {"code": code, "label": subject or text}


def prompt_cells(run: Run, prompt: Prompt, fit: Fit | None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Each entrant with all its drawings of the prompt, and what votes say of them where people voted."""
    entrants = list(run.entrants.filter(disqualified="", approved=True))
    ranks = {row["entrant"]: place for place, row in enumerate(fit.result.get("overall", []))} if fit else {}
    describe_entrants(run, entrants, fit=fit)
    entry = next((entry for entry in protocols_of(run).values() if entry.prompt_records), None)
    records = load(entry.prompt_records)(run, prompt) if entry else {}
    if not records.get("votes"):
        records = {}
    attempts: dict[int, list[dict[str, Any]]] = {}
    for sample in shown_samples(run).filter(prompt=prompt).order_by("entrant_id", "model_id", "attempt"):
        points, votes = records.get("drawings", {}).get(sample.pk, (0, 0))
        attempts.setdefault(sample.entrant_id, []).append({**describe(sample), "points": points, "votes": votes})
    cells = []
    for entrant in entrants:
        points, votes = records.get("entrants", {}).get(entrant.pk, (0, 0))
        drawn = attempts.get(entrant.pk, [])
        best = max(
            drawn,
            key=lambda one: (_is_drawn(one["sample"]), one["points"] / one["votes"] if one["votes"] else 0),
            default=None,
        )
        cells.append(
            {
                "entrant": entrant,
                "rank": ranks.get(entrant.name, len(ranks)),
                "points": points,
                "votes": votes,
                "best": best,
                "attempts": drawn,
                "others": [one for one in drawn if one is not best],
            }
        )
    if first := winner(cells):
        first["wins"] = True
    return cells, records


def winner(cells: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The cell with the largest share of points, unless another has as large a one."""
    ranked = sorted((cell["points"] / cell["votes"], place) for place, cell in enumerate(cells) if cell["votes"])
    alone = len(ranked) == 1 or (len(ranked) > 1 and ranked[-1][0] > ranked[-2][0])
    return cells[ranked[-1][1]] if alone and ranked[-1][0] > 0 else None


def _is_drawn(sample: Sample) -> bool:
    return bool(sample.drawing)


def prompt_sentence(cells: list[dict[str, Any]], records: dict[str, Any]) -> str:
    """Who wins here by points, and that one prompt separates few."""
    if not records:
        drawn = sum(bool(cell["best"] and cell["best"]["sample"].drawing) for cell in cells)
        who = f"All {drawn}" if drawn == len(cells) > 1 else f"{drawn} of {len(cells)}"
        return f"{who} drew it."
    ranked = sorted((c for c in cells if c["votes"]), key=lambda c: -c["points"] / c["votes"])
    first = ranked[0]
    of = f"{first['points']:g} of {thousands(first['votes'])} points"
    level = [c for c in ranked[1:] if c["points"] / c["votes"] == first["points"] / first["votes"]]
    if level:
        return f"{first['entrant'].label} and {counted(len(level), 'other')} share first place here, with {of}."
    return f"{first['entrant'].label} wins here with {of}."
