"""Leaderboards: every page shows a stored fit, and computes nothing that grows with votes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.json_pages import page_or_json
from benchsite.version import signed, stamped
from generation.models import Entrant, Run, Sample
from generation.pictures import picture_response
from generation.protocols import load, protocol_of, protocols_of
from generation.runs.errors import RunError
from judging.disclosure import may_see_drawings
from ranking.boards.conditional import conditional
from ranking.boards.entrant_scores import scores_of
from ranking.boards.rows import board_context, describe_entrants
from ranking.fitting import publish_fit, set_counting
from ranking.models import Counting, Fit, Publication
from ranking.people import is_closed_to, is_hidden_from, judge_labels, with_labels
from ranking.views import page_json
from ranking.views.forms import CountingForm, PublishForm
from ranking.views.overview import STATES, overview
from ranking.views.pages import as_file, check_open, newest_fit, nothing_yet, ranking_page, show_page, tabs_of
from ranking.words import counted

SHOWN = 12  # drawings on an entrant's page
HEAVY = ("raw", "answer", "earlier_answers", "questions")  # columns of a drawing that its tile needs nothing of


@require_GET
def leaderboards(request: HttpRequest) -> HttpResponse:
    """Every leaderboard that the visitor may see, or those of one suite or state."""
    runs = list(Run.objects.listed_for(request.user))
    chosen = {name: request.GET.get(name, "") for name in ("suite", "state")}
    lines = overview([run for run in runs if chosen["suite"] in ("", run.suite)], request.user)
    about = "Which model draws best, by suite: ratings with their intervals, and what they rest on."
    context = {
        "lines": [line for line in lines if chosen["state"] in ("", line["state_key"])],
        "chosen": chosen,
        "suites": sorted({run.suite: run.title for run in runs}.items()),
        "states": list(STATES.items()) if runs else [],
        "share": {"title": "Leaderboards", "description": about},
    }
    return page_or_json(request, "ranking/leaderboards.html", context, page_json.boards)


@require_GET
@ranking_page
@conditional
def leaderboard(request: HttpRequest, run: Run, protocol: str = "") -> HttpResponse:
    protocol = protocol or next(iter(protocols_of(run)), "")
    if not protocol:
        return nothing_yet(request, run)
    fit = newest_fit(request, run, protocol)
    if fit is None:
        return nothing_yet(request, run)
    return _show(request, fit)


def _show(request: HttpRequest, fit: Fit, **more: Any) -> HttpResponse:
    entry = protocol_of(fit.run, fit.protocol)
    if entry is None:
        raise Http404
    scope = request.GET.get("category", "")
    if scope and scope not in fit.result.get("categories", {}):
        raise Http404
    context = {
        **tabs_of(request, fit, here="board"),
        "result": fit.result,
        "scope": scope,
        **(load(entry.page)(fit, scope=scope) if entry.page else {}),
        **more,
    }
    if rows := context.get("rows"):
        # A frozen leaderboard is for whoever has its link, and its run's drawings may not be.
        open_here = context["drawings_open"] and "publication" not in more
        by_answers = not scope and request.GET.get("rating") == "answers" and context.get("answer_rows")
        context |= {"by_answers": bool(by_answers)}
        context |= board_context(fit, rows, request.GET, drawings_open=open_here, listed=by_answers or None)
    if fit.run.is_curated_by(request.user):
        context["publish"] = PublishForm(initial={"title": str(fit.run)})
        if entry.has_ties:
            context["counting"] = CountingForm(instance=Counting.objects.filter(run=fit.run).first())
    return show_page(request, entry.template, context, lambda shown: board_document(fit, request.user, shown))


@require_GET
@ranking_page
def past(request: HttpRequest, run: Run, fit: str) -> HttpResponse:
    stored = get_object_or_404(Fit, run=run, code=fit)
    check_open(request, run, stored.protocol)
    return _show(request, stored, frozen=True)


@require_GET
def publication(request: HttpRequest, code: str) -> HttpResponse:
    """A frozen leaderboard: whoever has the link may see it, unless people judge the run again."""
    published = get_object_or_404(Publication.objects.select_related("fit__run"), code=code)
    run = published.fit.run
    shown = Run.objects.visible_to(request.user).filter(pk=run.pk).exists() and not is_hidden_from(run, request.user)
    if is_closed_to(request.user, run, published.fit.protocol):
        return render(request, "ranking/publication_closed.html", {"publication": published})
    return _show(request, published.fit, publication=published, frozen=True, run_hidden=not shown)


@require_GET
@ranking_page
@conditional
def download(request: HttpRequest, run: Run, form: str) -> HttpResponse:
    name = request.GET.get("protocol") or next(iter(protocols_of(run)), "")
    if form != "json" and is_closed_to(request.user, run, name):
        raise Http404
    fit = newest_fit(request, run, name)
    if fit is None or form not in ("json", "md", "csv"):
        raise Http404
    if form == "json":
        return JsonResponse(stamped(board_document(fit, request.user)), json_dumps_params={"ensure_ascii": False})
    text = fit.result.get("run", {}).get(form)
    if text is None:
        raise Http404
    if form == "md":
        return as_file(signed(text), "LEADERBOARD.md", form)
    return as_file(text, f"LEADERBOARD-{run.suite}.csv", form)


def board_document(
    fit: Fit, user: User | AnonymousUser, shown: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """The whole analysis, its judges by number. A frozen leaderboard's page says nothing of single judges, nor does this."""
    about = {"code": fit.code, "kind": fit.kind, "protocol": fit.protocol, "read_at": fit.read_at.isoformat()}
    labels = judge_labels(fit.run, curator=fit.run.is_curated_by(user))
    document = {
        **_analysis(fit, labels, drawings_open=may_see_drawings(fit.run, user)),
        "run": fit.run.code,
        "suite": fit.run.suite,
        "demo": fit.run.is_demo,
        "simulated_judges": fit.result.get("run", {}).get("simulated", 0),
        **{mark: fit.result.get("run", {}).get(mark, 0) for mark in ("kept_out", "imported", "unconfirmed")},
        "import_reasons": fit.result.get("run", {}).get("import_reasons", []),
        "effort": fit.result.get("run", {}).get("effort", {}),
        "fit": about,
    }
    if not shown.get("publication"):
        return document
    title = {"title": shown["publication"].title, "frozen_at": shown["publication"].at.isoformat()}
    return _without_judges(document) | title


