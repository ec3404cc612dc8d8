"""Notices that a provider cannot be reached while its calls are in flight.

A slow model and a dead network look the same until a call times out. So a crew that has heard nothing for a while tries to connect
once more. The calls themselves go on: their answers may still arrive, and are paid for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

import structlog

from generation.providers.connections import no_connection
from generation.queue import note_trouble
from generation.suites.profiles import Profile

log = structlog.get_logger(__name__)
SILENT_SECONDS = 5.0
TRY_SECONDS = 3.0
LOOK_SECONDS = 1.0


class Silence:
    """What one crew has heard of its providers."""

    def __init__(self, *, after: float = SILENT_SECONDS, every: float = LOOK_SECONDS) -> None:
        self.after, self.every = after, every
        self._heard: dict[str, float] = {}
        self._away: set[str] = set()
        self._looks: dict[str, asyncio.Task[None]] = {}
        self._look_at = 0.0

    def heard(self, profile: Profile) -> None:
        self._heard[profile.name] = time.monotonic()

    def look_around(self, flying: Iterable[Profile]) -> None:
        """Try to connect to silent providers that calls are waiting for; returns at once, however often it is called."""
        moment = time.monotonic()
        if moment < self._look_at:
            return
        self._look_at = moment + self.every
        for profile in {profile.name: profile for profile in flying}.values():
            silent = moment - self._heard.setdefault(profile.name, moment)
            look = self._looks.get(profile.name)
            if (silent >= self.after or profile.name in self._away) and (look is None or look.done()):
                self._looks[profile.name] = asyncio.create_task(self._look(profile))

    async def _look(self, profile: Profile) -> None:
        wrong = await no_connection(profile.base_url, seconds=TRY_SECONDS)
        if not wrong:
            self._away.discard(profile.name)
            self.heard(profile)
            return
        if profile.name not in self._away:
            self._away.add(profile.name)
            log.warning("provider_unreachable", provider=profile.name, error=wrong)
        await asyncio.to_thread(note_trouble, f"provider {profile.name}", wrong)

    def stop(self) -> None:
        for look in self._looks.values():
            look.cancel()
