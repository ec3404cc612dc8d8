"""Django's PostgreSQL, but a connection that was used a moment ago is not asked again whether it works.

Django asks with a `SELECT 1` at the beginning of each request, which costs a vote a twentieth of its time.
"""

from __future__ import annotations

import time

from django.db.backends.postgresql import base

A_MOMENT = 1.0  # seconds; a server that restarts is away for longer


class DatabaseWrapper(base.DatabaseWrapper):
    used_at = float("-inf")

    def close_if_health_check_failed(self) -> None:
        moment = time.monotonic()
        if moment - self.used_at < A_MOMENT and not self.errors_occurred:
            self.health_check_done = True
        self.used_at = moment
        super().close_if_health_check_failed()
