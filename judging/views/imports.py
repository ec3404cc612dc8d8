"""Curators' uploads: votes into a run, or as a run of their own; and answers of model judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.files import kept
from benchsite.lib.text import visible
from benchsite.templatetags.wording import thousands
from generation.models import Run
from generation.runs.errors import RunError
from judging.files.import_votes import import_votes
from judging.files.vote_files import Mapped
from judging.model_judges.importing import import_model_votes
from judging.model_judges.importing_grades import import_model_grades
from judging.model_judges.kinds import Kind
from judging.views.forms import ModelAnswersForm, VotesForm, VotesRunForm


@dataclass(frozen=True)
class Answers:
    """What a file of model judges' answers needs on each line, who reads it, and what `export` calls it."""

    needed: str
    read: Callable[..., int]
    export: str


ANSWERS = {
    "judging:import_model_votes": Answers(
        "judge, model, prompt_text, left_model, right_model and answer", import_model_votes, "model_votes"
    ),
    "judging:import_model_grades": Answers(
        "judge, model, entrant, stage, subject, attempt, grades and reasons", import_model_grades, "model_grades"
    ),
}


@curator_required
@require_http_methods(["GET", "POST"])
def import_vote_file(request: UserRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.curated_by(request.user), code=code)
    return _import(request, VotesForm(request.POST or None, request.FILES or None), run)


@curator_required
@require_http_methods(["GET", "POST"])
def import_run_of_votes(request: UserRequest) -> HttpResponse:
    return _import(request, VotesRunForm(request.POST or None, request.FILES or None), None)


def _import(request: UserRequest, form: VotesForm, run: Run | None) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        fields = form.cleaned_data
        try:
            mapped = Mapped.parse(fields["columns"].split("\n"), fields["outcomes"].split("\n"))
            with kept(fields["file"]) as path:
                into, count = import_votes(
                    path=path,
                    run=run,
                    title=fields.get("title", ""),
                    reason=fields["reason"],
                    mapped=mapped,
                    by=request.user,
                    notice=partial(messages.info, request),
                )
        except (ValueError, RunError) as refused:
            form.add_error("file", visible(f"Nothing was imported. {refused}"))
        else:
            votes = f"{thousands(count)} vote{'' if count == 1 else 's'}"
            messages.success(request, f"{votes} imported. The leaderboard will update in a few seconds.")
            return redirect("judging:overview", into.code)
    return render(request, "judging/import_votes.html", {"run": run, "form": form})


@curator_required
@require_http_methods(["GET", "POST"])
def import_model_file(request: UserRequest, code: str, kind: Kind) -> HttpResponse:
    run = get_object_or_404(Run.objects.of_drawings().curated_by(request.user), code=code)
    if not kind.is_asked_in(run):
        raise Http404
    form = ModelAnswersForm(request.POST or None, request.FILES or None, needed=ANSWERS[kind.import_page].needed)
    if request.method == "POST" and form.is_valid():
        try:
            with kept(form.cleaned_data["file"]) as path:
                count = ANSWERS[kind.import_page].read(run, path, reason=form.cleaned_data["reason"], by=request.user)
        except (ValueError, RunError) as refused:
            form.add_error("file", visible(f"Nothing was imported. {refused}"))
        else:
            answers = f"{thousands(count)} answer{'' if count == 1 else 's'}"
            messages.success(request, f"{answers} of model judges imported. Their figures will come in a few seconds.")
            return redirect(kind.page, run.code)
    context = {"run": run, "form": form, "kind": kind, "export": ANSWERS[kind.import_page].export}
    return render(request, "judging/import_model_votes.html", context)
