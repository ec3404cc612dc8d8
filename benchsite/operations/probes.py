"""Questions asked in a thread of their own: nobody waits for an answer longer than he says, whatever hangs."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting
from threading import Lock
from typing import Generic, TypeVar

import structlog
from django.conf import settings

log = structlog.get_logger(__name__)
LIMIT_SECONDS = 2.0
NOTED_SECONDS = 15.0  # for so long it counts what somebody else met
REPEAT_SECONDS = 10.0  # an outage is logged when it begins, and as often as this while it lasts
NO_ANSWER = "no answer"
T = TypeVar("T")


class Aside(Generic[T]):
    """Asks one thing at a time. Many who want to know at once, or a moment later, share one answer."""

    def __init__(self, name: str, ask: Callable[[], T]) -> None:
        self.name, self.ask = name, ask
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"aside-{name}")
        self._lock = Lock()
        self._answer: Future[T] | None = None
        self._began_at = 0.0

    def begin(self) -> tuple[Future[T], float]:
        """The answer that is under way or was given a moment ago, else a new one, and when it was asked for; waits for nothing."""
        with self._lock:
            age = time.monotonic() - self._began_at
            if self._answer is None or (self._answer.done() and age >= settings.PROBE_KEPT_SECONDS):
                self._began_at = time.monotonic()
                self._answer = self._thread.submit(self.ask)
            return self._answer, self._began_at

    def afterwards(self, work: Callable[..., None], *arguments: str) -> Future[None]:
        """Done in this thread too, after what was given to it before; whoever asks for it need not wait."""
        return self._thread.submit(work, *arguments)


class Probe(Aside[str]):
    """Asks what is wrong: nothing while all is well."""

    def __init__(
        self, name: str, ask: Callable[[], str], *, limit: float = LIMIT_SECONDS, repeat: float = REPEAT_SECONDS
    ) -> None:
        super().__init__(name, ask)
        self.limit, self.repeat = limit, repeat
        self._said_at: float | None = None  # when the outage was logged last; none while all is well
        self._noted, self._noted_at = "", float("-inf")

    def note(self, wrong: str) -> None:
        """What somebody met who asked for more than the probe does."""
        self._noted, self._noted_at = wrong, time.monotonic()

    def wrong(self) -> str:
        """What is wrong now, in the server's own words, or nothing."""
        answer, began_at = self.begin()
        try:
            wrong = answer.result(timeout=max(began_at + self.limit - time.monotonic(), 0.0))
        except StillWaiting:
            wrong = f"{NO_ANSWER} for {time.monotonic() - began_at:.0f} s"
        if not wrong and time.monotonic() - self._noted_at < NOTED_SECONDS:
            wrong = self._noted
        if not wrong:
            self._said_at = None
        elif self._said_at is None or time.monotonic() - self._said_at >= self.repeat:
            self._said_at = time.monotonic()
            log.warning(f"{self.name}_unreachable", error=wrong)
        return wrong
