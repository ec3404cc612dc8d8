"""Who may open a page: one decorator per role."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class UserRequest(HttpRequest):
    """The request of a view that requires a login."""

    user: User


def curator_required(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Curators and superusers; others are refused, visitors asked to log in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded
