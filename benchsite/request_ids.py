"""An id for each request, in every line it logs and in its response, so that a reported error can be found."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from uuid import uuid4

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

log = structlog.get_logger(__name__)
HEADER = "X-Request-ID"
_NAME = re.compile(r"[A-Za-z0-9-]{8,64}")
QUIET = ("healthz", "readyz", "metrics")


def name_request(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware. A proxy's id for the request is used only if PROXIES says that there is one."""

    def named(request: HttpRequest) -> HttpResponse:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        name = given if settings.PROXIES and _NAME.fullmatch(given) else uuid4().hex
        structlog.contextvars.bind_contextvars(request_id=name)
        began = time.monotonic()
        try:
            response = get_response(request)
            _note(request, response, time.monotonic() - began)
        finally:
            structlog.contextvars.unbind_contextvars("request_id")
        response[HEADER] = name
        return response

    return named


def _note(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    """One line per request. The route, not the path: an invitation's path is a secret."""
    match = request.resolver_match
    route = match.view_name if match else "none"
    if route not in QUIET:
        log.info("request", method=request.method, route=route, status=response.status_code, ms=round(seconds * 1000))
