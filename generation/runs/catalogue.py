"""Verb: search a provider's catalogue for models that a suite does not name. Keys stay on the server."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from dataclasses import replace

from django.conf import settings

from generation.providers.catalogue import ModelInfo
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.runs.checking import at_price
from generation.runs.errors import RunError
from generation.suites.profiles import Profile
from generation.suites.suite import ModelEntry
from generation.suites.yaml_fields import MODEL_ID

KEPT_SECONDS = 600.0
MOST = 20  # models shown for one search
FAILED_SECONDS = 15.0  # a provider that is away is not asked again at every letter

Key = tuple[str, str]
Listed = dict[str, ModelInfo] | ProviderError
_kept: dict[Key, tuple[float, Listed]] = {}
_locks: dict[Key, threading.Lock] = {}


def catalogue_of(profile: Profile) -> dict[str, ModelInfo]:
    """A provider's list of models by id, asked for once in ten minutes; raises `ProviderError` where it cannot be had."""
    key = (profile.name, profile.base_url)
    listed = _fresh(key)
    if listed is None:
        listed = _ask_once(key, profile)
    if isinstance(listed, ProviderError):
        raise listed
    return listed


def _ask_once(key: Key, profile: Profile) -> Listed:
    """One thread asks; the others wait for what it gets, and nobody for longer than one asking takes."""
    lock = _locks.setdefault(key, threading.Lock())
    if not lock.acquire(timeout=settings.CATALOGUE_SECONDS):
        return _slow(profile)
    try:
        if (listed := _fresh(key)) is None:
            listed = _ask(profile)
            kept = FAILED_SECONDS if isinstance(listed, ProviderError) else KEPT_SECONDS
            _kept[key] = (time.monotonic() + kept, listed)
        return listed
    finally:
        lock.release()


def _fresh(key: Key) -> Listed | None:
    until, listed = _kept.get(key, (0.0, None))
    return listed if time.monotonic() < until else None


def _ask(profile: Profile) -> Listed:
    async def ask() -> dict[str, ModelInfo]:
        async with asyncio.timeout(settings.CATALOGUE_SECONDS), Client() as client:
            return await client.list_models(profile)

    try:
        return asyncio.run(ask())
    except TimeoutError:
        return _slow(profile)
    except ProviderError as error:
        return error


def _slow(profile: Profile) -> ProviderError:
    detail = f"{profile.name} did not send its list of models within {settings.CATALOGUE_SECONDS:g} s. Type an exact id, or try again."
    return ProviderError("retry", "timeout", detail)


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
    entry = replace(entry, label=label, facts=info.facts)
    return at_price(entry, info.price) if info.price else entry
