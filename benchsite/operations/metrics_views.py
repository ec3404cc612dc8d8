"""Who may see the metrics, and the page itself."""

from __future__ import annotations

from hmac import compare_digest

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from benchsite.addresses import client_address
from benchsite.lib.hosts import is_loopback
from benchsite.operations.metrics import CONTENT_TYPE, metrics_text

FORWARDING = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """For Prometheus: with the token, or, where none is set, from this machine and through no proxy."""
    if not may_see_metrics(request):
        return HttpResponse(
            "You do not have access: set METRICS_TOKEN and send it as a bearer token.\n",
            status=403,
            content_type="text/plain",
        )
    return HttpResponse(metrics_text(), content_type=CONTENT_TYPE)


def may_see_metrics(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and compare_digest(token.encode(), settings.METRICS_TOKEN.encode())
    # A proxy on this machine also comes from 127.0.0.1, so any sign of one denies access.
    forwarded = any(name in request.headers for name in FORWARDING)
    return not (settings.PROXIES or settings.SITE_URL or forwarded) and is_loopback(client_address(request))
