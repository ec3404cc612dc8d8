"""Whether the models of a suite can hold its prompts and answers, asked of servers that would cut them silently."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from generation.providers.catalogue import ModelInfo
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.providers.ollama import is_native, needed_tokens, window_fault
from generation.runs.errors import RunError
from generation.suites.costs import longest_prompt
from generation.suites.profiles import Profile
from generation.suites.suite import ModelEntry, Suite


def refuse_unfit_models(suite: Suite, models: Sequence[ModelEntry], profiles: Mapping[str, Profile]) -> None:
    """Raises with the names of all local models whose window is too small, or that cannot see a prompt's picture. A server that is down is asked again before each
    model's first call."""
    names = {entry.provider or suite.generation.provider for entry in models}
    faults = []
    for profile in (profiles[name] for name in sorted(names) if is_native(profiles[name])):
        mine = [entry for entry in models if (entry.provider or suite.generation.provider) == profile.name]
        try:
            infos = asyncio.run(_describe(profile, mine))
        except ProviderError:
            continue
        faults += [fault for entry in mine if (fault := fault_of(suite, entry, infos.get(entry.id)))]
    if faults:
        raise RunError(" ".join(faults))


def fault_of(suite: Suite, entry: ModelEntry, info: ModelInfo | None) -> str:
    """Why a local model cannot take this suite's prompts, or nothing."""
    if blind := sight_fault_of(suite, entry, info):
        return blind
    needed = needed_tokens(longest_prompt(suite, entry), suite.generation.max_tokens)
    return window_fault(entry.id, info.facts.context if info else None, needed)


def sight_fault_of(suite: Suite, entry: ModelEntry, info: ModelInfo | None) -> str:
    """Why a model cannot be asked about pictures, or nothing; also where nobody says whether it can."""
    if info is None or info.sees is not False or not any(prompt.image for prompt in suite.prompts):
        return ""
    return f"{entry.id} does not take images, but prompts of this suite have reference pictures."


async def _describe(profile: Profile, models: Sequence[ModelEntry]) -> dict[str, ModelInfo]:
    async with Client() as client:
        return await client.describe_models(profile, [entry.id for entry in models])
