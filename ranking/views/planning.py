"""The planner: before a study, or in its middle, how much its votes will be able to say."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean, median
from typing import Any

from django import forms
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from benchsite.lib.access import UserRequest, curator_required, within_teams
from generation.models import Run
from generation.protocols import protocols_of
from generation.suites.costs import sample_count
from generation.suites.suite import Suite
from judging.models import Study as StoredStudy
from judging.pairs.epochs import eligible_table
from judging.rules import rules_of
from judging.studies.writing import content_of, newest_version
from ranking.models import Fit
from ranking.simulated.dry_runs import MOST_SEATS, Crowd, DryRun, dry_run
from ranking.statistics.ratings.bradley_terry import ELO
from ranking.statistics.verdicts.planner import Study, plan_study

MOST_ENTRANTS = 100
JUDGES, VOTES, SECONDS = 10, 100, 10
PARTICIPANTS = 50
ENOUGH = 500  # votes from which a fit's own estimates are better guesses than ours


def whole(label: str, least: int, most: int, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=least, max_value=most, **options)


def number(label: str, least: float, most: float, **options: Any) -> forms.FloatField:
    field = forms.FloatField(label=label, min_value=least, max_value=most, **options)
    field.widget.attrs["step"] = "any"
    return field


class PlanForm(forms.Form):
    """What is planned, and what is assumed of judges and prompts."""

    entrants = whole("Models or programs", 2, MOST_ENTRANTS)
    prompts = whole("Prompts", 1, 10_000)
    judges = whole("Judges", 1, 10_000)
    votes = whole("Votes by each judge", 1, 100_000)
    spread = number(
        "Spread in points",
        1,
        3000,
        help_text="From best to weakest; with 120 points more, a model wins two votes in three.",
    )
    seconds = number("Seconds for a vote", 0.5, 600)
    judge_sd = number("How far judges differ (points)", 0, 1000)
    prompt_sd = number("How far prompts differ (points)", 0, 1000)
    undecided = number("Both good or both bad (%)", 0, 90)
    attempts = whole("", 1, 1000, widget=forms.HiddenInput)
    answer_nano = number("", 0, 1e15, required=False, widget=forms.HiddenInput)

    ASSUMED = ("judge_sd", "prompt_sd", "undecided")

    def planned(self) -> list[forms.BoundField]:
        return [field for field in self.visible_fields() if field.name not in self.ASSUMED]

    def assumed(self) -> list[forms.BoundField]:
        return [self[name] for name in self.ASSUMED]


def outlook(values: dict[str, Any]) -> dict[str, Any]:
    """What the study can say, and what twice as much of one thing would change."""
    names = ("entrants", "judges", "prompts", "spread", "judge_sd", "prompt_sd")
    study = Study(
        **{name: values[name] for name in names}, votes_each=values["votes"], undecided=values["undecided"] / 100
    )
    others = {
        "as planned": study,
        "twice the votes by each judge": replace(study, votes_each=2 * study.votes_each),
        "twice the judges": replace(study, judges=2 * study.judges),
        "twice the prompts": replace(study, prompts=2 * study.prompts),
    }
    answers = study.entrants * study.prompts * values["attempts"]
    return {
        "study": study,
        "rows": [(words, plan_study(other), other.votes * values["seconds"]) for words, other in others.items()],
        "each_seconds": study.votes_each * values["seconds"],
        "answers": answers,
        "answer_nano": values["answer_nano"],
        "cost": None if values["answer_nano"] is None else answers * values["answer_nano"],
        "pairs": math.comb(study.entrants, 2) * study.prompts * values["attempts"] ** 2,
    }


@curator_required
@require_GET
def plan(request: HttpRequest) -> HttpResponse:
    """The same panel on a page of its own: where a form without script leads, and what the script asks for."""
    context = planned(request.GET.dict())
    return render(request, "ranking/_outlook.html" if "part" in request.GET else "ranking/plan.html", context)


def plan_panel(scored: Run | Suite, *, bound_nano: int | None = None) -> SafeString:
    """The planner, filled in with what a suite or a run makes likely; `bound_nano` is the most that drawing it can cost."""
    known = usual_of_run(scored) if isinstance(scored, Run) else usual_of_suite(scored, bound_nano)
    return render_to_string("ranking/_plan.html", planned(known))


def planned(known: dict[str, Any]) -> dict[str, Any]:
    form = PlanForm({**usual(), **known}, auto_id="plan_%s")
    return {"planner": form, "outlook": outlook(form.cleaned_data) if form.is_valid() else None}


def usual() -> dict[str, Any]:
    guess = Study(entrants=6, judges=JUDGES, votes_each=VOTES, prompts=20)
    names = ("entrants", "judges", "prompts", "spread", "judge_sd", "prompt_sd")
    mine = {"votes": VOTES, "seconds": SECONDS, "undecided": round(100 * guess.undecided), "attempts": 1}
    return {name: round(getattr(guess, name)) for name in names} | mine


def usual_of_suite(suite: Suite, bound_nano: int | None) -> dict[str, Any]:
    entrants = len(suite.programs) or len(suite.models)
    answers = sample_count(suite)
    known = {
        "entrants": min(max(entrants, 2), MOST_ENTRANTS),
        "prompts": len(suite.prompts),
        "attempts": answers // max(entrants * len(suite.prompts), 1),
        "votes": votes_each(suite.judging.quota, suite.judging.target, entrants, JUDGES),
    }
    return known | ({} if bound_nano is None or not answers else {"answer_nano": bound_nano / answers})


def votes_each(quota: int | None, target: int | None, entrants: int, judges: int) -> int:
    """By the suite's quota, or so many that each pair of entrants gets its target."""
    return quota or (math.ceil(target * math.comb(entrants, 2) / judges) if target else VOTES)


