"""The curators' page about pairs picked for people: who differs, how many, what share of the schedule, and how far it is."""

from __future__ import annotations

from typing import cast

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.reasons import reason_of
from generation.models import Run
from generation.runs.errors import RunError
from judging.model_judges.names import judge_names
from judging.model_judges.pairs import PAIRS
from judging.models import PickedPair
from judging.pairs.picked.queue import (
    LEAST_SHARE,
    MOST_PAIRS,
    MOST_PEOPLE,
    MOST_SHARE,
    end_picked_pairs,
    lines_of,
    pick_pairs,
)
from judging.rules import rules_of
from ranking.pairwise.model_judges.picking import pairs_to_pick, picked_figures
from ranking.pairwise.model_judges.sentences import picked_sentence


class PickForm(forms.Form):
    judge = forms.ChoiceField(label="Model judge")
    why = forms.ChoiceField(label="Pairs", choices=PickedPair.Why.choices)
    pairs = forms.IntegerField(label="How many pairs", min_value=1, max_value=MOST_PAIRS, initial=30)
    wanted = forms.IntegerField(label="People for each pair", min_value=1, max_value=MOST_PEOPLE, initial=3)
    share = forms.IntegerField(
        label="Share of the schedule (%)",
        min_value=round(100 * LEAST_SHARE),
        max_value=round(100 * MOST_SHARE),
        initial=10,
        help_text="So many of each judge’s pairs are picked ones, at places that no judge can tell.",
    )

    def __init__(self, *arguments: object, judges: set[str], **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        cast(forms.ChoiceField, self.fields["judge"]).choices = [(name, name) for name in sorted(judges)]


@curator_required
@never_cache
@require_http_methods(["GET", "POST"])
def picked_pairs(request: UserRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    form = PickForm(request.POST or None, judges=judge_names(run, PAIRS))
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            pairs = pairs_to_pick(run, given["judge"], given["why"], most=given["pairs"])
            added = pick_pairs(
                run,
                pairs,
                why=given["why"],
                judge=given["judge"],
                share=given["share"] / 100,
                wanted=given["wanted"],
                by=request.user,
                reason=reason_of(request),
            )
        except RunError as refused:
            form.add_error(None, str(refused))
        else:
            if added:
                messages.success(request, f"{added} pair{'' if added == 1 else 's'} stand in line for people.")
            else:
                messages.info(request, "There is no such pair that is not in line already.")
            return redirect("ranking:picked_pairs", run.code)
    figures = [(each, picked_sentence(each)) for each in picked_figures(run)]
    context = {"run": run, "form": form, "lines": lines_of(run), "figures": figures}
    context["revealed"] = rules_of(run.code).judging.reveal == "after_vote"
    return render(request, "ranking/picked_pairs.html", context)


@curator_required
@require_POST
def end_picked(request: UserRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    try:
        ended = end_picked_pairs(run, by=request.user, reason=reason_of(request))
    except RunError as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"{ended} pair{'' if ended == 1 else 's'} taken back. Answers so far stay.")
    return redirect("ranking:picked_pairs", run.code)


def _run(request: UserRequest, code: str) -> Run:
    run = get_object_or_404(Run.objects.of_drawings().curated_by(request.user), code=code)
    if not PAIRS.is_asked_in(run):
        raise Http404
    return run
