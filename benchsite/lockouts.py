"""Who may try another password: per name and address, and per address whatever the names."""

from __future__ import annotations

from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest

from benchsite.addresses import client_address


class LoginHandler(AxesDatabaseHandler):
    """Locks an address too, at a limit of its own: many people may share one, and one guesser has many names."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """Of this name from this address; those of a locked address are as many as lock a name."""
        failures = super().get_failures(request, credentials)
        return max(failures, settings.AXES_FAILURE_LIMIT) if self.is_locked_address(request) else failures

    def is_locked_address(self, request: HttpRequest) -> bool:
        attempts = AccessAttempt.objects.filter(
            ip_address=client_address(request), attempt_time__gte=get_cool_off_threshold(request)
        )
        failures = attempts.aggregate(total=Sum("failures_since_start"))["total"] or 0
        return failures >= settings.LOGIN_FAILURES_PER_ADDRESS
