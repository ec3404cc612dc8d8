"""Whether passwords of this site open anything: asked before any of them is checked."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


class PasswordSwitch:
    """Stands before Django's own backend, and ends every attempt where LOCAL_PASSWORDS is off. It knows nobody itself."""

    def authenticate(self, request: HttpRequest | None, username: str | None = None, **about: object) -> None:
        if not settings.LOCAL_PASSWORDS:
            raise PermissionDenied("Passwords are off.")
