"""The pages around a leaderboard of votes: its judges, its history, two entrants side by side, and its charts as files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.reasons import reason_of
from generation.models import Run
from generation.runs.errors import RunError
from judging.pairs import NAME
from ranking.charts.markers import marker_sign
from ranking.charts.plots import DESK, PHONE
from ranking.fitting import queue_past_fit
from ranking.models import Fit, Publication
from ranking.pairwise.chart_files import LINES, chart_file, history_of, history_svg
from ranking.pairwise.entrant_pages import versus_context
from ranking.pairwise.judges_page import judges_context
from ranking.pairwise.model_judges.page import model_judges_context, model_judges_document
from ranking.pairwise.panels.crowd import merge_arena, part_arena
from ranking.pairwise.panels.page import groups_context, groups_document
from ranking.pairwise.prompt_page import votes_context
from ranking.pairwise.result import category_tabs, result_of
from ranking.pairwise.sentences import stability_sentence
from ranking.people import is_closed_to, judge_labels
from ranking.views import page_json
from ranking.views.forms import PastForm
from ranking.views.pages import as_file, fit_page, newest_fit, nothing_yet, ranking_page, show_page, tabs_of
from ranking.words import labels_of, named, numbers_of


def _tabs(request: HttpRequest, fit: Fit, here: str) -> dict[str, Any]:
    return {**tabs_of(request, fit, here=f"ranking:{here}"), "categories": category_tabs(fit)}


@require_GET
@ranking_page
def chart(request: HttpRequest, run: Run, name: str, form: str) -> HttpResponse:
    if is_closed_to(request.user, run, NAME):
        raise Http404
    fit = newest_fit(request, run, NAME)
    text = chart_file(fit, name, form, scope=request.GET.get("category", "")) if fit else None
    if text is None:
        raise Http404
    return as_file(text, f"{run.suite}-{name}.{form}", form)


@require_GET
@ranking_page
@fit_page(NAME)
def judges(request: HttpRequest, fit: Fit) -> HttpResponse:
    context = judges_context(fit, labels=judge_labels(fit.run, curator=fit.run.is_curated_by(request.user)))
    return show_page(request, "ranking/judges.html", {**_tabs(request, fit, "judges"), **context}, page_json.judges)


@require_GET
@ranking_page
@fit_page(NAME)
def model_judges(request: HttpRequest, fit: Fit) -> HttpResponse:
    context = _tabs(request, fit, "model_judges")
    context |= model_judges_context(fit, drawings_open=context["drawings_open"])
    return show_page(request, "ranking/model_judges.html", context, model_judges_document)


@require_GET
@ranking_page
@fit_page(NAME)
def groups(request: HttpRequest, fit: Fit) -> HttpResponse:
    """The open arena's board beside the judges', and boards by group of judges."""
    context = {**_tabs(request, fit, "groups"), **groups_context(fit)}
    return show_page(request, "ranking/groups.html", context, groups_document)


@curator_required
@require_POST
def set_arena(request: UserRequest, code: str, verb: str) -> HttpResponse:
    """A curator's decision: the arena's votes count with the judges', or on a board of their own."""
    run = get_object_or_404(Run.objects.curated_by(request.user).defer("config"), code=code)
    try:
        if verb == "merge":
            counted = merge_arena(run=run, by=request.user, reason=reason_of(request))
            messages.success(request, f"Merged: {counted} judges of the arena count now. The ranking will update.")
        elif verb == "part":
            part_arena(run=run, by=request.user, reason=reason_of(request))
            messages.success(request, "The arena has a board of its own again. The ranking will update.")
        else:
            raise Http404
    except RunError as error:
        messages.error(request, str(error))
    return redirect("ranking:groups", code)


BANDS = 4  # intervals drawn at once; more would hide each other


def history_context(fit: Fit, *, chosen: Sequence[str] = ()) -> dict[str, Any]:
    """`chosen` are codes of entrants whose intervals are drawn as bands; without any, the first two."""
    entrants = list(fit.run.entrants.all())
    labels, overall = labels_of(entrants), result_of(fit)["overall"]
    by_code = {entrant.code: entrant.name for entrant in entrants}
    banded = [by_code[code] for code in chosen if code in by_code][:BANDS]
    banded = banded or [row["entrant"] for row in overall[:2]]
    points = history_of(fit)
    numbers = numbers_of(entrants)
    return {
        "charts": [history_svg(fit, labels, banded=banded, frame=frame) for frame in (DESK, PHONE) if points],
        "sentence": stability_sentence(result_of(fit)) or "How the ratings moved as the votes came in.",
        "choices": [
            {"entrant": entrant, "sign": marker_sign(numbers[entrant.name]), "chosen": entrant.name in banded}
            for row in overall
            for entrant in entrants
            if entrant.name == row["entrant"]
        ],
        "bands": BANDS,
        "lines": LINES,
        "shown": f":{LINES}",
        "heads": [named(row, labels) for row in overall],
        "points": [
            {
                "votes": point["votes"],
                "at": datetime.fromtimestamp(point["at"], UTC),
                "ratings": [point["ratings"].get(row["entrant"]) for row in overall],
            }
            for point in points[::-1]
        ],
        "past": Fit.objects.filter(run=fit.run, protocol=fit.protocol).exclude(until=None).defer("result")[:20],
        "publications": Publication.objects.filter(fit__run=fit.run).order_by("-fit", "-at"),
    }


@require_http_methods(["GET", "POST"])
@ranking_page
def history(request: HttpRequest, run: Run) -> HttpResponse:
    fit = newest_fit(request, run, NAME)
    form = PastForm(request.POST or None) if run.is_curated_by(request.user) else None
    if request.method == "POST" and form and form.is_valid():
        queue_past_fit(run, protocol=NAME, until=form.cleaned_data["until"].astimezone(UTC).isoformat())
        messages.info(request, "That leaderboard is being rebuilt; it will be listed here in a few seconds.")
        return redirect("ranking:history", run.code)
    if fit is None:
        return nothing_yet(request, run)
    context = {
        **_tabs(request, fit, "history"),
        "form": form,
        **history_context(fit, chosen=request.GET.getlist("band")),
    }
    return show_page(request, "ranking/history.html", context, page_json.history)


@require_GET
@ranking_page
def versus(request: HttpRequest, run: Run) -> HttpResponse:
    fit = newest_fit(request, run, NAME)
    if fit is None or len(result_of(fit)["overall"]) < 2:
        return nothing_yet(request, run)
    context = versus_context(fit, request.GET.get("a", ""), request.GET.get("b", ""))
    if context is None:
        raise Http404
    context |= _tabs(request, fit, "versus")
    if not context["drawings_open"]:
        context["drawings"] = []
    return show_page(request, "ranking/versus.html", context, page_json.versus)


@require_GET
@ranking_page
@fit_page(NAME)
def votes(request: HttpRequest, fit: Fit) -> HttpResponse:
    """Every vote with both drawings and their names: only where nobody can judge them blind any more."""
    context = _tabs(request, fit, "votes")
    if context["drawings_open"]:
        context |= votes_context(fit.run, request.GET, curator=fit.run.is_curated_by(request.user))
    return show_page(request, "ranking/votes.html", context, page_json.votes)
