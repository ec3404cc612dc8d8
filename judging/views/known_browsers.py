"""Which browsers are a judge's own: a signed cookie says since when. A curator who uses a reset link has none."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now

SALT = "judging.known_browser"
KEPT = 400 * 24 * 3600  # seconds: the longest that browsers keep a cookie


def _name(judge: User) -> str:
    return f"known-{judge.pk}"


def known_since(request: HttpRequest, judge: User) -> datetime | None:
    value = request.get_signed_cookie(_name(judge), default="", salt=SALT)
    return datetime.fromtimestamp(float(value), UTC) if value else None


def remember_browser(request: HttpRequest, response: HttpResponse, judge: User) -> None:
    """From now on the browser is the judge's; not while a new password waits to be confirmed."""
    if known_since(request, judge) is None and not judge.reset_links.waiting().exists():
        response.set_signed_cookie(
            _name(judge),
            str(now().timestamp()),
            salt=SALT,
            max_age=KEPT,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
