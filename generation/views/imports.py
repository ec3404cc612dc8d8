"""Curators' uploads of drawings and of prompt programs."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.file_errors import BadLines, FileError
from benchsite.lib.files import kept
from benchsite.lib.text import visible
from generation.files.import_programs import Imported, import_programs
from generation.files.import_samples import import_file as import_drawings
from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.program_files import read_programs
from generation.suites.yaml_source import SuiteError
from generation.views.forms import ImportForm, ProgramsForm


@curator_required
@require_http_methods(["GET", "POST"])
def import_file(request: UserRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.curated_by(request.user), code=code)
    form = ImportForm(request.POST or None, request.FILES or None)
    problems: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            with kept(form.cleaned_data["file"]) as path:
                done = import_drawings(path, run=run, by=request.user)
        except BadLines as refused:
            problems = [str(line) for line in refused.bad]
        except (FileError, RunError) as error:
            problems = [str(error)]
        else:
            joined = f" New in this run: {', '.join(done.joined)}." if done.joined else ""
            messages.success(request, f"{done.added} imported, {done.same} were there already.{joined}")
            return redirect("generation:run", code)
    return render(request, "generation/import.html", {"run": run, "form": form, "problems": problems})


@curator_required
@require_http_methods(["GET", "POST"])
def import_program_file(request: UserRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.curated_by(request.user), code=code)
    form = ProgramsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            with kept(file) as path:
                _, programs = read_programs(path, check=False)
            done = import_programs(run, programs, by=request.user)
        except (SuiteError, RunError) as error:
            if isinstance(error, SuiteError):
                error.file = file.name  # without the folder that it was in for a moment
            form.add_error("file", visible(f"Nothing was imported. {error}"))
        else:
            _tell(request, done)
            entrants = reverse("admin:generation_entrant_changelist")
            return redirect(f"{entrants}?run__id__exact={run.pk}")
    return render(request, "generation/import_programs.html", {"run": run, "form": form})


def _tell(request: HttpRequest, done: Imported) -> None:
    if done.waiting:
        messages.success(request, f"{len(done.waiting)} to be approved here: {', '.join(done.waiting)}.")
    for name, why in done.refused.items():
        messages.warning(request, f"Does not qualify: {name}. {why}")
    if done.same:
        messages.info(request, f"In the run already: {', '.join(done.same)}.")
