"""A curator's pages about studies: write, check, preview, open, and see who came."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required, within_teams
from benchsite.lib.files import attachment
from benchsite.lib.languages.choosing import language_links
from benchsite.lib.reasons import reason_of
from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.studies.faults import StudyFaultsError
from generation.suites.studies.study import OUTCOMES
from judging.models import Participation, Study
from judging.studies.figures import participants, study_figures
from judging.studies.languages import spoken
from judging.studies.practice.views import preview_context
from judging.studies.privacy import erase_participant
from judging.studies.records import (
    write_approvals,
    write_bonuses,
    write_codebook,
    write_participants,
    write_payments,
    write_screened_out,
)
from judging.studies.steps import PRACTICE, TITLES, steps_of
from judging.studies.views.ends import end_context
from judging.studies.views.forms import NameForm, ReturnForm, SourceForm
from judging.studies.views.steps import step_context
from judging.studies.walking import return_participants
from judging.studies.writing import (
    STATES,
    content_of,
    newest_version,
    set_study_state,
    study_faults,
    suggested_source,
    write_study,
)


def _run(request: UserRequest, code: str) -> Run:
    return get_object_or_404(Run.objects.curated_by(request.user).defer("config"), code=code)


def _study(request: UserRequest, code: str, study: str) -> Study:
    studies = Study.objects.filter(within_teams(request.user, "run"))
    return get_object_or_404(studies.select_related("run").defer("run__config"), run__code=code, code=study)


@curator_required
@never_cache
@require_GET
def studies(request: UserRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    rows = [(study, study_figures(study)) for study in run.studies.all()]
    return render(request, "studies/studies.html", {"run": run, "rows": rows})


@curator_required
@never_cache
@require_http_methods(["GET", "POST"])
def write(request: UserRequest, code: str, study: str = "") -> HttpResponse:
    """A new study, or a new version of one. Every fault is named at once, and what was written stays in the form."""
    run = _run(request, code)
    old = _study(request, code, study) if study else None
    source = newest_version(old).source if old else suggested_source(run)
    form = SourceForm(request.POST if request.method == "POST" else None, initial={"source": source})
    faults: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            written = write_study(run=run, source=form.cleaned_data["source"], by=request.user, study=old)
        except StudyFaultsError as error:
            faults = [str(fault) for fault in error.faults]
        except RunError as error:
            faults = [str(error)]
        else:
            messages.success(
                request, "Saved. Participants who have already started keep the version they started with."
            )
            return redirect("judging:study", code, written.code)
    context = {"run": run, "study": old, "form": form, "faults": faults}
    return render(request, "studies/write.html", context)


@curator_required
@never_cache
@require_GET
def overview(request: UserRequest, code: str, study: str) -> HttpResponse:
    shown = _study(request, code, study)
    version = newest_version(shown)
    content = content_of(version)
    link = request.build_absolute_uri(reverse("judging:study_door", args=[shown.code]))
    context = {
        **study_figures(shown),
        "run": shown.run,
        "study": shown,
        "version": version,
        "faults": study_faults(shown),
        "untranslated": content.missing_texts(),
        "link": link + _query(content),
        "participants": participants(shown),
        "returns": ReturnForm(),
    }
    return render(request, "studies/study.html", context)


def _query(content: Any) -> str:
    """The platform's own placeholders, as its form for a study's address wants them."""
    platform = content.platform
    if platform is None:
        return ""
    mark = "{{%" + "{}" + "%}}"
    return "?" + "&".join(f"{name}={mark.replace('{}', name)}" for name in (platform.id, *platform.others))


@curator_required
@require_POST
def set_state(request: UserRequest, code: str, study: str, verb: str) -> HttpResponse:
    if verb not in STATES:
        raise Http404
    changed = _study(request, code, study)
    try:
        set_study_state(study=changed, verb=verb, by=request.user, reason=reason_of(request))
    except RunError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The study is {changed.get_state_display()}.")
    return redirect("judging:study", code, study)


@curator_required
@never_cache
@require_GET
def preview(request: UserRequest, code: str, study: str, place: str) -> HttpResponse:
    """A page as participants meet it: the first page, a step or an end. Nothing is stored."""
    shown = _study(request, code, study)
    content = spoken(request, content_of(newest_version(shown)))
    places = ["entry", *steps_of(content), *(name for name in OUTCOMES if content.reaches(name))]
    if place not in places:
        raise Http404
    context: dict[str, Any] = {"study": shown, "content": content, "preview": True, "run": shown.run}
    context["places"] = [(name, TITLES.get(name) or OUTCOMES.get(name) or "Welcome") for name in places]
    context["place"] = place
    context["languages"] = language_links(request, content.languages)
    context["following"] = next(iter(places[places.index(place) + 1 :]), "")
    if place in OUTCOMES:
        template = "studies/end.html"
        context |= end_context(shown, content, place, own_code="EXAMPLE" if place == "done" else None)
    elif place == "entry":
        template = "studies/entry.html"
        context["form"] = NameForm() if content.ask_name else None
    elif place == PRACTICE:
        template = "studies/practice.html"
        context |= step_context(shown, content, place) | preview_context(shown, content)
    else:
        template = "studies/step.html"
        context |= step_context(shown, content, place)
    return render(request, template, context)


@curator_required
@never_cache
@require_GET
def download(request: UserRequest, code: str, study: str, file: str) -> HttpResponse:
    """The participants, the codebook, or the list for the platform."""
    shown = _study(request, code, study)
    name, _, ending = file.partition(".")
    text = StringIO()
    WRITERS[name](shown, text, ending)
    kind = "text/csv" if ending == "csv" else "application/x-ndjson"
    response = HttpResponse(text.getvalue(), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = attachment(f"{shown.code}-{file}")
    return response


WRITERS: dict[str, Callable[[Study, StringIO, str], None]] = {
    "participants": lambda study, out, ending: write_participants(study, out, as_csv=ending == "csv"),
    "codebook": lambda study, out, _: write_codebook(study, out),
    "payments": lambda study, out, _: write_payments(study, out),
    "approve": lambda study, out, _: write_approvals(study, out),
    "bonus": lambda study, out, _: write_bonuses(study, out),
    "screen_out": lambda study, out, _: write_screened_out(study, out),
}


@curator_required
@require_POST
def erase(request: UserRequest, code: str, study: str, participant: str) -> HttpResponse:
    person = get_object_or_404(
        Participation.objects.filter(within_teams(request.user, "study__run"))
        .select_related("study__run", "seat")
        .defer("study__run__config", "seat__plan"),
        study__run__code=code,
        study__code=study,
        code=participant,
    )
    erase_participant(participation=person, by=request.user, reason=reason_of(request))
    messages.success(request, "Erased. The votes stay, under the pseudonym alone.")
    return redirect("judging:study", code, study)


@curator_required
@require_POST
def mark_returned(request: UserRequest, code: str, study: str) -> HttpResponse:
    shown = _study(request, code, study)
    form = ReturnForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing changed: paste at least one participant id.")
        return redirect("judging:study", code, study)
    ended, others = return_participants(
        study=shown, ids=form.cleaned_data["ids"], by=request.user, reason=reason_of(request)
    )
    messages.success(request, f"{ended} place{'' if ended == 1 else 's'} freed.")
    if others:
        listed = ", ".join(others[:10]) + (" …" if len(others) > 10 else "")
        messages.warning(request, f"Unknown, or ended before: {listed}.")
    return redirect("judging:study", code, study)
