"""The practice step: one pair at a time, and after each which drawing is the better one and why."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from generation.models import Sample
from generation.pictures import picture_response
from generation.suites.studies.study import Study as Content
from judging.models import Participation, Study
from judging.pairs.pages import ONE_FONT, Shown, Side, fonts_of, scale_of
from judging.rules import rules_of
from judging.studies import walking
from judging.studies.languages import study_page
from judging.studies.practice.pairs import PracticePair, choice_on, own_pair, practice_pair
from judging.studies.steps import PRACTICE
from judging.views.judges import PARTICIPATION

OUTCOMES = ("left", "tie", "right", "fail")


def answered(participation: Participation) -> int:
    """How many pairs are answered; where somebody is follows from this alone."""
    return walking.note_step(participation, PRACTICE).tries


def practice_page(
    request: HttpRequest, study: Study, participation: Participation, context: dict[str, Any]
) -> HttpResponse:
    """The next pair, or what was right about the last one; a reload shows the same. Without a pair the step is passed."""
    done, total = answered(participation), context["content"].practice.pairs
    asked = request.GET.get("pair", "")
    if asked and (asked != str(done + 1) or done >= total):
        return redirect("judging:study_step", study.code)
    number = done if done and not asked else 1 + done
    pair = own_pair(study.run, participation, number)
    if pair is None:
        return _skip(study, participation)
    context |= practice_context(study, context["content"], pair, number)
    if number == done:
        key = f"practice_{number}"
        row = participation.answers.filter(question=key, replaced_at=None).first()
        context |= {"choice": row.value if row else "", "next_pair": number + 1 if number < total else None}
    return study_page(request, "studies/practice.html", context["content"], context)


def _skip(study: Study, participation: Participation) -> HttpResponse:
    with suppress(walking.StaleStepError):
        walking.skip_practice(participation)
    return redirect("judging:study_step", study.code)


def preview_context(study: Study, content: Content) -> dict[str, Any]:
    """The first pair, as a curator previews it; nothing is stored."""
    pair = practice_pair(study.run, study.code, 1)
    if pair is None:
        raise Http404
    return practice_context(study, content, pair, 1)


def practice_context(study: Study, content: Content, pair: PracticePair, number: int) -> dict[str, Any]:
    return {
        "pair": _shown(study, pair),
        "practice": pair,
        "place_in_practice": number,
        "practice_pairs": content.practice.pairs if content.practice else 0,
    }


def _shown(study: Study, pair: PracticePair) -> Shown:
    as_text, rules, fonts = study.run.drawing_format.shown_as == "text", rules_of(study.run.code), fonts_of(study.run)
    columns, rows = scale_of(pair.left, pair.right) if as_text else (4, 2)
    sides = [Side(side, pair.drawing(side) if as_text else None) for side in ("left", "right")]
    faces = rules.judging.faces if fonts else "one"
    prompt = rules.prompt_text(pair.prompt)
    return Shown("", prompt, "", (sides[0], sides[1]), columns, rows, fonts or ONE_FONT, faces=faces)


def take_practice(request: HttpRequest, study: Study, participation: Participation) -> HttpResponse | None:
    """Take an answer to the next pair; None where the step is passed. What a stale tab sends changes nothing."""
    number, outcome = request.POST.get("number", ""), request.POST.get("outcome", "")
    try:
        if "finish" in request.POST:
            walking.finish_practice(participation)
            return None
        if number == str(answered(participation) + 1) and outcome in OUTCOMES:
            pair = own_pair(study.run, participation, int(number))
            if pair is not None:
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
    pair = None
    if mine is not None and number in mine.practice:
        pair = own_pair(study.run, mine, int(number))
    elif study.run.is_curated_by(request.user):
        pair = practice_pair(study.run, study.code, int(number))
    if pair is None:
        raise Http404
    return picture_response(Sample(run=study.run, drawing=pair.drawing(side)))
