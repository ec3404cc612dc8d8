"""Keeps one thread of each web process free while the others wait for a database that does not answer.

Without it, a few requests that hang would keep `/healthz` waiting too, and nobody would learn why.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

HEALTH_PATHS = ("/healthz", "/readyz", "/metrics")
RETRY_AFTER = "5"  # seconds


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
