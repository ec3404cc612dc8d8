"""A curator's page of calls whose cost nobody knows, and the form that closes them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.reasons import LONGEST_REASON
from generation.models import ProviderCall, Run
from generation.money import nano
from generation.runs.billing import calls_of_unknown_cost, close_calls
from generation.runs.errors import RunError

PAGE = 100


class CloseCallsForm(forms.Form):
    """What each of the chosen calls cost, by the provider's bill."""

    cost = forms.DecimalField(
        min_value=0,
        max_value=1000,
        max_digits=13,
        decimal_places=9,
        label="Cost of each selected call in US$",
        help_text="As the provider’s bill shows it; 0 if it is not on the bill.",
    )
    reason = forms.CharField(
        label="Why", max_length=LONGEST_REASON, help_text="What you saw on the bill. Kept in the log."
    )

    def __init__(self, calls: list[ProviderCall], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.calls = {str(call.token): call for call in calls}

    def chosen(self) -> list[ProviderCall]:
        wanted = self.data.getlist("call") if hasattr(self.data, "getlist") else []
        return [self.calls[token] for token in wanted if token in self.calls]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.chosen():
            raise forms.ValidationError("Choose at least one call.")
        return cleaned


@curator_required
@require_http_methods(["GET", "POST"])
def costs(request: UserRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.curated_by(request.user), code=code)
    page = Paginator(calls_of_unknown_cost(run), PAGE).get_page(request.GET.get("page"))
    form = CloseCallsForm(list(page), request.POST or None)
    if request.method == "POST" and form.is_valid():
        cost = nano(form.cleaned_data["cost"])
        assert cost is not None  # the form has checked it
        try:
            closed = close_calls(
                run, form.chosen(), cost_nano=cost, by=request.user, reason=form.cleaned_data["reason"]
            )
        except RunError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{closed} call{'s'[: closed != 1]} closed; the reservation is released.")
            return redirect("generation:costs" if page.paginator.count > closed else "generation:run", code)
    held = sum(calls_of_unknown_cost(run).values_list("reserved_nano", flat=True))
    return render(request, "generation/costs.html", {"run": run, "page": page, "form": form, "held": held})
