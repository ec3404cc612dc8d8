"""Requests refused before they reach a view: by load, by size, or by method; and one character that no address keeps.

One thread of each web process stays free while the others wait for a database that does not answer. Without it, a few requests
that hang would keep `/healthz` waiting too, and nobody would learn why. So this thread takes no request that could hang, however young
the others are: it waits for one of them to end, for two seconds at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.template.loader import render_to_string

from benchsite.lib.text import REPLACEMENT
from benchsite.operations.health import DATABASE

HEALTH_PATHS = ("/healthz", "/readyz", "/metrics")
RETRY_AFTER = "5"  # seconds
MEBIBYTE = 1 << 20
MOST_OF_OTHERS = 1  # MiB: the forms of judges and visitors hold a few hundred characters


def keep_a_thread(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware. All threads but one have requests to work on; the last one waits for a place, and answers 503 once none moves."""
    changed = Condition()
    began: dict[object, float] = {}

    def kept(request: HttpRequest) -> HttpResponse:
        if request.path in HEALTH_PATHS:
            return get_response(request)
        token = object()
        with changed:
            while len(began) >= max(settings.WEB_THREADS - 1, 1):
                still = time.monotonic() - max(began.values())  # what began last has not ended either
                if still >= settings.STUCK_SECONDS:
                    return _busy()
                if still >= settings.STUCK_SECONDS / 4:
                    DATABASE.begin()  # so that whoever asks how this process is has the answer sooner
                changed.wait(settings.STUCK_SECONDS / 4)
            began[token] = time.monotonic()
        try:
            return get_response(request)
        finally:
            with changed:
                del began[token]
                changed.notify()

    return kept


def _busy() -> HttpResponse:
    # Without the request: its user would have to be looked up.
    return HttpResponse(render_to_string("503.html"), status=503, headers={"Retry-After": RETRY_AFTER})


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


def replace_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware. PostgreSQL cannot compare with U+0000; as in texts, U+FFFD stands for it, which names no row of ours."""

    def replaced(request: HttpRequest) -> HttpResponse:
        request.path_info = request.path_info.replace("\0", REPLACEMENT)
        request.META["QUERY_STRING"] = request.META.get("QUERY_STRING", "").replace("%00", quote(REPLACEMENT))
        return get_response(request)

    return replaced


def say_method(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, inside the one that knows the user. Django's answer to a method that a view does not take is a blank page."""

    def explained(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for_programs = request.path.startswith("/api/") or request.path in HEALTH_PATHS
        if not isinstance(response, HttpResponseNotAllowed) or response.content or for_programs:
            return response
        page = render(request, "405.html", status=405)
        page["Allow"] = response["Allow"]
        return page

    return explained


def _is_large(request: HttpRequest) -> bool:
    """Whether it matters whose request it is; most need no look at the user for this."""
    return _length(request) > MOST_OF_OTHERS * MEBIBYTE


def _length(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0
