"""A curator's page of a run's webhooks: create one, see what was delivered, end it."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required, within_teams
from benchsite.lib.reasons import reason_of
from generation.models import Run
from generation.runs.errors import RunError
from ranking.models import Delivery, Webhook
from ranking.webhooks.subscriptions import KINDS, create_webhook, disable_webhook, secret_of

LISTED = 100


class WebhookForm(forms.Form):
    """Where to, and what of."""

    url = forms.CharField(
        max_length=500, label="Address", widget=forms.URLInput, help_text="https, such as https://example.org/hook."
    )
    kinds = forms.MultipleChoiceField(
        choices=[(name, words) for name, words in KINDS.items()],
        widget=forms.CheckboxSelectMultiple,
        label="Events",
        initial=list(KINDS),
    )


@curator_required
@require_http_methods(["GET", "POST"])
def webhooks(request: UserRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.of_drawings().curated_by(request.user), code=code)
    form, secret = WebhookForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        try:
            secret = secret_of(create_webhook(run=run, by=request.user, **form.cleaned_data))
            form = WebhookForm()
        except RunError as error:
            form.add_error("url", str(error))
    deliveries = Delivery.objects.filter(webhook__run=run).select_related("webhook")[:LISTED]
    listed = [
        (webhook, "; ".join(KINDS[kind] for kind in webhook.kinds))
        for webhook in run.webhooks.select_related("created_by")
    ]
    context = {"run": run, "form": form, "secret": secret, "webhooks": listed, "deliveries": deliveries}
    response = render(request, "ranking/webhooks.html", context)
    response["Cache-Control"] = "no-store"
    return response


@curator_required
@require_POST
def disable(request: UserRequest, code: str, webhook: str) -> HttpResponse:
    ended = get_object_or_404(
        Webhook.objects.select_related("run").filter(within_teams(request.user, "run")), run__code=code, code=webhook
    )
    if disable_webhook(ended, by=request.user, reason=reason_of(request) or "Disabled by a curator."):
        messages.success(request, "Nothing more is sent to this address.")
    return redirect("ranking:webhooks", code)
