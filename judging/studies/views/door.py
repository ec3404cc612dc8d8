"""The door of a study: who comes by its link, and may begin."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchsite.addresses import client_address
from benchsite.lib.languages.choosing import OFFERED
from generation.codes import new_code
from generation.suites.studies.study import Study as Content
from judging.models import Study
from judging.studies import walking
from judging.studies.arena.proof import BITS, is_proved
from judging.studies.entering import (
    EntryError,
    Visitor,
    check_entry,
    enter_study,
    present,
    read_visitor,
)
from judging.studies.languages import note_language, spoken, study_page
from judging.studies.views.browsers import BACKEND, own_participation, problem_page, study_of
from judging.studies.views.ends import WAS_THERE, end_page
from judging.studies.views.forms import NameForm
from judging.studies.views.steps import end_if_overdue, go_on
from judging.studies.writing import content_for, content_of, newest_version
from judging.views.judges import PARTICIPATION, STUDY


def _signer(study: Study) -> signing.Signer:
    """Of the key in a study's entry form; another study's form is a forged one."""
    return signing.Signer(salt=f"study-entry-{study.code}")


@never_cache
@require_http_methods(["GET", "POST"])
def door(request: HttpRequest, code: str) -> HttpResponse:
    """The welcome. A link's own id wins over whoever used this browser before."""
    study = study_of(code)
    content = spoken(request, content_of(newest_version(study)))
    try:
        visitor = read_visitor(content, request.GET)
        mine = own_participation(request, study)
        if mine and visitor.external_id in ("", mine.external_id):
            return redirect("judging:study_step", code)
        if known := present(study, visitor):
            content = spoken(request, content_for(known))
        else:
            check_entry(study, content, visitor, address=client_address(request))
        if request.method == "POST":
            return _let_in(request, study, content, visitor)
    except EntryError as error:
        return _turned_away(request, study, content, error)
    context = {
        "study": study,
        "known": known,
        "other": mine is not None,
        "account": "" if mine or not request.user.is_authenticated else request.user.get_username(),
        "visitor": visitor,
        "form": NameForm() if content.ask_name and not known else None,
        "entry": _signer(study).sign(new_code()),
        "bits": BITS if study.arena else 0,
    }
    return study_page(request, "studies/entry.html", content, context)


def _turned_away(request: HttpRequest, study: Study, content: Content, error: EntryError) -> HttpResponse:
    if error.outcome:
        return end_page(request, study, content, error.outcome, status=error.status)
    return problem_page(request, study, error.title, error.sentence, status=error.status)


def _let_in(request: HttpRequest, study: Study, content: Content, visitor: Visitor) -> HttpResponse:
    try:
        entry = _signer(study).unsign(request.POST.get("entry", ""))
    except signing.BadSignature:
        sentence = _("Open the study’s link again; nothing was stored.")
        raise EntryError(_("This page is out of date"), sentence, status=400) from None
    if study.arena and not is_proved(request.POST["entry"], request.POST.get("proof", "")):
        sentence = _("This page needs JavaScript: turn it on, and open the page again. Nothing was stored.")
        raise EntryError(_("Your browser did not answer"), sentence)
    form = NameForm(request.POST)
    name = form.cleaned_data["name"] if form.is_valid() else ""
    participation = enter_study(study=study, visitor=visitor, code=entry, name=name, address=client_address(request))
    end_if_overdue(participation)
    if request.user.is_authenticated and request.user != participation.guest:
        logout(request)
    if participation.guest and participation.guest.is_active:  # not of who was erased
        login(request, participation.guest, backend=BACKEND)
    request.session[PARTICIPATION], request.session[STUDY] = participation.code, study.code
    request.session[WAS_THERE] = walking.is_running(participation)
    request.session[OFFERED] = list(content.languages)
    note_language(request, content, participation)
    return go_on(request, study, participation)
