"""A provider's share: cut when it throttles us, won back call by call, never over its limit."""

from __future__ import annotations

from generation.drawing.limits import Limits
from generation.drawing.questions import Ended
from generation.providers.errors import ProviderError
from generation.suites.profiles import Profile

SLOW = Profile("slow", "https://example.org/v1", concurrency=10)
QUICK = Profile("quick", "https://example.org/v1", concurrency=50)
THROTTLED = Ended(None, error=ProviderError("retry", "rate_limited", "Wait."))
BROKEN = Ended(None, error=ProviderError("retry", "provider_error", "Oops."))


def test_room_is_the_limit_less_what_is_in_flight():
    assert Limits().room([SLOW, QUICK], [SLOW, SLOW, QUICK]) == {"slow": 8, "quick": 49}


def test_a_throttled_provider_gets_less_and_wins_it_back():
    limits = Limits()

    limits.note(SLOW, THROTTLED)
    assert limits.room([SLOW, QUICK], []) == {"slow": 7, "quick": 50}
    for _ in range(100):
        limits.note(SLOW, THROTTLED)
    assert limits.room([SLOW], []) == {"slow": 1}, "one call at least, or nobody would notice that it is over"
    for _ in range(100):
        limits.note(SLOW, BROKEN)
    assert limits.room([SLOW], []) == {"slow": 10}, "never over its own limit"


def test_what_a_person_asked_for_stands_above_the_profile():
    assert Limits(20).room([SLOW], []) == {"slow": 20}
