"""A curator's form for what pages say about a model."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from benchsite.lib.access import UserRequest, curator_required, within_teams
from benchsite.lib.reasons import LONGEST_REASON
from generation.models import LanguageModel
from generation.runs.descriptions import LONGEST_LABEL, LONGEST_NOTE, describe_model
from generation.runs.errors import RunError


class DescriptionForm(forms.Form):
    """A model's label and note."""

    label = forms.CharField(max_length=LONGEST_LABEL, help_text="The name on leaderboards and exports.")
    note = forms.CharField(
        required=False,
        max_length=LONGEST_NOTE,
        help_text="Shown beside the name: a proxy, parameters, or how drawings that were imported were made.",
    )
    reason = forms.CharField(label="Why", max_length=LONGEST_REASON, help_text="Kept in the log, with the old words.")


@curator_required
@require_http_methods(["GET", "POST"])
def describe(request: UserRequest, code: str) -> HttpResponse:
    models = LanguageModel.objects.select_related("run").filter(within_teams(request.user, "run"), run__code=code)
    model = get_object_or_404(models, model_id=request.GET.get("model", ""))
    form = DescriptionForm(request.POST or None, initial={"label": model.label, "note": model.note})
    if request.method == "POST" and form.is_valid():
        try:
            changed = describe_model(model, by=request.user, **form.cleaned_data)
        except RunError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{form.cleaned_data['label']}: {'saved' if changed else 'nothing changed'}.")
            return redirect("generation:run", code)
    return render(request, "generation/describe.html", {"run": model.run, "model": model, "form": form})
