"""Pages of a participant: the door, one step at a time, and the end. The server knows which step is next; a page does not."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib.auth import login, logout
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchsite.addresses import client_address
from benchsite.lib.languages.choosing import OFFERED, language_links
from generation.codes import new_code
from generation.models import Run
from generation.suites.studies.study import Study as Content
from judging.gold.placing import shown_done, shown_total
from judging.models import Participation, Study
from judging.pairs.serving import screen_of
from judging.studies import walking
from judging.studies.arena.proof import BITS, is_proved
from judging.studies.entering import (
    EntryError,
    Visitor,
    check_entry,
    enter_study,
    is_overdue,
    present,
    read_visitor,
    time_out,
)
from judging.studies.forms import ConsentForm, NameForm, QuestionsForm
from judging.studies.languages import note_language, spoken, step_title
from judging.studies.practice.views import practice_page, take_practice
from judging.studies.steps import CHECK, CONSENT, JUDGE, PRACTICE, questions_of, steps_of
from judging.studies.writing import content_for, content_of, newest_version
from judging.views.judges import PARTICIPATION, STUDY

WAS_THERE = "was_there"  # in the session: it came in before the participation ended
BACKEND = "django.contrib.auth.backends.ModelBackend"


def _signer(study: Study) -> signing.Signer:
    """Of the key in a study's entry form; another study's form is a forged one."""
    return signing.Signer(salt=f"study-entry-{study.code}")


def study_of(code: str) -> Study:
    return get_object_or_404(Study.objects.select_related("run").defer("run__config"), code=code)


def own_participation(request: HttpRequest, study: Study) -> Participation | None:
    """Who this browser is in this study, by its session."""
    code = request.session.get(PARTICIPATION)
    if not code:
        return None
    rows = study.participations.select_related("version", "seat", "guest").defer("seat__plan")
    return rows.filter(code=code).first()


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
        "content": content,
        "known": known,
        "other": mine is not None,
        "account": "" if mine or not request.user.is_authenticated else request.user.get_username(),
        "visitor": visitor,
        "form": NameForm() if content.ask_name and not known else None,
        "entry": _signer(study).sign(new_code()),
        "bits": BITS if study.arena else 0,
        "languages": language_links(request, content.languages),
    }
    return render(request, "studies/entry.html", context)


def _turned_away(request: HttpRequest, study: Study, content: Content, error: EntryError) -> HttpResponse:
    if error.outcome:
        return _end_page(request, study, content, error.outcome, status=error.status)
    return problem_page(request, study, error.title, error.sentence, status=error.status)


def problem_page(request: HttpRequest, study: Study, title: str, sentence: str, *, status: int = 200) -> HttpResponse:
    context = {"study": study, "title": title, "sentence": sentence}
    return render(request, "studies/problem.html", context, status=status)


def _let_in(request: HttpRequest, study: Study, content: Content, visitor: Visitor) -> HttpResponse:
    try:
        entry = _signer(study).unsign(request.POST.get("entry", ""))
    except signing.BadSignature:
        sentence = _("Open the study's link again; nothing was stored.")
        raise EntryError(_("This page is out of date"), sentence, status=400) from None
    if study.arena and not is_proved(request.POST["entry"], request.POST.get("proof", "")):
        sentence = _("This page needs JavaScript: turn it on, and open the page again. Nothing was stored.")
        raise EntryError(_("Your browser did not answer"), sentence)
    form = NameForm(request.POST)
    name = form.cleaned_data["name"] if form.is_valid() else ""
    participation = enter_study(study=study, visitor=visitor, code=entry, name=name, address=client_address(request))
    _end_if_overdue(participation)
    if request.user.is_authenticated and request.user != participation.guest:
        logout(request)
    if participation.guest and participation.guest.is_active:  # not of who was erased
        login(request, participation.guest, backend=BACKEND)
    request.session[PARTICIPATION], request.session[STUDY] = participation.code, study.code
    request.session[WAS_THERE] = walking.is_running(participation)
    request.session[OFFERED] = list(content.languages)
    note_language(request, content, participation)
    return _go_on(request, study, participation)


def _end_if_overdue(participation: Participation) -> None:
    content = content_of(participation.version)
    if is_overdue(participation, content):
        time_out(participation, content)
        participation.refresh_from_db()


def _go_on(request: HttpRequest, study: Study, participation: Participation) -> HttpResponse:
    """After a form: straight to the pairs where they are next, else to the next step's page."""
    if walking.settle(participation) == JUDGE:
        screen = walking.begin_judging(participation)
        if screen and screen.current:
            return redirect("judging:judge", study.run.code)
        if screen:
            _end_without_pairs(participation)
    return redirect("judging:study_step", study.code)


def _end_without_pairs(participation: Participation) -> None:
    """Nothing is left to show: done if the quota is reached, which `settle` says."""
    participation.refresh_from_db()
    if not walking.has_judged(participation):
        walking.end_participation(participation, Participation.Outcome.NO_WORK_LEFT)


