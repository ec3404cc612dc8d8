"""A participant's steps, one page at a time. The server knows which is next; a page does not."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation.models import Run
from generation.suites.studies.study import Study as Content
from judging.models import Participation, Study
from judging.pairs.serving import screen_of
from judging.studies import walking
from judging.studies.entering import (
    is_overdue,
    time_out,
)
from judging.studies.languages import note_language, spoken, step_title, study_page
from judging.studies.practice.views import practice_page, take_practice
from judging.studies.steps import CHECK, CONSENT, JUDGE, PRACTICE, questions_of, steps_of
from judging.studies.views.browsers import own_participation, problem_page, study_of
from judging.studies.views.ends import end_page
from judging.studies.views.forms import ConsentForm, QuestionsForm
from judging.studies.writing import content_for, content_of, newest_version


def end_if_overdue(participation: Participation) -> None:
    content = content_of(participation.version)
    if is_overdue(participation, content):
        time_out(participation, content)
        participation.refresh_from_db()


def go_on(request: HttpRequest, study: Study, participation: Participation) -> HttpResponse:
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
    end_if_overdue(participation)
    here = walking.settle(participation)
    if here is None:
        return end_page(request, study, content, participation.outcome, participation=participation)
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
    return study_page(request, "studies/step.html", content, step_context(study, content, here, form=form) | more)


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
        return take_practice(request, study, participation) or go_on(request, study, participation)
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
    return go_on(request, study, participation)
