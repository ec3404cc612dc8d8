"""Curators' pages for suites, runs and samples: fetch, call the verb, show."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, F, Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required, within_teams
from benchsite.lib.files import attachment
from benchsite.lib.reasons import reason_of
from benchsite.lib.text import visible
from generation.files.export_samples import sample_lines
from generation.models import Run, Sample, Team
from generation.pictures import picture_response
from generation.reading.backends import ask_backend
from generation.runs import lifecycle as verbs
from generation.runs.extending import extend_run, joinable_models
from generation.runs.loaded import drawings_in
from generation.suites.loading import BrokenSuite, load_suites
from generation.suites.suite import ModelEntry, Suite
from generation.suites.uploads import read_more_models
from generation.suites.yaml_source import SuiteError
from generation.views.forms import BackendForm, CancelForm, ExtendForm, SampleFilter
from generation.views.progress import run_progress

NEWEST = 12
PAGE = 48
EVENTS = 12


def _run(request: HttpRequest, code: str) -> Run:
    return get_object_or_404(Run.objects.curated_by(request.user), code=code)


@curator_required
@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    loaded = load_suites(settings.SUITES_DIR)
    # SQLite groups by every column that is read, once a sample; a whole suite must not be one of them.
    counted = (
        Run.objects.of_drawings()
        .curated_by(request.user)
        .defer("config")
        .annotate(
            total=Count("samples"),
            drawn=Count("samples", filter=Q(samples__state=Sample.State.DRAWN)),
            failed=Count("samples", filter=Q(samples__state=Sample.State.FAILED)),
            held=Count("samples", filter=Q(samples__held=True)),
            team_name=F("team__name"),
        )
    )
    counted = counted.order_by("-created_at", "-pk")  # a count leaves the table's own order out
    context = {
        "runs": counted,
        "with_teams": any(run.team_id for run in counted),
        "suites": [suite for suite in loaded if isinstance(suite, Suite)],
        "broken": [suite for suite in loaded if isinstance(suite, BrokenSuite)],
    }
    return render(request, "generation/runs.html", context)


def _progress_context(run: Run) -> dict[str, object]:
    newest = run.samples.filter(state=Sample.State.DRAWN).select_related("prompt", "entrant", "run")
    return {"run": run, "progress": run_progress(run), "newest": newest.order_by("-drawn_at")[:NEWEST]}


def _unended(run: Run) -> bool:
    return run.setting_up or run.samples.unended().exists()


def _offered(run: Run) -> list[tuple[str, str, str]]:
    """The verbs a run can take now, as (verb, label, button class); cancelling has a page of its own."""
    offered = []
    if run.drawing_state == Run.Drawing.OPEN and _unended(run):
        offered.append(("pause", "Pause", ""))
    if run.drawing_state == Run.Drawing.PAUSED:
        offered.append(("resume", "Resume", "primary"))
    if run.samples.filter(state=Sample.State.FAILED).exists():
        offered.append(("retry", "Retry what failed", ""))
    return offered


def _can_switch(run: Run) -> bool:
    """Whether a formula scores the run, and could go by another backend."""
    return run.is_measured and len(run.drawing_format.measure_backends) > 1


@curator_required
@require_GET
def run(request: HttpRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    events = run.events.select_related("actor")[:EVENTS]
    can_cancel = run.drawing_state != Run.Drawing.CANCELLED and _unended(run)
    context = {
        **_progress_context(run),
        "verbs": _offered(run),
        "can_cancel": can_cancel,
        "can_switch": _can_switch(run),
        "events": events,
        "has_teams": Team.objects.exists(),
    }
    return render(request, "generation/run.html", context)


@curator_required
@require_GET
def progress(request: HttpRequest, code: str) -> HttpResponse:
    return render(request, "generation/_progress.html", _progress_context(_run(request, code)))


VERBS: dict[str, tuple[Callable[..., object], str]] = {
    "pause": (verbs.pause_run, "Paused. Calls in flight will finish and count."),
    "resume": (verbs.resume_run, "Resumed."),
    "retry": (verbs.retry_failed, "What failed will be retried."),
}


@curator_required
@require_POST
def act(request: UserRequest, code: str, verb: str) -> HttpResponse:
    if verb not in VERBS:
        raise Http404
    action, message = VERBS[verb]
    try:
        changed = action(_run(request, code), by=request.user, reason=reason_of(request))
    except verbs.RunError as error:
        messages.error(request, str(error))
    else:
        if changed:
            messages.success(request, message)
        else:
            messages.info(request, "Nothing changed.")
    return redirect("generation:run", code)


@curator_required
@require_http_methods(["GET", "POST"])
def cancel(request: UserRequest, code: str) -> HttpResponse:
    """Says what is lost, and asks why, before it draws nothing more for good."""
    run = _run(request, code)
    form = CancelForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            changed = verbs.cancel_run(run, by=request.user, reason=form.cleaned_data["reason"])
        except verbs.RunError as error:
            form.add_error(None, str(error))
        else:
            messages.info(request, "Cancelled. Existing drawings are kept." if changed else "Nothing changed.")
            return redirect("generation:run", code)
    counts = {state: Count("pk", filter=Q(state=state)) for state in ("pending", "asking", "drawn")}
    return render(request, "generation/cancel.html", {"run": run, "form": form, **run.samples.aggregate(**counts)})


@curator_required
@require_http_methods(["GET", "POST"])
def measure(request: UserRequest, code: str) -> HttpResponse:
    """Another backend for the run's score; a worker measures, and the page of the run tells how far it is."""
    run = _run(request, code)
    if not _can_switch(run):
        raise Http404
    form = BackendForm(run, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            ask_backend(run, form.cleaned_data["backend"], by=request.user, reason=form.cleaned_data["reason"])
        except verbs.RunError as error:
            form.add_error(None, str(error))
        else:
            return redirect("generation:run", code)
    return render(request, "generation/measure.html", {"run": run, "form": form})


@curator_required
@require_http_methods(["GET", "POST"])
def extend(request: UserRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    try:
        candidates = joinable_models(run)
    except verbs.RunError as error:
        messages.error(request, str(error))
        return redirect("generation:run", code)
    is_judge = run.judged_run_id is not None
    form = ExtendForm(
        candidates, request.POST or None, request.FILES or None, uploaded=run.uploaded, model_judge=is_judge
    )
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        try:
            sent = _models_sent(run, form)
            added = extend_run(
                run,
                models=[model for model in candidates if model.id in wanted.get("models", ())] + sent,
                uploaded=bool(sent),
                attempts=wanted.get("attempts"),
                budget=form.budget_wanted(),
                by=request.user,
                reason=wanted["reason"],
                wait=False,
            )
        except SuiteError as error:
            form.add_error("file", visible(f"Nothing was added. {error}"))
        except verbs.RunError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{added} samples were added." if added else "The run is updated.")
            return redirect("generation:run", code)
    return render(request, "generation/extend.html", {"run": run, "form": form})


def _models_sent(run: Run, form: ExtendForm) -> list[ModelEntry]:
    file = form.cleaned_data.get("file")
    return list(read_more_models(file, most_tokens=run.config["generation"]["max_tokens"])) if file else []


@curator_required
@require_GET
def samples(request: HttpRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    form = SampleFilter(run, request.GET)
    # Put in order by their keys alone: with their answers, all of a large run's would be sorted for one page.
    page = Paginator(form.samples().values_list("pk", flat=True), PAGE).get_page(request.GET.get("page"))
    shown = Sample.objects.select_related("model", "prompt", "entrant", "run").defer("raw", "answer", "run__config")
    by_key = shown.in_bulk(list(page))
    query = request.GET.copy()
    query.pop("page", None)
    context = {"run": run, "form": form, "page": page, "samples": [by_key[pk] for pk in page if pk in by_key]}
    return render(request, "generation/samples.html", context | {"query": query.urlencode()})


@curator_required
@require_GET
def download_samples(request: HttpRequest, code: str) -> HttpResponseBase:
    run = _run(request, code)
    response = StreamingHttpResponse(sample_lines(run), content_type="application/x-ndjson")
    response["Content-Disposition"] = attachment(f"{run.suite}-{run.code}-database.jsonl")
    return response


def _sample(request: HttpRequest, code: str) -> Sample:
    samples = Sample.objects.filter(within_teams(request.user, "run"))
    return get_object_or_404(samples.select_related("run", "model", "prompt", "entrant"), code=code)


@curator_required
@require_GET
def sample(request: HttpRequest, code: str) -> HttpResponse:
    sample = _sample(request, code)
    context = {
        "sample": sample,
        "answer": visible(sample.answer, newlines=True),
        "calls": sample.calls.all(),
        "measurements": sample.measurements.all(),
        "shown": _shown_to_judge(sample),
    }
    return render(request, "generation/sample.html", context)


def _shown_to_judge(sample: Sample) -> list[Sample]:
    """The drawings that a model judge's question is about, in the order in which it saw them."""
    asked = drawings_in(sample.prompt.facts) if sample.run.judged_run_id else []
    drawings = Sample.objects.select_related("run", "prompt", "entrant").in_bulk(asked)
    return [drawings[pk] for pk in asked if pk in drawings]


@curator_required
@require_GET
def picture(request: HttpRequest, code: str) -> HttpResponse:
    return picture_response(_sample(request, code), variant=request.GET.get("variant", ""))
