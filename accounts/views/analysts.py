"""An analyst's own token, where the provider makes people analysts."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.roles import has_role, own_label
from benchsite.lib.access import UserRequest
from ranking.models import AnalystToken
from ranking.tokens import USUAL_DAYS, create_token, revoke_token


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def own_token(request: UserRequest) -> HttpResponse:
    """One at a time: a new token takes the old one's place. It ends by itself after a while."""
    if not has_role(request.user, "analyst"):
        raise PermissionDenied
    standing = AnalystToken.objects.filter(created_by=request.user, label=own_label(request.user), revoked_at=None)
    token = ""
    if request.method == "POST":
        for old in standing:
            revoke_token(old, by=request.user)
        if "revoke" in request.POST:
            messages.success(request, "Your token is revoked.")
            return redirect("own_token")
        expires_at = now() + timedelta(days=USUAL_DAYS)
        _, token = create_token(label=own_label(request.user), by=request.user, expires_at=expires_at)
    return render(request, "accounts/own_token.html", {"token": token, "standing": standing.first()})
