"""What one sample asks of its model: the messages, the request, and the most it can cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

from django.conf import settings

from generation.formats import get_format
from generation.formats.base import Format
from generation.models import Entrant, LanguageModel, Prompt, Run
from generation.money import Price, price_of_nano, prompt_size, upper_bound_nano
from generation.providers.requests import Request
from generation.suites.loading import Profile, Suite
from generation.suites.programs import TARGET
from generation.suites.prompts import fill_placeholders


@dataclass(frozen=True)
class Question:
    """One claimed call: everything that asking it and settling it needs, and no database row."""

    token: UUID
    sample_id: int
    model_pk: int
    prompt_pk: int
    claims: int
    earlier: tuple[str, ...]
    last_turn: bool
    profile: Profile
    request: Request
    deadline: float
    reserved_nano: int
    probe: bool = False  # the one call that finds out whether a model that failed is back

    @property
    def turn(self) -> int:
        return len(self.earlier)

    @property
    def priced(self) -> bool:
        return self.request.price is not None


@dataclass
class Sheet:
    """A run's frozen rows, loaded once and used for many samples."""

    run: Run
    suite: Suite
    models: dict[int, LanguageModel]
    entrants: dict[int, Entrant]
    prompts: dict[int, Prompt]
    due: list[Any] = field(default_factory=list)  # samples found due a moment ago, to be claimed next
    due_at: float = 0.0
    failing: set[int] = field(default_factory=set)  # models whose last calls failed, as far as this crew knows
    unpriced: set[int] = field(default_factory=set)  # models not asked before their price is known

    @cached_property
    def format(self) -> Format:
        return get_format(self.run.format)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name by which a drawing in this run could sign itself."""
        found = [name for model in self.models.values() for name in (model.model_id, model.label)]
        found += [name for entrant in self.entrants.values() for name in (entrant.name, entrant.label, entrant.team)]
        return tuple(dict.fromkeys(name for name in found if name))

    @cached_property
    def profiles(self) -> dict[int, Profile]:
        return {pk: profile_of(model) for pk, model in self.models.items()}

    @cached_property
    def has_programs(self) -> bool:
        """Then a sample is claimed once a turn."""
        return any(entrant.turns for entrant in self.entrants.values())


def load_sheet(run_id: int) -> Sheet:
    run = Run.objects.get(pk=run_id)
    return Sheet(
        run=run,
        suite=Suite.from_dict(run.config),
        models={row.pk: row for row in run.models.all()},
        entrants={row.pk: row for row in run.entrants.all()},
        prompts={row.pk: row for row in run.prompts.all()},
    )


def profile_of(model: LanguageModel) -> Profile:
    """The frozen profile. The demo provider is local and may move, so its address is today's."""
    profile = Profile(**model.profile)
    return replace(profile, base_url=os.environ["DEMO_PROVIDER_URL"]) if profile.kind == "demo" else profile


def price_of_model(model: LanguageModel, profile: Profile) -> Price | None:
    if profile.kind == "ollama":
        return Price(Decimal(0), Decimal(0))
    return price_of_nano(model.price_in_nano, model.price_out_nano)


def messages_of(
    suite: Suite, model: LanguageModel, entrant: Entrant, prompt: Prompt, earlier: Sequence[str]
) -> tuple[dict[str, str], ...]:
    """The conversation up to the next turn: a model gets the prompt, a program gets its own turns about the target."""
    target = str(prompt.facts.get(TARGET) or prompt.subject or prompt.text)
    turns = [fill_placeholders(turn, {TARGET: target}) for turn in entrant.turns] or [prompt.text]
    if model.extra_prompt:
        turns[0] = f"{turns[0]}\n\n{model.extra_prompt}"
    messages = []
    if suite.generation.system_prompt:
        messages.append({"role": "system", "content": suite.generation.system_prompt})
    for said, answered in zip(turns, earlier, strict=False):
        messages += [{"role": "user", "content": said}, {"role": "assistant", "content": answered}]
    return (*messages, {"role": "user", "content": turns[len(earlier)]})


def request_of(sheet: Sheet, *, model_pk: int, entrant_pk: int, prompt_pk: int, earlier: Sequence[str]) -> Request:
    model, generation = sheet.models[model_pk], sheet.suite.generation
    return Request(
        model_id=model.model_id,
        messages=messages_of(sheet.suite, model, sheet.entrants[entrant_pk], sheet.prompts[prompt_pk], earlier),
        temperature=generation.temperature,
        max_tokens=generation.max_tokens,
        parameters={**generation.parameters, **model.parameters},
        provider_order=sheet.suite.provider_order,
        price=price_of_model(model, sheet.profiles[model_pk]),
        format=sheet.run.format,
    )


def reservation(request: Request) -> int | None:
    """The most this call can cost, in nano-dollars; None without a price."""
    return upper_bound_nano(prompt_size(request.messages), request.max_tokens or 0, request.price)


def deadline_of(profile: Profile) -> float:
    return min(profile.timeout, settings.DRAW_DEADLINE)
