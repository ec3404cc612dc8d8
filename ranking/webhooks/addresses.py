"""Where a webhook may go: a public https address. It is looked up once, checked, and that very address is connected to."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

LONGEST = 500


class AddressError(ValueError):
    """Why nothing is sent there, in one sentence."""


def checked_url(url: str) -> SplitResult:
    """The parts of an address that a webhook may have; where a host's name leads is looked up when it is sent to."""
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressError(f"An address has at most {LONGEST} plain characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressError("This is no address; write https://example.org/hook.") from None
    schemes = ("https", "http") if settings.WEBHOOKS_TO_PRIVATE else ("https",)
    if parts.scheme not in schemes or not parts.hostname or port == 0:
        raise AddressError("The address must begin with https:// and name a host.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressError("The address must have no password and no fragment.")
    refuse_private(_literal(parts.hostname))
    return parts


def _literal(host: str) -> list[IPv4Address | IPv6Address]:
    """The address that is written instead of a host's name, if it is."""
    try:
        return [ip_address(host)]
    except ValueError:
        return []


def refuse_private(addresses: Iterable[IPv4Address | IPv6Address]) -> None:
    if not settings.WEBHOOKS_TO_PRIVATE and not all(map(is_public, addresses)):
        raise AddressError("The host’s address is private; webhooks go to public addresses only.")


def resolved(parts: SplitResult) -> str:
    """An IP address of the host that may be connected to; every one it has must be public."""
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressError("The host has no address.") from None
    addresses = [str(row[4][0]).partition("%")[0] for row in rows]
    refuse_private(map(ip_address, addresses))
    return addresses[0]


def is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        teredo = address.teredo[1] if address.teredo else None
        if inner := address.ipv4_mapped or address.sixtofour or teredo:
            return is_public(inner)
        # Not global, whatever Python says: the old private fec0::/10, and what is reserved, which has the ways of writing an IPv4
        # address inside (compatible, translated, NAT64).
        if address.is_site_local or address.is_reserved:
            return False
    return address.is_global and not address.is_multicast