@require_GET
@ranking_page
@conditional
def entrant(request: HttpRequest, run: Run, entrant: str) -> HttpResponse:
    shown = get_object_or_404(run.entrants.select_related("model"), code=entrant)
    name, entry = next(((name, e) for name, e in protocols_of(run).items() if e.entrant_page), ("", None))
    judged = is_closed_to(request.user, run, name)
    fit = Fit.objects.newest(run, name) if entry and not judged else None
    context = load(entry.entrant_page)(fit, shown) if entry and fit else {}
    context |= {"run": run, "fit": fit, "entrant": shown, "scores": scores_of(run, shown, user=request.user)}
    context |= {"awaited": entry.rests_on if entry else "", "judged": judged}
    context["drawings_open"] = may_see_drawings(run, request.user)
    if not context["drawings_open"]:
        context |= {"best": [], "worst": []}
    elif not context.get("best"):
        context["drawings"] = drawings_of(run, shown)
    describe_entrants(run, [shown], fit=fit or open_fit(request, run))
    context["about"] = shown.about  # type: ignore[attr-defined]
    shelf = [one["sample"] for one in context.get("best", [])] or context.get("drawings", [])
    context |= {"pictured": next(iter(shelf), None), "shared_words": entrant_words(context)}
    return show_page(request, "ranking/entrant.html", context, page_json.entrant)


def entrant_words(context: Mapping[str, Any]) -> str:
    """What a link to the page says of the entrant."""
    if not (standing := context.get("standing")):
        return ""
    votes = counted(standing["votes"], "vote")
    return f"Rated {standing['rating']:,.0f}, rank {context['ranks']} of {len(context['fit'].result['overall'])}, from {votes}."


def open_fit(request: HttpRequest, run: Run) -> Fit | None:
    """The newest fit of the first protocol that the visitor may see."""
    fits = Fit.objects.newest_of([run])
    names = (name for name in protocols_of(run) if not is_closed_to(request.user, run, name))
    return next((fit for name in names if (fit := fits.get((run.pk, name)))), None)


def drawings_of(run: Run, entrant: Entrant) -> list[Sample]:
    """The first valid drawings of an entrant, for a page without a better order."""
    drawn = run.samples.judgeable().filter(entrant=entrant).order_by("attempt", "prompt__position")
    return list(drawn.select_related("prompt", "run", "entrant").defer("run__config", *HEAVY)[:SHOWN])


@require_GET
@ranking_page
def drawing(request: HttpRequest, run: Run, sample: str) -> HttpResponse:
    """A drawing on a page that names who drew it: not before judging is over, and never one withheld from judges."""
    if not may_see_drawings(run, request.user):
        raise Http404
    drawn = get_object_or_404(
        Sample.objects.judgeable().select_related("run").defer("run__config"), run=run, code=sample
    )
    return picture_response(drawn)


@curator_required
@require_POST
def count(request: UserRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.curated_by(request.user), code=code)
    form = CountingForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the ways of counting.")
        return redirect("ranking:leaderboard", run.code)
    try:
        set_counting(run=run, by=request.user, **form.cleaned_data)
    except RunError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Saved. The leaderboard will update in a few seconds.")
    return redirect("ranking:leaderboard", run.code)


@curator_required
@require_POST
def publish(request: UserRequest, code: str) -> HttpResponse:
    """Freeze the leaderboard that the curator looked at, by its code."""
    run = get_object_or_404(Run.objects.curated_by(request.user), code=code)
    fit = Fit.objects.filter(run=run, code=request.POST.get("fit", "")).first()
    form = PublishForm(request.POST)
    if fit is None:
        messages.error(
            request, "New votes have replaced that leaderboard. This is the newest: check it, then publish it."
        )
        return redirect("ranking:leaderboard", code)
    if not form.is_valid():
        messages.error(request, "A frozen leaderboard needs a title.")
        return redirect("ranking:leaderboard", code)
    return redirect("ranking:publication", publish_fit(fit=fit, by=request.user, **form.cleaned_data).code)


def _analysis(fit: Fit, labels: dict[str, str], *, drawings_open: bool) -> dict[str, Any]:
    """What a fit found, as its downloads have it; no single drawing is named before drawings are open."""
    document = with_labels({key: value for key, value in fit.result.items() if key != "run"}, labels)
    if (models := document.get("model_judges")) and not drawings_open:
        document["model_judges"] = models | {"judges": [judge | {"worst": []} for judge in models["judges"]]}
    return document


def _without_judges(document: dict[str, Any]) -> dict[str, Any]:
    """The same document, with nothing that tells one judge from another."""
    kept = {key: value for key, value in document.items() if key != "judges"}
    hidden = {"settings": "weights", "agreement": "cohen", "robustness": "leave_one_judge_out"}
    for part, single in hidden.items():
        if part in kept:
            kept[part] = {key: value for key, value in kept[part].items() if key != single}
    return kept
