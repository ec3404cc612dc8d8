"""How many calls a provider gets at once: its own limit, and fewer after it asked us to slow down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from generation.drawing.questions import THROTTLED, Ended
from generation.suites.profiles import Profile


class Limits:
    """Each provider's share of one crew, cut when the provider throttles us and won back call by call."""

    def __init__(self, concurrency: int | None = None) -> None:
        self.concurrency = concurrency  # what a person asked for by hand stands above the profile's limit
        self.now: dict[str, float] = {}

    def of(self, profile: Profile) -> float:
        return self.now.get(profile.name, float(self.concurrency or profile.concurrency))

    def note(self, profile: Profile, ended: Ended) -> None:
        limit, most = self.of(profile), float(self.concurrency or profile.concurrency)
        if ended.error is not None and ended.error.code in THROTTLED:
            self.now[profile.name] = max(1.0, limit * 0.7)
        else:
            self.now[profile.name] = min(most, limit + 1 / limit)

    def room(self, profiles: Iterable[Profile], flying: Iterable[Profile]) -> dict[str, int]:
        """How many more calls each provider can take, by name."""
        taken = Counter(profile.name for profile in flying)
        return {profile.name: int(self.of(profile)) - taken[profile.name] for profile in profiles}
