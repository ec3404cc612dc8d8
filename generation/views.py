"""Curators' pages for suites, runs and samples: fetch, call the verb, show."""

from __future__ import annotations

import os
from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchsite.access import curator_required
from benchsite.uploads import kept
from generation import runs as verbs
from generation.checking import check_suite, free_providers
from generation.codes import new_code
from generation.config import BrokenSuite, Suite, SuiteError, load_profiles, load_suites
from generation.dumps import sample_lines
from generation.forms import CancelForm, ExtendForm, ImportForm, ProgramsForm, SampleFilter, StartForm
from generation.importing import ImportRefused, import_samples
from generation.models import Run, Sample
from generation.pictures import picture_response
from generation.program_files import read_programs
from generation.program_imports import Imported, import_programs
from generation.progress import run_progress
from generation.reasons import reason_of
from generation.suite_costs import cost_bound_nano
from generation.text import visible

NEWEST = 12
PAGE = 48
EVENTS = 12


def _run(code: str) -> Run:
    return get_object_or_404(Run, code=code)


def _suite(slug: str) -> Suite:
    found = [suite for suite in load_suites(settings.SUITES_DIR) if suite.slug == slug]
    if not found or isinstance(found[0], BrokenSuite):
        raise Http404
    return found[0]


@curator_required
@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    loaded = load_suites(settings.SUITES_DIR)
    # SQLite groups by every column that is read, once a sample; a whole suite must not be one of them.
    counted = Run.objects.defer("config").annotate(
        total=Count("samples"), drawn=Count("samples", filter=Q(samples__state=Sample.State.DRAWN))
    )
    context = {
        "runs": counted,
        "suites": [suite for suite in loaded if isinstance(suite, Suite)],
        "broken": [suite for suite in loaded if isinstance(suite, BrokenSuite)],
    }
    return render(request, "generation/runs.html", context)


@curator_required
@require_http_methods(["GET", "POST"])
def start(request: HttpRequest, slug: str) -> HttpResponse:
    suite = _suite(slug)
    form = StartForm(suite, request.POST or None, initial={"key": new_code()})
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        chosen = {name: wanted[name] for name in ("label", "models", "attempts", "budget", "key")}
        try:
            return redirect("generation:run", verbs.start_run(suite, **chosen, by=request.user).code)
        except verbs.RunError as error:
            form.add_error(None, str(error))
    profiles = load_profiles(settings.SUITES_DIR / "providers.yaml")
    wanted_keys = {profiles[model.provider or suite.generation.provider].key_env for model in suite.models}
    missing = sorted(name for name in wanted_keys if name and not os.environ.get(name))
    context = {
        "suite": suite,
        "form": form,
        "bound": cost_bound_nano(suite, free=free_providers(profiles)),
        "unpriced": [model.label for model in suite.models if None in (model.price_in, model.price_out)],
        "missing_keys": missing,
    }
    return render(request, "generation/start.html", context)


@curator_required
@require_POST
def check(request: HttpRequest, slug: str) -> HttpResponse:
    """Asks the suite's providers; costs nothing."""
    suite = _suite(slug)
    found = check_suite(suite, profiles=load_profiles(settings.SUITES_DIR / "providers.yaml"))
    return render(request, "generation/check.html", {"suite": suite, "check": found})


def _progress_context(run: Run) -> dict[str, object]:
    newest = run.samples.filter(state=Sample.State.DRAWN).select_related("prompt", "entrant", "run")
    return {"run": run, "progress": run_progress(run), "newest": newest.order_by("-drawn_at")[:NEWEST]}


def _unended(run: Run) -> bool:
    return run.samples.filter(state__in=[Sample.State.PENDING, Sample.State.ASKING]).exists()


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


@curator_required
@require_GET
def run(request: HttpRequest, code: str) -> HttpResponse:
    found = _run(code)
    events = found.events.select_related("actor")[:EVENTS]
    can_cancel = found.drawing_state != Run.Drawing.CANCELLED and _unended(found)
    context = {**_progress_context(found), "verbs": _offered(found), "can_cancel": can_cancel, "events": events}
    return render(request, "generation/run.html", context)


@curator_required
@require_GET
def progress(request: HttpRequest, code: str) -> HttpResponse:
    return render(request, "generation/_progress.html", _progress_context(_run(code)))


VERBS: dict[str, tuple[Callable[..., object], str]] = {
    "pause": (verbs.pause_run, "Paused. Calls in flight are finished and kept."),
    "resume": (verbs.resume_run, "Drawing again."),
    "retry": (verbs.retry_failed, "What had failed waits to be asked again."),
}


