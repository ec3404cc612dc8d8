"""The practice step: one pair at a time, and after each which drawing is the better one and why."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from generation.models import Sample
from generation.pictures import picture_response
from generation.suites.studies.study import Study as Content
from judging.models import Participation, Study
from judging.pairs.pages import Shown, Side, fonts_of, scale_of
from judging.studies import walking
from judging.studies.practice.pairs import PracticePair, choice_on, practice_pair
from judging.studies.steps import PRACTICE
from judging.views.judges import PARTICIPATION

OUTCOMES = ("left", "tie", "right", "fail")


def answered(participation: Participation) -> int:
    """How many pairs are answered; where somebody is follows from this alone."""
    return walking.note_step(participation, PRACTICE).tries


def practice_page(
    request: HttpRequest, study: Study, participation: Participation, context: dict[str, Any]
) -> HttpResponse:
    """The next pair, or what was right about the last one; a reload shows the same."""
    done, total = answered(participation), context["content"].practice.pairs
    asked = request.GET.get("pair", "")
    if asked and (asked != str(done + 1) or done >= total):
        return redirect("judging:study_step", study.code)
    number = done if done and not asked else 1 + done
    context |= practice_context(study, context["content"], participation.code, number)
    if number == done:
        key = f"practice_{number}"
        row = participation.answers.filter(question=key, replaced_at=None).first()
        context |= {"choice": row.value if row else "", "next_pair": number + 1 if number < total else None}
    return render(request, "studies/practice.html", context)


def practice_context(study: Study, content: Content, key: str, number: int) -> dict[str, Any]:
    pair = practice_pair(study.run, key, number)
    if pair is None or content.practice is None:
        raise Http404
    return {
        "pair": _shown(study, pair),
        "practice": pair,
        "place_in_practice": number,
        "practice_pairs": content.practice.pairs,
    }


def _shown(study: Study, pair: PracticePair) -> Shown:
    as_text = study.run.drawing_format.shown_as == "text"
    columns, rows = scale_of(pair.left, pair.right) if as_text else (4, 2)
    sides = [Side(side, pair.drawing(side) if as_text else None) for side in ("left", "right")]
    fonts = fonts_of(study.run)[1:2] or ((2, ""),)
    return Shown("", pair.prompt, "", (sides[0], sides[1]), columns, rows, fonts, faces="one")


def take_practice(request: HttpRequest, study: Study, participation: Participation) -> HttpResponse | None:
    """Take an answer to the next pair; None where the step is passed. What a stale tab sends changes nothing."""
    number, outcome = request.POST.get("number", ""), request.POST.get("outcome", "")
    try:
        if "finish" in request.POST:
            walking.finish_practice(participation)
            return None
        pair = (
            practice_pair(study.run, participation.code, int(number))
            if number.isdecimal() and len(number) < 3
            else None
        )
        if pair is not None and outcome in OUTCOMES:
            walking.answer_practice(participation, number=int(number), choice=choice_on(pair, outcome))
    except walking.StaleStepError:
        pass
    return redirect("judging:study_step", study.code)


@never_cache
@require_GET
def practice_picture(request: HttpRequest, code: str, number: str, side: str) -> HttpResponse:
    """One side of the participant's own pair, or of a curator's preview."""
    study = get_object_or_404(Study.objects.select_related("run").defer("run__config"), code=code)
    mine = study.participations.filter(code=request.session.get(PARTICIPATION, "")).first()
    if mine is not None and int(number) <= answered(mine) + 1:
        key = mine.code
    elif request.user.is_authenticated and request.user.is_staff:
        key = study.code
    else:
        raise Http404
    pair = practice_pair(study.run, key, int(number))
    if pair is None:
        raise Http404
    return picture_response(Sample(run=study.run, drawing=pair.drawing(side)))
