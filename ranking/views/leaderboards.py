"""Leaderboards: every page shows a stored fit, and computes nothing that grows with votes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchsite.lib.access import curator_required
from benchsite.lib.json_pages import page_or_json
from benchsite.version import signed, stamped
from generation.models import Run, Sample
from generation.pictures import picture_response
from generation.protocols import load, protocol_of, protocols_of
from generation.runs.errors import RunError
from judging.disclosure import may_see_drawings
from ranking.fitting import publish_fit, queue_past_fit, set_counting
from ranking.models import Counting, Fit, Publication
from ranking.pairwise.chart_files import chart_file
from ranking.pairwise.entrant_pages import entrant_context, versus_context
from ranking.pairwise.history_page import history_context
from ranking.pairwise.judges_page import judges_context
from ranking.pairwise.result import category_tabs
from ranking.people import is_hidden_from, judge_labels
from ranking.views import page_json
from ranking.views.entrant_scores import scores_of
from ranking.views.forms import CountingForm, PastForm, PublishForm
from ranking.views.overview import overview

FORMS = {"json": "application/json", "md": "text/markdown", "csv": "text/csv", "svg": "image/svg+xml"}


def ranking_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The run instead of its code: of those the visitor may see, and not while the visitor judges it."""

    @wraps(view)
    def guarded(request: HttpRequest, code: str, **rest: Any) -> HttpResponse:
        run = get_object_or_404(Run.objects.visible_to(request.user), code=code)
        if is_hidden_from(run, request.user):
            return render(request, "ranking/hidden.html", {"run": run}, status=403)
        return view(request, run, **rest)

    return guarded


def _fit(run: Run, protocol: str) -> Fit | None:
    """The newest fit of a protocol of the run; 404 where the run has no such protocol."""
    if protocol_of(run, protocol) is None:
        raise Http404
    return Fit.objects.newest(run, protocol)


@require_GET
def leaderboards(request: HttpRequest) -> HttpResponse:
    runs = Run.objects.visible_to(request.user).exclude(visibility=Run.Visibility.ARCHIVED)
    lines = overview(runs, request.user)
    return page_or_json(request, "ranking/leaderboards.html", {"lines": lines}, page_json.boards)


@require_GET
@ranking_page
def leaderboard(request: HttpRequest, run: Run, protocol: str = "") -> HttpResponse:
    protocol = protocol or next(iter(protocols_of(run)), "")
    if not protocol:
        return _nothing_yet(request, run)
    fit = _fit(run, protocol)
    if fit is None:
        return _nothing_yet(request, run)
    return _show(request, fit)


def _tabs(request: HttpRequest, fit: Fit) -> dict[str, Any]:
    return {
        "run": fit.run,
        "drawings_open": may_see_drawings(fit.run, request.user),
        "fit": fit,
        "protocols": protocols_of(fit.run),
        "categories": category_tabs(fit) if fit.protocol == "pairwise" else [],
    }


def _show(request: HttpRequest, fit: Fit, **more: Any) -> HttpResponse:
    entry = protocol_of(fit.run, fit.protocol)
    scope = request.GET.get("category", "")
    if scope and scope not in fit.result.get("categories", {}):
        raise Http404
    context = {
        **_tabs(request, fit),
        "result": fit.result,
        "scope": scope,
        "protocol": fit.protocol,
        **(load(entry.page)(fit, scope=scope) if entry.page else {}),
        **more,
    }
    if request.user.is_staff:
        context |= {
            "counting": CountingForm(instance=Counting.objects.filter(run=fit.run).first()),
            "publish": PublishForm(initial={"title": str(fit.run)}),
        }
    return page_or_json(request, entry.template, context, lambda shown: _document(request, fit, shown))


def _nothing_yet(request: HttpRequest, run: Run) -> HttpResponse:
    about = page_json.about_run(run) | {"overall": []}
    context = {"run": run, "measured_only": not run.judged_by}
    return page_or_json(request, "ranking/empty.html", context, lambda shown: about)


@require_GET
@ranking_page
def past(request: HttpRequest, run: Run, fit: str) -> HttpResponse:
    return _show(request, get_object_or_404(Fit, run=run, code=fit), frozen=True)


@require_GET
def publication(request: HttpRequest, code: str) -> HttpResponse:
    """A frozen leaderboard: whoever has the link may see it."""
    found = get_object_or_404(Publication.objects.select_related("fit__run"), code=code)
    run = found.fit.run
    shown = Run.objects.visible_to(request.user).filter(pk=run.pk).exists() and not is_hidden_from(run, request.user)
    return _show(request, found.fit, publication=found, frozen=True, run_hidden=not shown)


@require_GET
@ranking_page
def download(request: HttpRequest, run: Run, form: str) -> HttpResponse:
    fit = _fit(run, request.GET.get("protocol") or next(iter(protocols_of(run)), ""))
    if fit is None or form not in ("json", "md", "csv"):
        raise Http404
    if form == "json":
        return JsonResponse(stamped(_document(request, fit, {})), json_dumps_params={"ensure_ascii": False})
    text = fit.result.get("run", {}).get(form)
    if text is None:
        raise Http404
    if form == "md":
        return _file(signed(text), "LEADERBOARD.md", form)
    return _file(text, f"LEADERBOARD-{run.suite}.csv", form)


