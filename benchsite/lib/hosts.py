"""Names and addresses of hosts."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_https_or_local(url: str) -> bool:
    """https, or plain http on this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    return is_loopback(host) if parts.scheme == "http" else parts.scheme == "https" and host != ""
