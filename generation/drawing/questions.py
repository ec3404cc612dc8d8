"""What one sample asks of its model, and how the call ended."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

from generation.formats.silence import FINISH_OF
from generation.models import Entrant, LanguageModel, Prompt
from generation.providers.errors import ProviderError
from generation.providers.replies import Reply
from generation.providers.requests import Request
from generation.runs.loaded import LoadedRun
from generation.suites.profiles import Profile
from generation.suites.programs import TARGET
from generation.suites.prompts import fill_placeholders
from generation.suites.suite import Suite

# The provider asked us to wait: that says nothing against the sample, so the claim is given back.
THROTTLED = frozenset({"rate_limited", "in_flight_budget"})


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


@dataclass(frozen=True)
class Ended:
    """A call that came back: with a reply, or with an error."""

    question: Question
    reply: Reply | None = None
    error: ProviderError | None = None

    @property
    def failure(self) -> ProviderError:
        assert self.error is not None  # where there is no reply
        return self.error

    @property
    def answer(self) -> Reply | None:
        """What is stored for good: the reply of the last turn, or the silence of a model that will say no more."""
        return self.reply if self.reply and self.question.last_turn else self._silence

    @property
    def _silence(self) -> Reply | None:
        error = self.error
        if error is None or error.code not in FINISH_OF:
            return None
        if error.kind == "retry" and self.question.claims < settings.MAX_CLAIMS:
            return None
        return Reply(
            text="",
            finish_reason=FINISH_OF[error.code],
            prompt_tokens=None,
            completion_tokens=error.completion_tokens,
            cost_nano=error.cost_nano,
            generation_id=error.generation_id,
            served_model="",
            served_provider="",
            flags=(),
            latency_ms=0,
            raw_bytes=error.partial,
        )

    @property
    def cost_nano(self) -> int | None:
        return self.reply.cost_nano if self.reply else self.failure.cost_nano

    @property
    def is_failure(self) -> bool:
        """Whether it speaks against the model being served at all."""
        return self.error is not None and self.error.kind == "retry" and self.error.code not in THROTTLED


def messages_of(
    suite: Suite, model: LanguageModel, entrant: Entrant, prompt: Prompt, earlier: Sequence[str], image: str = ""
) -> tuple[dict[str, Any], ...]:
    """The conversation up to the next turn: a model gets the prompt, a program gets its own turns about the target.

    The prompt's reference picture goes with the first of them.
    """
    target = str(prompt.facts.get(TARGET) or prompt.subject or prompt.text)
    turns = [fill_placeholders(turn, {TARGET: target}) for turn in entrant.turns] or [prompt.text]
    if model.extra_prompt:
        turns[0] = f"{turns[0]}\n\n{model.extra_prompt}"
    messages: list[dict[str, Any]] = []
    if suite.generation.system_prompt:
        messages.append({"role": "system", "content": suite.generation.system_prompt})
    for turn, answer in zip(turns, earlier, strict=False):
        messages += [{"role": "user", "content": turn}, {"role": "assistant", "content": answer}]
    messages.append({"role": "user", "content": turns[len(earlier)]})
    if image:
        next(message for message in messages if message["role"] == "user")["images"] = (image,)
    return tuple(messages)


def request_of(
    loaded: LoadedRun, *, model_pk: int, entrant_pk: int, prompt_pk: int, attempt: int, earlier: Sequence[str]
) -> Request:
    model, generation, prompt = loaded.models[model_pk], loaded.suite.generation, loaded.prompts[prompt_pk]
    image = loaded.images.get(prompt.key, "")
    return Request(
        model_id=model.model_id,
        messages=messages_of(loaded.suite, model, loaded.entrants[entrant_pk], prompt, earlier, image),
        temperature=generation.temperature,
        max_tokens=generation.max_tokens,
        parameters={**generation.parameters, **model.parameters},
        provider_order=loaded.suite.provider_order,
        price=loaded.price_of(model_pk),
        seed=seed_of(loaded.suite.seed, prompt.key, attempt, len(earlier)),
        format=loaded.run.format,
    )


def seed_of(*about: object) -> int:
    """The same for the same turn of the same attempt at a prompt, in every run of a suite."""
    return zlib.crc32("/".join(map(str, about)).encode()) >> 1


def deadline_of(profile: Profile) -> float:
    return min(profile.timeout, settings.DRAW_DEADLINE)
