"""The pages around a leaderboard of votes: its judges, its history, two entrants side by side, and its charts as files."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods

from benchsite.lib.json_pages import page_or_json
from generation.models import Run
from judging.pairs import NAME
from ranking.fitting import queue_past_fit
from ranking.models import Fit
from ranking.pairwise.chart_files import chart_file
from ranking.pairwise.entrant_pages import versus_context
from ranking.pairwise.history_page import history_context
from ranking.pairwise.judges_page import judges_context
from ranking.pairwise.result import category_tabs
from ranking.people import is_closed_to, judge_labels
from ranking.views import page_json
from ranking.views.forms import PastForm
from ranking.views.pages import as_file, newest_fit, nothing_yet, ranking_page, tabs_of


def _tabs(request: HttpRequest, fit: Fit) -> dict[str, Any]:
    return {**tabs_of(request, fit), "categories": category_tabs(fit)}


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
def judges(request: HttpRequest, run: Run) -> HttpResponse:
    fit = newest_fit(request, run, NAME)
    if fit is None:
        return nothing_yet(request, run)
    context = judges_context(fit, labels=judge_labels(run, curator=request.user.is_staff))
    return page_or_json(request, "ranking/judges.html", {**_tabs(request, fit), **context}, page_json.judges)


@require_http_methods(["GET", "POST"])
@ranking_page
def history(request: HttpRequest, run: Run) -> HttpResponse:
    fit = newest_fit(request, run, NAME)
    form = PastForm(request.POST or None) if request.user.is_staff else None
    if request.method == "POST" and form and form.is_valid():
        queue_past_fit(run, protocol=NAME, until=form.cleaned_data["until"].astimezone(UTC).isoformat())
        messages.info(request, "That leaderboard is being made; it will be listed here in a few seconds.")
        return redirect("ranking:history", run.code)
    if fit is None:
        return nothing_yet(request, run)
    context = {**_tabs(request, fit), "form": form, **history_context(fit)}
    return page_or_json(request, "ranking/history.html", context, page_json.history)


@require_GET
@ranking_page
def versus(request: HttpRequest, run: Run) -> HttpResponse:
    fit = newest_fit(request, run, NAME)
    context = versus_context(fit, request.GET.get("a", ""), request.GET.get("b", "")) if fit else None
    if fit is None or context is None:
        raise Http404
    context |= _tabs(request, fit)
    if not context["drawings_open"]:
        context["drawings"] = []
    return page_or_json(request, "ranking/versus.html", context, page_json.versus)
