"""Requests that are refused at the door: those that would take the last free thread, and those that are too large.

One thread of each web process stays free while the others wait for a database that does not answer. Without it, a few requests
that hang would keep `/healthz` waiting too, and nobody would learn why.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

HEALTH_PATHS = ("/healthz", "/readyz", "/metrics")
RETRY_AFTER = "5"  # seconds
MEBIBYTE = 1 << 20
MOST_OF_OTHERS = 1  # MiB: the forms of judges and visitors hold a few hundred characters


def keep_a_thread(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware. The last free thread answers 503 at once while all others are stuck."""
    lock = Lock()
    began: dict[object, float] = {}

    def kept(request: HttpRequest) -> HttpResponse:
        if request.path in HEALTH_PATHS:
            return get_response(request)
        token, moment = object(), time.monotonic()
        with lock:
            stuck = sum(moment - start > settings.STUCK_SECONDS for start in began.values())
            if stuck >= settings.WEB_THREADS - 1:
                return _busy()
            began[token] = moment
        try:
            return get_response(request)
        finally:
            with lock:
                del began[token]

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


def _is_large(request: HttpRequest) -> bool:
    """Whether it matters whose request it is; most need no look at the user for this."""
    return _length(request) > MOST_OF_OTHERS * MEBIBYTE


def _length(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0
