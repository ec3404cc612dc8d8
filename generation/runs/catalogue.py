"""Verb: search a provider's catalogue for models that a suite does not name. Keys stay on the server."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import replace

from generation.providers.catalogue import ModelInfo
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.runs.errors import RunError
from generation.suites.profiles import Profile
from generation.suites.suite import ModelEntry
from generation.suites.yaml_fields import MODEL_ID

KEPT_SECONDS = 600.0
MOST = 20  # models shown for one search
FAILED_SECONDS = 15.0  # a provider that is away is not asked again at every letter
_kept: dict[tuple[str, str], tuple[float, dict[str, ModelInfo] | ProviderError]] = {}


def catalogue_of(profile: Profile) -> dict[str, ModelInfo]:
    """A provider's list of models by id, asked for once in ten minutes; raises `ProviderError` where it cannot be had."""
    key = (profile.name, profile.base_url)
    until, listed = _kept.get(key, (0.0, {}))
    if time.monotonic() >= until:
        try:
            listed = asyncio.run(_ask(profile))
        except ProviderError as error:
            listed = error
        kept = FAILED_SECONDS if isinstance(listed, ProviderError) else KEPT_SECONDS
        _kept[key] = (time.monotonic() + kept, listed)
    if isinstance(listed, ProviderError):
        raise listed
    return listed


async def _ask(profile: Profile) -> dict[str, ModelInfo]:
    async with Client() as client:
        return await client.list_models(profile)


def search_catalogue(profile: Profile, text: str) -> tuple[list[ModelInfo], int]:
    """The first models whose id or name has every word of the text, and how many there are in all."""
    words = text.casefold().split()
    matching = [
        info
        for info in catalogue_of(profile).values()
        if words and all(word in f"{info.id} {info.name}".casefold() for word in words)
    ]
    matching.sort(key=lambda info: (info.id.casefold() != text.strip().casefold(), info.id.casefold()))
    return matching[:MOST], len(matching)


def is_model_id(text: str) -> bool:
    return bool(MODEL_ID.fullmatch(text)) and ".." not in text.split("/")


def listed_entry(profile: Profile, model_id: str) -> ModelEntry:
    """A model as the catalogue describes it today, to be frozen with a run; bare where the provider cannot be asked."""
    if not is_model_id(model_id):
        raise RunError(f"{model_id[:60]!r} is not a model id; write it as the provider does.")
    entry = ModelEntry(model_id, model_id, provider=profile.name)
    try:
        info = catalogue_of(profile).get(model_id)
    except ProviderError:
        return entry  # prices and facts are asked for again before anything is drawn
    if info is None:
        raise RunError(f"{profile.name} does not offer {model_id}.")
    if info.price is None:
        raise RunError(
            f"{profile.name} lists no price for {model_id}, so no budget could be kept. Name it in models.yaml with "
            "price_in and price_out."
        )
    return described(entry, info)


def described(entry: ModelEntry, info: ModelInfo) -> ModelEntry:
    label = re.sub(r"^[^:]+:\s+", "", info.name) or entry.id
    price_in, price_out = (float(info.price.input), float(info.price.output)) if info.price else (None, None)
    return replace(entry, label=label, facts=info.facts, price_in=price_in, price_out=price_out)
