"""A curator's page of the API's tokens: create one, see when it was last used, revoke it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required, of_colleagues
from generation.models import Run
from ranking.models import AnalystToken
from ranking.tokens import USUAL_DAYS, create_token, revoke_token

MOST_DAYS = 366


class TokenForm(forms.Form):
    """Whose token it is, and what it opens for how long."""

    label = forms.CharField(max_length=120, label="Label", help_text="Who uses it, or what for.")
    role = forms.ChoiceField(
        choices=AnalystToken.Role.choices, initial=AnalystToken.Role.READ, label="This token may", required=False
    )
    run = forms.ModelChoiceField(Run.objects.none(), to_field_name="code", required=False, empty_label="every run")
    days = forms.IntegerField(
        min_value=1,
        max_value=MOST_DAYS,
        required=False,
        label="Valid for (days)",
        help_text=f"Leave empty for no expiry; a token that may write then lasts {USUAL_DAYS} days.",
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs = cast(forms.ModelChoiceField, self.fields["run"])
        runs.queryset = Run.objects.of_drawings().curated_by(user).defer("config")
        if not user.is_superuser and user.teams.exists():
            runs.empty_label = "every run of my teams, and those without a team"

    def wanted(self) -> dict[str, Any]:
        chosen = self.cleaned_data
        role = chosen["role"] or AnalystToken.Role.READ
        days = chosen["days"] or (None if role == AnalystToken.Role.READ else USUAL_DAYS)
        expires_at = now() + timedelta(days=days) if days else None
        return {"label": chosen["label"], "role": role, "run": chosen["run"], "expires_at": expires_at}


def _tokens(user: User) -> QuerySet[AnalystToken]:
    """Those for runs that the curator works on; of those for every run, what people of the same teams created."""
    return AnalystToken.objects.filter(of_colleagues(user, "created_by"))


@curator_required
@require_http_methods(["GET", "POST"])
def tokens(request: UserRequest) -> HttpResponse:
    form, shown = TokenForm(request.user, request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        _, shown = create_token(by=request.user, **form.wanted())
        form = TokenForm(request.user)
    rows = _tokens(request.user).select_related("created_by", "run").defer("run__config")
    context = {"form": form, "shown": shown, "tokens": rows}
    response = render(request, "ranking/tokens.html", context)
    response["Cache-Control"] = "no-store"
    return response


@curator_required
@require_POST
def revoke(request: UserRequest, code: str) -> HttpResponse:
    token = get_object_or_404(_tokens(request.user), code=code)
    if revoke_token(token, by=request.user):
        messages.success(request, f"The token of {token.label} no longer works.")
    return redirect("ranking:tokens")
