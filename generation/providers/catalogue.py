"""What a provider's list says of its models: ids, prices, facts, and what they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from generation.money import MILLION, Price, decimal_of, price_of
from generation.providers.errors import printable
from generation.suites.model_facts import LARGEST_CONTEXT, LONGEST, ModelFacts


@dataclass(frozen=True)
class ModelInfo:
    """A model a provider offers, with its price and what else the provider says of it."""

    id: str
    price: Price | None
    facts: ModelFacts = field(default_factory=ModelFacts)
    name: str = ""
    sees: bool | None = None  # whether it takes images; None where the list does not say


@dataclass(frozen=True)
class KeyInfo:
    """What a provider says about our key; None where it does not say."""

    label: str
    limit_nano: int | None
    usage_nano: int | None


def listed_model(kind: str, entry: Mapping[str, Any]) -> ModelInfo:
    """One entry of a list of models, which has an `id`."""
    architecture = entry.get("architecture")
    modalities = architecture.get("input_modalities") if isinstance(architecture, Mapping) else None
    return ModelInfo(
        id=entry["id"],
        price=_price(kind, entry),
        facts=_facts(entry),
        name=printable(str(entry.get("name") or ""), LONGEST),
        sees="image" in modalities if isinstance(modalities, list) else None,
    )


def _price(kind: str, entry: Mapping[str, Any]) -> Price | None:
    if kind == "ollama":
        return price_of(0, 0)
    pricing = entry.get("pricing")
    if not isinstance(pricing, dict):
        return None
    into, out = decimal_of(pricing.get("prompt")), decimal_of(pricing.get("completion"))
    if into is None or out is None:
        return None
    # Lists quote dollars per token; we speak of dollars per million.
    return price_of(into * MILLION, out * MILLION, pricing.get("request"), pricing.get("image"))


def _facts(entry: Mapping[str, Any]) -> ModelFacts:
    """What OpenRouter's list says: `Organisation: Model`, a link to the weights where they are open, a time, a length."""
    organisation, colon, _ = printable(str(entry.get("name") or ""), LONGEST).partition(":")
    created, context = entry.get("created"), entry.get("context_length")
    is_time = isinstance(created, int) and 10**9 < created < 2**32
    is_length = isinstance(context, int) and 0 < context <= LARGEST_CONTEXT
    return ModelFacts(
        organisation=organisation.strip() if colon else "",
        weights="open" if entry.get("hugging_face_id") else "",
        released=datetime.fromtimestamp(created, UTC).date().isoformat() if is_time and created else "",
        context=context if is_length else None,
    )