@curator_required
@require_POST
def act(request: HttpRequest, code: str, verb: str) -> HttpResponse:
    if verb not in VERBS:
        raise Http404
    action, said = VERBS[verb]
    try:
        changed = action(_run(code), by=request.user, reason=reason_of(request))
    except verbs.RunError as error:
        messages.error(request, str(error))
    else:
        if changed:
            messages.success(request, said)
        else:
            messages.info(request, "Nothing had to be changed.")
    return redirect("generation:run", code)


@curator_required
@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, code: str) -> HttpResponse:
    """Says what is lost, and asks why, before it draws nothing more for good."""
    found = _run(code)
    form = CancelForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            changed = verbs.cancel_run(found, by=request.user, reason=form.cleaned_data["reason"])
        except verbs.RunError as error:
            form.add_error(None, str(error))
        else:
            messages.info(request, "Cancelled. What is drawn stays." if changed else "Nothing had to be changed.")
            return redirect("generation:run", code)
    counts = {state: Count("pk", filter=Q(state=state)) for state in ("pending", "asking", "drawn")}
    return render(request, "generation/cancel.html", {"run": found, "form": form, **found.samples.aggregate(**counts)})


@curator_required
@require_http_methods(["GET", "POST"])
def extend(request: HttpRequest, code: str) -> HttpResponse:
    found = _run(code)
    try:
        candidates = verbs.joinable_models(found)
    except verbs.RunError as error:
        messages.error(request, str(error))
        return redirect("generation:run", code)
    form = ExtendForm(candidates, request.POST or None)
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        try:
            added = verbs.extend_run(
                found,
                models=[model for model in candidates if model.id in wanted["models"]],
                attempts=wanted["attempts"],
                budget=form.budget_wanted(),
                by=request.user,
                reason=wanted["reason"],
            )
        except verbs.RunError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{added} samples were added." if added else "The run is as you asked.")
            return redirect("generation:run", code)
    return render(request, "generation/extend.html", {"run": found, "form": form})


@curator_required
@require_http_methods(["GET", "POST"])
def import_file(request: HttpRequest, code: str) -> HttpResponse:
    found = _run(code)
    form = ImportForm(request.POST or None, request.FILES or None)
    problems: list[str] = []
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            done = import_samples(file, run=found, source=file.name, by=request.user)
        except ImportRefused as refused:
            problems = [str(line) for line in refused.bad]
        except verbs.RunError as error:
            problems = [str(error)]
        else:
            messages.success(request, f"{done.added} imported, {done.same} were there already.")
            return redirect("generation:run", code)
    return render(request, "generation/import.html", {"run": found, "form": form, "problems": problems})


@curator_required
@require_http_methods(["GET", "POST"])
def import_program_file(request: HttpRequest, code: str) -> HttpResponse:
    found = _run(code)
    form = ProgramsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            with kept(file) as path:
                _, programs = read_programs(path, check=False)
            done = import_programs(found, programs, by=request.user)
        except (SuiteError, verbs.RunError) as error:
            if isinstance(error, SuiteError):
                error.file = file.name  # without the folder that it was in for a moment
            form.add_error("file", visible(f"Nothing was imported. {error}"))
        else:
            _tell(request, done)
            entrants = reverse("admin:generation_entrant_changelist")
            return redirect(f"{entrants}?run__id__exact={found.pk}")
    return render(request, "generation/import_programs.html", {"run": found, "form": form})


def _tell(request: HttpRequest, done: Imported) -> None:
    if done.waiting:
        messages.success(request, f"{len(done.waiting)} to be approved here: {', '.join(done.waiting)}.")
    for name, why in done.refused.items():
        messages.warning(request, f"Does not qualify: {name}. {why}")
    if done.same:
        messages.info(request, f"In the run already: {', '.join(done.same)}.")


@curator_required
@require_GET
def samples(request: HttpRequest, code: str) -> HttpResponse:
    found = _run(code)
    form = SampleFilter(found, request.GET)
    page = Paginator(form.samples(), PAGE).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    context = {"run": found, "form": form, "page": page, "query": query.urlencode()}
    return render(request, "generation/samples.html", context)


@curator_required
@require_GET
def download_samples(request: HttpRequest, code: str) -> StreamingHttpResponse:
    found = _run(code)
    response = StreamingHttpResponse(sample_lines(found), content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="{found.suite}-{found.code}-database.jsonl"'
    return response


def _sample(code: str) -> Sample:
    return get_object_or_404(Sample.objects.select_related("run", "model", "prompt", "entrant"), code=code)


@curator_required
@require_GET
def sample(request: HttpRequest, code: str) -> HttpResponse:
    found = _sample(code)
    context = {
        "sample": found,
        "answer": visible(found.answer, newlines=True),
        "calls": found.calls.all(),
        "measurements": found.measurements.all(),
    }
    return render(request, "generation/sample.html", context)


@curator_required
@require_GET
def picture(request: HttpRequest, code: str) -> HttpResponse:
    return picture_response(_sample(code), variant=request.GET.get("variant", ""))
