"""Requests that are too large, refused before a byte of them is read or stored."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

MEBIBYTE = 1 << 20
MOST_OF_OTHERS = 1  # MiB: the forms of judges and visitors hold a few hundred characters


def limit_uploads(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, after the one that knows the user. The check of the CSRF token would already read the whole body.

    The stated length is enough: Django reads no further than it, and nothing of a request that states none.
    """

    def limited(request: HttpRequest) -> HttpResponse:
        if request.path.startswith("/api/"):
            return get_response(request)  # it admits a token before it reads, and has a limit of its own
        most = settings.UPLOAD_MEGABYTES if _is_large(request) and request.user.is_staff else MOST_OF_OTHERS
        if _length(request) > most * MEBIBYTE:
            return render(request, "413.html", {"most": most}, status=413)
        return get_response(request)

    return limited


def _is_large(request: HttpRequest) -> bool:
    """Whether it matters whose request it is; most need no look at the user for this."""
    return _length(request) > MOST_OF_OTHERS * MEBIBYTE


def _length(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0
