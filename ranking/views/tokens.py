"""A curator's page of analysts' tokens: give one, see when it was last used, take it back."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required
from ranking.models import AnalystToken
from ranking.tokens import create_token, revoke_token


class TokenForm(forms.Form):
    """Whose token it is."""

    label = forms.CharField(max_length=120, label="Label")


@curator_required
@require_http_methods(["GET", "POST"])
def tokens(request: UserRequest) -> HttpResponse:
    form, shown = TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        _, shown = create_token(label=form.cleaned_data["label"], by=request.user)
        form = TokenForm()
    context = {"form": form, "shown": shown, "tokens": AnalystToken.objects.select_related("created_by")}
    response = render(request, "ranking/tokens.html", context)
    response["Cache-Control"] = "no-store"
    return response


@curator_required
@require_POST
def revoke(request: UserRequest, code: str) -> HttpResponse:
    token = get_object_or_404(AnalystToken, code=code)
    if revoke_token(token, by=request.user):
        messages.success(request, f"The token of {token.label} no longer works.")
    return redirect("ranking:tokens")
