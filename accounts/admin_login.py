"""The admin's login page: the site's own one where a second factor is due or passwords are off."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.forms import AdminLoginForm
from benchsite.sessions import SECOND_FACTOR


def replace_admin_login() -> None:
    site, usual = admin.site, admin.site.login

    def login(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not settings.LOCAL_PASSWORDS or request.session.get(SECOND_FACTOR) == "due":
            return redirect_to_login(request.GET.get("next") or reverse("admin:index"))
        return usual(request, extra_context)

    site.login_form = AdminLoginForm
    site.login = login  # type: ignore[method-assign]