def usual_of_run(run: Run) -> dict[str, Any]:
    """The run's own drawings and judges, and where enough has been judged, how they differed."""
    entrants = min(max(run.entrants.filter(disqualified="").count(), 2), MOST_ENTRANTS)
    asked, drawn = run.samples.aggregate(asked=Max("attempt"), drawn=Count("id", filter=Q(state="drawn"))).values()
    seats = [voted for voted, weight in run.seats.values_list("voted", "weight") if weight > 0]
    rules, judges = rules_of(run.code).judging, len(seats) or JUDGES
    known = {
        "entrants": entrants,
        "prompts": max(run.prompts.count(), 1),
        "judges": judges,
        "votes": max(votes_each(rules.quota, rules.target, entrants, judges), round(fmean(seats)) if seats else 0),
        "attempts": asked or 1,
    }
    cost = {"answer_nano": run.spent_nano / drawn} if drawn and run.spent_nano else {}
    return known | cost | observed(run)


def observed(run: Run) -> dict[str, Any]:
    """Spread, differences, undecided votes and pace, as the newest full fit of enough votes found them."""
    name = next((name for name, entry in protocols_of(run).items() if entry.plan), "")
    fit = Fit.objects.newest(run, name, kind=Fit.Kind.FULL)
    if fit is None or fit.votes < ENOUGH:
        return {}
    result = fit.result
    rows = [row for row in result["overall"] if row["votes"]]
    ratings = [row["rating"] for row in rows]
    paces = [judge["median_ms"] for judge in result["judges"].values() if judge["median_ms"]]
    undecided = sum(row["ties"] + row["fails"] for row in rows) / max(sum(row["votes"] for row in rows), 1)
    spread = min(max(round(max(ratings) - min(ratings)), 1), 3000)
    known = {"spread": spread, "undecided": min(round(100 * undecided), 90)}
    if paces:
        known["seconds"] = round(min(max(median(paces) / 1000, 0.5), 600), 1)
    if result["intervals"]["method"] == "two-way":
        pressed = max(1 - undecided, 0.1)  # half wins press all differences together
        known["judge_sd"] = round(ELO * result["intervals"]["judge_sd"] / pressed)
        known["prompt_sd"] = round(ELO * result["intervals"]["prompt_sd"] / pressed)
    return known


class DryRunForm(forms.Form):
    """The crowd that is expected."""

    participants = whole("Participants who finish", 1, 500)
    hasty = number("Hasty (%)", 0, 100, help_text="They look for a moment and half see what is better.")
    random = number("Random clicks (%)", 0, 100)
    dropouts = number("Drop out (%)", 0, 90, help_text="They leave somewhere among their pairs.")
    seconds = number("Seconds for a pair", 0.5, 600)
    pay = number("Pay for each who is done", 0, 10_000, required=False, help_text="In your currency, fees included.")

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if sum(fields.get(name, 0) for name in ("hasty", "random", "dropouts")) > 100:
            self.add_error("dropouts", "The three shares are more than 100% together.")
        return fields


def usual_crowd(study: StoredStudy) -> dict[str, Any]:
    """What the form begins with: the study's places, and a crowd such as platforms send."""
    content = content_of(newest_version(study))
    known = usual() | usual_of_run(study.run)
    shares = {name: round(100 * getattr(Crowd(), name)) for name in ("hasty", "random", "dropouts")}
    return shares | {"participants": min(content.places or PARTICIPANTS, 500), "seconds": known["seconds"]}


def play_study(study: StoredStudy, fields: dict[str, Any]) -> DryRun | None:
    """The same for the page and the command; None where the run has no two drawings to compare."""
    known = usual() | usual_of_run(study.run)
    table = eligible_table(study.run)
    if not table.common:
        return None
    crowd = Crowd(
        **{name: fields[name] / 100 for name in ("hasty", "random", "dropouts")},
        **{name: float(known[name]) for name in ("spread", "judge_sd", "prompt_sd")},
        undecided=known["undecided"] / 100,
        seconds=fields["seconds"],
    )
    content = content_of(newest_version(study))
    return dry_run(content, table, crowd, participants=fields["participants"], pay=fields["pay"])


@curator_required
@never_cache
@require_GET
def study_dry_run(request: UserRequest, code: str, study: str) -> HttpResponse:
    rows = StoredStudy.objects.filter(within_teams(request.user, "run")).select_related("run").defer("run__config")
    shown = get_object_or_404(rows, run__code=code, code=study)
    run: Run = shown.run
    form = DryRunForm(request.GET or usual_crowd(shown))
    play = play_study(shown, form.cleaned_data) if request.GET and form.is_valid() else None
    context = {"run": run, "study": shown, "form": form, "play": play, "asked": bool(request.GET), "most": MOST_SEATS}
    context["content"] = content_of(newest_version(shown))
    return render(request, "ranking/dry_run.html", context)
