"""Pages of a board of grades: its model judges, and grades that come in as a file."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.file_errors import FileError
from benchsite.lib.files import kept
from benchsite.lib.text import visible
from generation.models import Run
from generation.runs.errors import RunError
from judging.grades import NAME
from ranking.models import Fit
from ranking.rubric.import_grades import import_grades
from ranking.rubric.model_judges.page import model_graders_context, model_graders_document
from ranking.views.forms import GradesForm
from ranking.views.pages import fit_page, ranking_page, show_page, tabs_of


@require_GET
@ranking_page
@fit_page(NAME)
def model_graders(request: HttpRequest, fit: Fit) -> HttpResponse:
    context = tabs_of(request, fit, here="ranking:model_graders")
    context |= model_graders_context(fit, drawings_open=context["drawings_open"])
    return show_page(request, "ranking/model_graders.html", context, model_graders_document)


@curator_required
@require_http_methods(["GET", "POST"])
def import_grade_file(request: UserRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.curated_by(request.user), code=code)
    form = GradesForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            with kept(form.cleaned_data["file"]) as path:
                count = import_grades(path=path, run=run, reason=form.cleaned_data["reason"], by=request.user)
        except (FileError, RunError) as refused:
            form.add_error("file", visible(f"Nothing was imported. {refused}"))
        else:
            grades = f"{count} new grade{'' if count == 1 else 's'}"
            messages.success(request, f"{grades} imported. The leaderboard will update in a few seconds.")
            return redirect("judging:overview", code)
    return render(request, "ranking/import_grades.html", {"run": run, "form": form})