def _document(request: HttpRequest, fit: Fit, shown: dict[str, Any]) -> dict[str, Any]:
    """The whole analysis, its judges by number. A frozen leaderboard's page says nothing of single judges, nor does this."""
    about = {"code": fit.code, "kind": fit.kind, "protocol": fit.protocol, "read_at": fit.read_at.isoformat()}
    found = {
        **page_json.analysis(fit, judge_labels(fit.run, curator=request.user.is_staff)),
        "run": fit.run.code,
        "suite": fit.run.suite,
        "demo": fit.run.is_demo,
        "simulated_judges": fit.result.get("run", {}).get("simulated", 0),
        "fit": about,
    }
    if not shown.get("publication"):
        return found
    title = {"title": shown["publication"].title, "frozen_at": shown["publication"].at.isoformat()}
    return page_json.without_judges(found) | title


def _file(text: str, name: str, form: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{FORMS[form]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_GET
@ranking_page
def chart(request: HttpRequest, run: Run, name: str, form: str) -> HttpResponse:
    fit = _fit(run, "pairwise")
    text = chart_file(fit, name, form, scope=request.GET.get("category", "")) if fit else None
    if text is None:
        raise Http404
    return _file(text, f"{run.suite}-{name}.{form}", form)


@require_GET
@ranking_page
def judges(request: HttpRequest, run: Run) -> HttpResponse:
    fit = _fit(run, "pairwise")
    if fit is None:
        return _nothing_yet(request, run)
    context = judges_context(fit, labels=judge_labels(run, curator=request.user.is_staff))
    return page_or_json(request, "ranking/judges.html", {**_tabs(request, fit), **context}, page_json.judges)


@require_http_methods(["GET", "POST"])
@ranking_page
def history(request: HttpRequest, run: Run) -> HttpResponse:
    fit = _fit(run, "pairwise")
    form = PastForm(request.POST or None) if request.user.is_staff else None
    if request.method == "POST" and form and form.is_valid():
        queue_past_fit(run, until=form.cleaned_data["until"].astimezone(UTC).isoformat())
        messages.info(request, "That leaderboard is being made; it will be listed here in a few seconds.")
        return redirect("ranking:history", run.code)
    if fit is None:
        return _nothing_yet(request, run)
    context = {**_tabs(request, fit), "form": form, **history_context(fit)}
    return page_or_json(request, "ranking/history.html", context, page_json.history)


@require_GET
@ranking_page
def versus(request: HttpRequest, run: Run) -> HttpResponse:
    fit = _fit(run, "pairwise")
    context = versus_context(fit, request.GET.get("a", ""), request.GET.get("b", "")) if fit else None
    if context is None:
        raise Http404
    context |= _tabs(request, fit)
    if not context["drawings_open"]:
        context["drawings"] = []
    return page_or_json(request, "ranking/versus.html", context, page_json.versus)


@require_GET
@ranking_page
def entrant(request: HttpRequest, run: Run, entrant: str) -> HttpResponse:
    found = get_object_or_404(run.entrants.select_related("model"), code=entrant)
    fit = Fit.objects.newest(run, "pairwise") if "pairwise" in run.protocols else None
    context = entrant_context(fit, found) if fit else {}
    context |= {"run": run, "fit": fit, "entrant": found, "scores": scores_of(run, found)}
    context["drawings_open"] = may_see_drawings(run, request.user)
    if not context["drawings_open"]:
        context |= {"best": [], "worst": []}
    return page_or_json(request, "ranking/entrant.html", context, page_json.entrant)


@require_GET
@ranking_page
def drawing(request: HttpRequest, run: Run, sample: str) -> HttpResponse:
    """A drawing on a page that names who drew it: not before judging is over, and never one withheld from judges."""
    if not may_see_drawings(run, request.user):
        raise Http404
    found = get_object_or_404(Sample.objects.judgeable().select_related("run"), run=run, code=sample)
    return picture_response(found)


@curator_required
@require_POST
def count(request: HttpRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run, code=code)
    form = CountingForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the offered ways of counting.")
        return redirect("ranking:leaderboard", run.code)
    try:
        set_counting(run=run, by=request.user, **form.cleaned_data)
    except RunError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Saved. The leaderboard follows in a few seconds.")
    return redirect("ranking:leaderboard", run.code)


@curator_required
@require_POST
def publish(request: HttpRequest, code: str) -> HttpResponse:
    """Freeze the leaderboard that the curator looked at, by its code."""
    fit = Fit.objects.filter(run__code=code, code=request.POST.get("fit", "")).first()
    form = PublishForm(request.POST)
    if fit is None:
        messages.error(request, "New votes have replaced that leaderboard. This is the newest: look, and publish it.")
        return redirect("ranking:leaderboard", code)
    if not form.is_valid():
        messages.error(request, "A frozen leaderboard needs a title.")
        return redirect("ranking:leaderboard", code)
    return redirect("ranking:publication", publish_fit(fit=fit, by=request.user, **form.cleaned_data).code)
