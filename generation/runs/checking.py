"""Verb: ask a suite's providers, before anything is drawn, whether keys and models are there and what a run can cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchsite.lib.text import visible
from generation.money import NANO, Price
from generation.providers.catalogue import KeyInfo, ModelInfo
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.providers.ollama import is_native
from generation.runs.suitability import fault_of, sight_fault_of
from generation.suites.costs import cost_bound_nano, sample_count
from generation.suites.profiles import Profile
from generation.suites.suite import ModelEntry, Suite


@dataclass
class ProviderCheck:
    """What the providers answered, a sentence each; `faults` would stop a run."""

    sentences: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def check_suite(suite: Suite, *, profiles: Mapping[str, Profile]) -> ProviderCheck:
    """Asks for lists of models only, so it costs nothing."""
    check, priced = ProviderCheck(), []
    for name in dict.fromkeys(entry.provider or suite.generation.provider for entry in suite.models):
        entries = [entry for entry in suite.models if (entry.provider or suite.generation.provider) == name]
        try:
            key, listed = asyncio.run(ask_provider(profiles[name], [entry.id for entry in entries]))
        except ProviderError as error:
            check.faults.append(visible(f"{name}: {error.detail}"))
            priced += entries
            continue
        check.sentences.append(visible(describe_key(profiles[name], key)))
        check.sentences += [visible(describe_model(entry, listed.get(entry.id))) for entry in entries]
        check.faults += [visible(f"{name} does not offer {e.id}.") for e in entries if e.id not in listed]
        judge = fault_of if is_native(profiles[name]) else sight_fault_of  # other servers refuse a long prompt in words
        check.faults += [visible(fault) for e in entries if (fault := judge(suite, e, listed.get(e.id)))]
        priced += [with_price(entry, listed.get(entry.id)) for entry in entries]
    check.sentences.append(describe_cost(replace(suite, models=tuple(priced)), profiles))
    return check


async def ask_provider(profile: Profile, model_ids: Sequence[str]) -> tuple[KeyInfo, dict[str, ModelInfo]]:
    async with Client() as client:
        return await client.check_key(profile), await client.describe_models(profile, model_ids)


def describe_key(profile: Profile, key: KeyInfo) -> str:
    name = profile.name
    if not profile.key_env:
        return f"{name}: reachable; it needs no key."
    if key.limit_nano is None:
        return f"{name}: the key is accepted."
    used = (key.usage_nano or 0) / NANO
    return f"{name}: the key is accepted; US${used:.2f} of {key.limit_nano / NANO:.2f} are used."


def describe_model(entry: ModelEntry, info: ModelInfo | None) -> str:
    if info is None:
        return f"  {entry.id}: the provider does not offer it"
    if info.facts.digest:
        facts = info.facts
        size = f", window of {facts.context} tokens" if facts.context else ""
        return (
            f"  {entry.id}: offered, {facts.quantisation or 'unknown quantisation'}{size}, digest {facts.digest[:12]}"
        )
    if info.price is None:
        return f"  {entry.id}: offered, price not listed"
    more = "".join(
        f", US${price.normalize():f} per {what}"
        for price, what in ((info.price.request, "request"), (info.price.image, "picture"))
        if price
    )
    price_in, price_out = info.price.input.normalize(), info.price.output.normalize()
    return f"  {entry.id}: offered, US${price_in:f} in and {price_out:f} out per million tokens{more}"


def with_price(entry: ModelEntry, info: ModelInfo | None) -> ModelEntry:
    """The suite's own price where it has one, else the provider's."""
    if entry.price_in is not None or info is None or info.price is None:
        return entry
    return at_price(entry, info.price)


def at_price(entry: ModelEntry, price: Price) -> ModelEntry:
    return replace(
        entry,
        price_in=float(price.input),
        price_out=float(price.output),
        price_request=float(price.request),
        price_image=float(price.image),
    )


def describe_cost(suite: Suite, profiles: Mapping[str, Profile]) -> str:
    bound = cost_bound_nano(suite, free=free_providers(profiles))
    most = (
        "an unknown amount: a price is missing" if bound is None else f"at most US${bound / NANO:.4f} without retries"
    )
    return f"{sample_count(suite)} samples; a whole run costs {most}."


def free_providers(profiles: Mapping[str, Profile]) -> set[str]:
    """Those that run on one's own machine."""
    return {profile.name for profile in profiles.values() if profile.kind == "ollama"}
