"""A curator's page about checks: how often they come, what they look like, and who failed them."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from benchsite.lib.access import UserRequest, curator_required, within_teams
from benchsite.lib.files import attachment
from benchsite.lib.reasons import reason_of
from generation.models import Run
from generation.pictures import picture_response
from generation.runs.errors import RunError
from generation.suites.studies.gold import ON_FAILURE, Gold
from judging.gold.answering import failed_checks
from judging.gold.pool import choose_gold, make_gold, retire_gold, rule_for, set_gold
from judging.gold.records import write_codebook, write_gold
from judging.gold.verdicts import HONEST_ERROR, MOST_ODDS, least_failures
from judging.models import GoldPair, Seat

MORE = 12
EXAMPLES = (3, 5, 10)  # checks answered, for the sentence about who fails


class RuleForm(forms.Form):
    every = forms.IntegerField(
        label="One attention check in every",
        min_value=2,
        max_value=1000,
        initial=5,
        help_text="pairs, at a random place",
    )
    on_failure = forms.ChoiceField(
        label="When a judge fails", choices=[(key, words.capitalize()) for key, words in ON_FAILURE.items()]
    )
    allowed = forms.IntegerField(
        label="Wrong answers allowed",
        min_value=0,
        max_value=1000,
        required=False,
        help_text="Leave it empty to decide by likelihood.",
    )
    feedback = forms.BooleanField(label="Tell the judge after each attention check", required=False)


class ChoiceForm(forms.Form):
    better = forms.SlugField(label="Code of the better drawing", max_length=40)
    worse = forms.SlugField(label="Code of the worse drawing", max_length=40)


@dataclass(frozen=True)
class Row:
    """One judge who has answered checks."""

    seat: Seat
    failed: bool

    @property
    def unclear(self) -> int:
        return self.seat.gold_answered - self.seat.gold_passed - self.seat.gold_failed


def _run(request: UserRequest, code: str) -> Run:
    return get_object_or_404(Run.objects.curated_by(request.user).defer("config"), code=code)


@curator_required
@never_cache
@require_GET
def checks(request: UserRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    rule = rule_for(run)
    standing = Q(answers__withdrawn_at=None)
    pool = run.gold_pairs.filter(retired_at=None).select_related("better__run", "worse__run", "prompt")
    heavy = ("raw", "answer", "earlier_answers", "facts", "run__config")
    pool = pool.defer(*(f"{side}__{name}" for side in ("better", "worse") for name in heavy))
    pool = pool.annotate(
        shown=Count("answers", filter=standing),
        right=Count("answers", filter=standing & Q(answers__choice="better")),
    )
    seats = run.seats.filter(gold_answered__gt=0).select_related("judge").defer("plan")
    rows = [Row(seat, failed_checks(seat)) for seat in seats.order_by("-gold_failed", "-gold_answered", "id")]
    context = {
        "run": run,
        "rule": rule,
        "pool": pool,
        "rows": rows,
        "more": MORE,
        "failed": sum(row.failed for row in rows),
        "examples": [(n, least_failures(rule or Gold(), n)) for n in EXAMPLES],
        "honest_error": HONEST_ERROR,
        "most_odds": MOST_ODDS,
        "form": RuleForm(initial=vars(rule) if rule else None),
        "choice": ChoiceForm(),
        "as_text": run.drawing_format.shown_as == "text",
    }
    return render(request, "judging/checks.html", context)


@curator_required
@require_POST
def set_rule(request: UserRequest, code: str) -> HttpResponse:
    run, form = _run(request, code), RuleForm(request.POST)
    if "none" not in request.POST and not form.is_valid():
        messages.error(request, "Nothing changed: one check in every 2 to 1,000 pairs, please.")
        return redirect("judging:checks", code)
    rule = None if "none" in request.POST else Gold(**form.cleaned_data)
    try:
        set_gold(run=run, rule=rule, by=request.user, reason=reason_of(request))
    except RunError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Judges who join from now on get " + ("these checks." if rule else "no checks."))
    return redirect("judging:checks", code)


@curator_required
@require_POST
def make(request: UserRequest, code: str) -> HttpResponse:
    made = make_gold(run=_run(request, code), count=MORE, by=request.user)
    if made:
        messages.success(request, f"{made} check{'' if made == 1 else 's'} made. Look at each before judges do.")
    else:
        messages.error(
            request,
            "No check could be made: this format’s drawings cannot be damaged, or these are too few or too small. "
            "Choose two drawings below.",
        )
    return redirect("judging:checks", code)


@curator_required
@require_POST
def choose(request: UserRequest, code: str) -> HttpResponse:
    run, form = _run(request, code), ChoiceForm(request.POST)
    try:
        if not form.is_valid():
            raise RunError("Write the codes of two drawings: they stand at the end of a drawing’s address.")
        choose_gold(run=run, by=request.user, reason=reason_of(request), **form.cleaned_data)
    except RunError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "These two drawings are a check now.")
    return redirect("judging:checks", code)


@curator_required
@require_POST
def retire(request: UserRequest, code: str, gold: str) -> HttpResponse:
    pair = get_object_or_404(
        GoldPair.objects.filter(within_teams(request.user, "run")).select_related("run"), run__code=code, code=gold
    )
    if retire_gold(gold=pair, by=request.user, reason=reason_of(request)):
        messages.success(request, "Judges do not get this check any more.")
    return redirect("judging:checks", code)


@curator_required
@require_GET
def picture(request: UserRequest, code: str, gold: str) -> HttpResponse:
    """The damaged copy."""
    rows = (
        GoldPair.objects.filter(within_teams(request.user, "run"))
        .select_related("worse__run")
        .defer("worse__raw", "worse__answer", "worse__run__config")
    )
    pair = get_object_or_404(rows, run__code=code, code=gold)
    pair.worse.drawing = pair.damaged or pair.worse.drawing
    return picture_response(pair.worse)


@curator_required
@never_cache
@require_GET
def download(request: UserRequest, code: str, file: str) -> HttpResponse:
    run, text = _run(request, code), StringIO()
    if file == "codebook.csv":
        write_codebook(text)
    else:
        write_gold(run, text, as_csv=file.endswith("csv"))
    kind = "text/csv" if file.endswith("csv") else "application/x-ndjson"
    response = HttpResponse(text.getvalue(), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = attachment(f"{run.code}-{file}")
    return response
