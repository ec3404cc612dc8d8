"""Models from a provider's catalogue as the start page offers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchsite.lib.text import visible
from generation.providers.errors import ProviderError
from generation.runs.catalogue import MOST, described, is_model_id, search_catalogue
from generation.runs.checking import free_providers
from generation.suites.costs import cost_bound_nano
from generation.suites.profiles import Profile
from generation.suites.suite import ModelEntry, Suite

LONGEST_SEARCH = 100


@dataclass(frozen=True)
class Offer:
    """A model that can be chosen; `typed` where it is only what somebody wrote."""

    entry: ModelEntry
    sees: bool | None = None
    typed: bool = False
    cost_nano: int | None = None  # of one attempt in the suite; None where nobody knows

    @property
    def value(self) -> str:
        return f"{self.entry.provider}|{self.entry.id}"

    @property
    def price(self) -> str:
        into, out = self.entry.price_in, self.entry.price_out
        if into is None or out is None:
            return "as you typed it" if self.typed else "price not listed"
        request, image = self.entry.price_request, self.entry.price_image
        parts = [f"US${into:.10g} in and US${out:.10g} out per million tokens"] if into or out else []
        parts += [f"US${request:.10g} per request"] if request else []
        parts += [f"US${image:.10g} per picture"] if image else []
        return ", ".join(parts) or "free"


@dataclass
class Search:
    """What was looked for, and what came of it."""

    provider: str
    text: str = ""
    offers: list[Offer] = field(default_factory=list)
    total: int = 0
    fault: str = ""

    @property
    def left_out(self) -> int:
        return max(self.total - MOST, 0)


def find_offers(profiles: Mapping[str, Profile], suite: Suite, provider: str, text: str) -> Search:
    search = Search(provider if provider in profiles else suite.generation.provider, text.strip()[:LONGEST_SEARCH])
    if not search.text:
        return search
    profile, free = profiles[search.provider], free_providers(profiles)
    try:
        infos, search.total = search_catalogue(profile, search.text)
    except ProviderError as error:
        search.fault, infos = visible(error.detail), []
    for info in infos:
        entry = described(ModelEntry(info.id, info.id, provider=profile.name), info)
        search.offers.append(Offer(entry, info.sees, cost_nano=_cost(suite, entry, free)))
    if search.fault and is_model_id(search.text):
        search.offers.append(Offer(ModelEntry(search.text, search.text, provider=profile.name), typed=True))
    return search


def chosen_offers(profiles: Mapping[str, Profile], suite: Suite, entries: list[ModelEntry]) -> list[Offer]:
    free = free_providers(profiles)
    return [Offer(entry, cost_nano=_cost(suite, entry, free)) for entry in entries]


def _cost(suite: Suite, entry: ModelEntry, free: set[str]) -> int | None:
    once = replace(suite, models=(entry,), generation=replace(suite.generation, attempts_per_prompt=1))
    return cost_bound_nano(once, free=free)