@never_cache
@require_http_methods(["GET", "POST"])
def step(request: HttpRequest, code: str) -> HttpResponse:
    """The participant's present step, or the end."""
    study = study_of(code)
    participation = own_participation(request, study)
    if participation is None:
        spoken(request, content_of(newest_version(study)))
        sentence = _(
            "It may have deleted its cookies, or you came here in another one. Open the link that you were given again: "
            "it leads back to where you were."
        )
        return problem_page(request, study, _("We do not know this browser"), sentence, status=403)
    content = spoken(request, content_for(participation))
    note_language(request, content, participation)
    _end_if_overdue(participation)
    here = walking.settle(participation)
    if here is None:
        return _end_page(request, study, content, participation.outcome, participation=participation)
    if request.method == "POST":
        return _answer(request, study, participation, content, here)
    walking.note_step(participation, here)
    if here == JUDGE:
        return _judge(request, study, participation, content)
    if here == PRACTICE:
        return practice_page(request, study, participation, step_context(study, content, here))
    return _step_page(request, study, content, here, form=_form(content, here, participation))


def _judge(request: HttpRequest, study: Study, participation: Participation, content: Content) -> HttpResponse:
    seat = participation.seat
    if study.run.judging_state != Run.Judging.OPEN:
        if study.run.judging_state == Run.Judging.PAUSED:
            sentence = _("What you did is saved. Please come back later.")
            return problem_page(request, study, _("This study is paused"), sentence)
        return problem_page(request, study, _("This study has ended"), _("What you did is saved. Thank you."))
    if seat and screen_of(seat).current:
        return redirect("judging:judge", study.run.code)
    return _step_page(request, study, content, JUDGE)


def _step_page(
    request: HttpRequest, study: Study, content: Content, here: str, *, form: Any = None, **more: Any
) -> HttpResponse:
    more["languages"] = language_links(request, content.languages)
    return render(request, "studies/step.html", step_context(study, content, here, form=form) | more)


def step_context(study: Study, content: Content, here: str, *, form: Any = None) -> dict[str, Any]:
    """What the page of a step shows; the same to a curator who previews it."""
    steps = steps_of(content)
    form = form or _form(content, here, None)
    return {
        "study": study,
        "content": content,
        "step": here,
        "title": step_title(here),
        "number": steps.index(here) + 1,
        "bars": [number <= steps.index(here) for number in range(len(steps))],
        "total": len(steps),
        "form": form,
        "asked": form.asked if isinstance(form, QuestionsForm) else "",
    }


def _form(
    content: Content, here: str, participation: Participation | None, *data: Any
) -> ConsentForm | QuestionsForm | None:
    """What a step asks this participant now; all of its questions in a preview."""
    if here == CONSENT and content.consent:
        return ConsentForm(content.consent, *data)
    questions = questions_of(content, here)
    if participation:
        questions = walking.questions_to_ask(participation, content, here)
    return QuestionsForm(questions, *data) if questions else None


def _answer(
    request: HttpRequest, study: Study, participation: Participation, content: Content, here: str
) -> HttpResponse:
    """Take what a form says about the present step; one of another step, from a stale tab, changes nothing."""
    if request.POST.get("step") != here:
        return redirect("judging:study_step", study.code)
    if here == PRACTICE:
        return take_practice(request, study, participation) or _go_on(request, study, participation)
    refuses = here == CONSENT and "refuse" in request.POST
    form = None if refuses else _form(content, here, participation, request.POST)
    if isinstance(form, QuestionsForm) and request.POST.get("asked", form.asked) != form.asked:
        return redirect("judging:study_step", study.code)
    if form is not None and not form.is_valid():
        return _step_page(request, study, content, here, form=form)
    try:
        if refuses:
            walking.refuse_consent(participation)
        elif here == CONSENT:
            walking.give_consent(participation)
        elif here == JUDGE:
            pass
        elif form is None:
            walking.read_on(participation, here)
        else:
            left = walking.answer_questions(participation, here, cast(QuestionsForm, form).answers())
            if here == CHECK and left:
                return _step_page(request, study, content, here, form=form, tries_left=left)
    except walking.StaleStepError:
        return redirect("judging:study_step", study.code)
    return _go_on(request, study, participation)


def can_claim(participation: Participation | None) -> bool:
    """A guest of a shared link or of the arena, who is nobody's account yet. A platform's ids stay the platform's."""
    if participation is None or participation.external_id or participation.erased_at or not settings.LOCAL_PASSWORDS:
        return False
    return participation.guest is not None and not participation.guest.has_usable_password()


def _end_page(
    request: HttpRequest,
    study: Study,
    content: Content,
    outcome: str,
    *,
    participation: Participation | None = None,
    status: int = 200,
) -> HttpResponse:
    context = end_context(study, content, outcome, own_code=participation.completion_code if participation else None)
    # The key to a person's data is not for whoever opens the link of their id afterwards.
    context["participation"] = participation if request.session.get(WAS_THERE) else None
    context["may_claim"] = can_claim(context["participation"])
    if context["participation"] and (seat := context["participation"].seat):
        context |= {"pairs_done": shown_done(seat), "pairs_total": shown_total(seat)}
    return render(request, "studies/end.html", context, status=status)


def end_context(study: Study, content: Content, outcome: str, *, own_code: str | None = None) -> dict[str, Any]:
    """The end of a study: its text, the code to give, and the way back to the platform."""
    ending = content.ending(outcome)
    code = ending.code or (own_code or "")
    platform = content.platform
    back = platform.return_url.replace("{code}", code) if platform and platform.return_url and code else ""
    return {
        "study": study,
        "content": content,
        "ending": ending,
        "outcome": outcome,
        "code": code,
        "back": back,
    }
