"""The curators' page about a run's model judges: what they answered and cost so far, and adding one."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required
from benchsite.templatetags.wording import dollars, thousands
from generation.models import Run, Sample
from generation.runs.errors import RunError
from generation.suites.profiles import load_profiles
from generation.suites.suite import ModelEntry
from generation.suites.yaml_source import SuiteError
from judging.model_judges.asking import MOST, Plan, add_model_judge, ask_for_more, cost_bound_nano, kind_of, times
from judging.model_judges.elsewhere import PROVIDER
from judging.model_judges.instructions import LONGEST, standard_instructions, versioned
from judging.model_judges.kinds import Kind
from judging.model_judges.names import judge_name

ASKED_FIRST = {
    "pairs": "Pairs that people judged come first; then others, drawn the same way. Each is shown in both orders.",
    "drawings": "Drawings that people graded come first; then one of each prompt and model after the other.",
}


class ModelJudgeForm(forms.Form):
    provider = forms.ChoiceField(help_text="From providers.yaml; the model must accept images.")
    model = forms.CharField(label="Model", max_length=200, help_text="Its id at the provider.")
    wanted = forms.IntegerField(min_value=1, max_value=MOST, initial=200)
    budget = forms.DecimalField(label="Budget (US$)", min_value=0, max_value=100_000, max_digits=12, decimal_places=6)
    price_in = forms.FloatField(
        label="Price in (US$ per million tokens)",
        min_value=0,
        required=False,
        help_text="Only where the provider lists no price. Without a price nothing is asked.",
    )
    price_out = forms.FloatField(label="Price out (US$ per million tokens)", min_value=0, required=False)
    own_family = forms.BooleanField(
        label="Ask about drawings of its own family too",
        required=False,
        help_text="To measure whether it favours them.",
    )
    instructions = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 9}),
        max_length=LONGEST,
        help_text="If you change them, they become a new version for this run.",
    )

    def __init__(self, *arguments: Any, kind: Kind, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.kind = kind
        self.fields["wanted"].label = kind.things.capitalize()
        self.fields["wanted"].help_text = ASKED_FIRST[kind.things]
        try:
            names = sorted(load_profiles(settings.SUITES_DIR / "providers.yaml"))
        except SuiteError:
            names = []
        cast(forms.ChoiceField, self.fields["provider"]).choices = [(name, name) for name in names]

    def plan(self, run: Run) -> Plan:
        given = self.cleaned_data
        prices = {"price_in": given["price_in"], "price_out": given["price_out"]}
        entry = ModelEntry(given["model"].strip(), given["model"].strip(), provider=given["provider"], **prices)
        words = versioned(run, given["instructions"].replace("\r\n", "\n"), self.kind)
        return Plan(entry, words, given["wanted"], given["budget"], given["own_family"], self.kind)


def _run(request: UserRequest, code: str) -> Run:
    return get_object_or_404(Run.objects.of_drawings().curated_by(request.user), code=code)


@curator_required
@require_http_methods(["GET", "POST"])
def model_judges(request: UserRequest, code: str, kind: Kind) -> HttpResponse:
    run = _run(request, code)
    if not kind.is_asked_in(run):
        raise Http404
    words = {"instructions": standard_instructions(kind).text}
    form = ModelJudgeForm(request.POST or None, initial=words, kind=kind)
    bound = None
    if request.method == "POST" and form.is_valid():
        try:
            plan = form.plan(run)
            bound = cost_bound_nano(run, plan)
            if "bound" not in request.POST:
                judge = add_model_judge(run, plan, by=request.user)
                most = f" They can cost at most {dollars(bound)}." if bound is not None else ""
                asked = judge.samples.count()
                questions = f"{thousands(asked)} question{pluralize(asked)}"
                messages.success(request, f"{plan.model.id} will be asked {questions}.{most}")
                return redirect(kind.page, run.code)
        except RunError as refused:
            form.add_error(None, str(refused))
    context = {"run": run, "form": form, "judges": _judges(run, kind), "bound": bound, "kind": kind}
    context |= {"asked_bound": "bound" in request.POST, "times": times(kind)}
    return render(request, "judging/model_judges.html", context)


def _judges(run: Run, kind: Kind) -> list[dict[str, Any]]:
    judges = []
    for judge in kind.judges(run):
        model, progress = judge.models.get(), judge.samples.progress()
        unreadable = judge.samples.filter(verdict=Sample.Verdict.INVALID).count()
        judges.append(
            {
                "run": judge,
                "name": judge_name(judge, model.model_id),
                "imported": model.provider == PROVIDER,
                "simulated": model.profile.get("kind") == "demo",
                "asked": sum(progress.values()),
                "answered": progress["drawn"],
                "failed": progress["failed"],
                "ended": progress["drawn"] + progress["failed"] == sum(progress.values()),
                "unreadable": unreadable,
            }
        )
    return judges


@curator_required
@require_POST
def ask_more(request: UserRequest, code: str, judge: str) -> HttpResponse:
    run = _run(request, code)
    chosen = get_object_or_404(run.model_judges, code=judge)
    kind, wanted, known = kind_of(chosen), request.POST.get("wanted", ""), request.POST.get("asked", "")
    if not (wanted.isascii() and wanted.isdigit() and 1 <= int(wanted[:9]) <= MOST):
        messages.error(request, f"Ask about 1 to {MOST:,} more {kind.things}.")
        return redirect(kind.page, run.code)
    try:
        added = ask_for_more(chosen, int(wanted), asked=known, by=request.user)
    except RunError as refused:
        messages.error(request, str(refused))
    else:
        things = kind.things.removesuffix("s") if added == 1 else kind.things
        messages.success(request, f"{thousands(added)} more {things} will be asked about.")
    return redirect(kind.page, run.code)
