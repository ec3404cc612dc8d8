"""When a request is sent again, and how long to wait before."""

from __future__ import annotations

import random

import httpx

from benchsite_client.calls import Call

TRIES = 6
FIRST_WAIT = 0.5  # seconds before a request is sent again; it doubles with each try
LONGEST_WAIT = 90.0
BUSY = {429, 502, 503, 504}
# The request did not reach the site, so that even one that must not be repeated may be.
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def wait_before(
    call: Call, tries: int, outcome: httpx.Response | httpx.TransportError, *, first_wait: float
) -> float | None:
    """Seconds to wait before the next try; None where there is none: the outcome stands."""
    if tries >= TRIES:
        return None
    pause = min(LONGEST_WAIT, first_wait * 2 ** (tries - 1)) * random.uniform(0.75, 1.25)
    if isinstance(outcome, httpx.Response):
        if outcome.status_code not in BUSY or not (call.again or outcome.status_code == 429):
            return None
        asked = outcome.headers.get("Retry-After", "")
        return min(LONGEST_WAIT, float(asked)) if asked.isdecimal() else pause
    return pause if call.again or isinstance(outcome, NOT_SENT) else None
