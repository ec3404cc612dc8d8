"""Who may open a page: one decorator per role, and the rows that a curator's teams work on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Q
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


def within_teams(user: Any, path: str = "") -> Q:
    """Rows whose run is of one of the user's teams, or of none; superusers are everywhere. `path` leads from a row to its run."""
    if user.is_superuser:
        return Q()
    lookup = f"{path}__team" if path else "team"
    return Q(**{lookup: None}) | Q(**{f"{lookup}__in": user.teams.values("pk")})


def by_colleagues(user: Any, person: str) -> Q:
    """Rows of nobody, of people of the user's teams, or of people of none."""
    if user.is_superuser:
        return Q()
    people = User.objects.filter(teams__in=user.teams.all()).values("pk")
    others = User.objects.exclude(teams=None).values("pk")
    return Q(**{person: None}) | Q(**{f"{person}__in": people}) | ~Q(**{f"{person}__in": others})


def of_colleagues(user: Any, person: str, path: str = "run") -> Q:
    """Rows within the user's teams; those that have no run, by the person who did it."""
    if user.is_superuser:
        return Q()
    return within_teams(user, path) & (Q(**{f"{path}__isnull": False}) | by_colleagues(user, person))
