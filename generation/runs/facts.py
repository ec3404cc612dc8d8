"""Verb: ask the providers' catalogues for what the suite does not say of its models, once, when a run has started."""

from __future__ import annotations

import asyncio

from generation.models import LanguageModel, Run
from generation.providers.catalogue import ModelInfo
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.queue import enqueue
from generation.runs.loaded import profile_of
from generation.suites.profiles import Profile

# Kinds of provider that say more of their models than ids, and what they are asked for.
ASKED_FOR = {"openrouter": ("organisation", "released", "context"), "ollama": ("context", "quantisation", "digest")}


def queue_facts(run: Run) -> None:
    """Asks a worker for the facts, unless the suite says them all."""
    if any(_incomplete(model) for model in run.models.all()):
        enqueue("measure", "generation.jobs.fill_model_facts", run.pk)


def _incomplete(model: LanguageModel) -> bool:
    return any(key not in model.facts for key in ASKED_FOR.get(model.profile.get("kind", ""), ()))


def fill_facts(run: Run) -> list[str]:
    """Facts that a run does not know yet, from its providers' lists; says of which models. A known fact stays as it is."""
    filled, catalogues = [], {}
    incomplete = [model for model in run.models.all() if _incomplete(model)]
    for model in incomplete:
        if model.provider not in catalogues:
            asked = [other.model_id for other in incomplete if other.provider == model.provider]
            catalogues[model.provider] = _catalogue(profile_of(model), asked)
        info = catalogues[model.provider].get(model.model_id)
        facts = (info.facts.known() if info else {}) | model.facts
        if facts != model.facts:
            LanguageModel.objects.filter(pk=model.pk).update(facts=facts)
            filled.append(model.model_id)
    return filled


def _catalogue(profile: Profile, model_ids: list[str]) -> dict[str, ModelInfo]:
    async def ask() -> dict[str, ModelInfo]:
        async with Client() as client:
            return await client.describe_models(profile, model_ids)

    try:
        return asyncio.run(ask())
    except ProviderError:  # facts are a courtesy: a run draws without them
        return {}
