"""The client's address of a request."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The peer's address, or with PROXIES in front what the outermost of them saw; anything further left can be forged."""
    peer = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES < 1:
        return peer
    seen = request.headers.get("X-Forwarded-For", "").split(",")
    if len(seen) < settings.PROXIES:
        return peer
    try:
        address = ip_address(seen[-settings.PROXIES].strip())
    except ValueError:
        return peer
    return peer if getattr(address, "scope_id", None) else str(address)  # PostgreSQL's inet takes no zones
