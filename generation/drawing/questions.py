"""What one sample asks of its model, and how the call ended."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

from generation.drawing.pictures import Shown
from generation.formats.silence import FINISH_OF, PROGRAM_ERROR
from generation.models import Entrant, LanguageModel, Prompt
from generation.providers.errors import ProviderError
from generation.providers.replies import Reply
from generation.providers.requests import Request
from generation.runs.loaded import LoadedRun
from generation.sandbox.programs import Outcome, Step
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
    step: Step | None = (
        None  # a Python program is run for its next question; no model is asked, and `request` has no words
    )
    shown: Shown | None = None  # drawings that the model is to judge, as pictures
    asked: tuple[dict[str, Any], ...] = ()  # what a Python program asked so far, this question with it

    @property
    def turn(self) -> int:
        return len(self.earlier)

    @property
    def priced(self) -> bool:
        return self.step is not None or self.request.price is not None


@dataclass(frozen=True)
class Ended:
    """A call that came back: with a reply, or with an error."""

    question: Question
    reply: Reply | None = None
    error: ProviderError | None = None
    outcome: Outcome | None = None  # of a Python program's step

    @property
    def failure(self) -> ProviderError:
        assert self.error is not None  # where there is no reply
        return self.error

    @property
    def answer(self) -> Reply | None:
        """What is stored for good: the reply of the last turn, or the silence of a model that will say no more."""
        if self.outcome is not None:
            return self._chosen(self.outcome)
        return self.reply if self.reply and self.question.last_turn else self._silence

    def _chosen(self, outcome: Outcome) -> Reply | None:
        """What a Python program ended with: an answer of the model's, with how that one ended, or nothing."""
        if outcome.answer is None:
            return _reply("", PROGRAM_ERROR) if outcome.error else None
        last = max(index for index, text in enumerate(self.question.earlier) if text == outcome.answer)
        asked = self.question.asked[last]
        return _reply(outcome.answer, asked.get("finish_reason", ""), completion_tokens=asked.get("completion_tokens"))

    @property
    def _silence(self) -> Reply | None:
        error = self.error
        if error is None or error.code not in FINISH_OF:
            return None
        if error.kind == "retry" and self.question.claims < settings.MAX_CLAIMS:
            return None
        return _reply(
            "",
            FINISH_OF[error.code],
            completion_tokens=error.completion_tokens,
            cost_nano=error.cost_nano,
            generation_id=error.generation_id,
            raw_bytes=error.partial,
        )

    @property
    def cost_nano(self) -> int | None:
        if self.outcome is not None:
            return 0
        return self.reply.cost_nano if self.reply else self.failure.cost_nano

    @property
    def is_failure(self) -> bool:
        """Whether it speaks against the model being served at all."""
        return self.error is not None and self.error.kind == "retry" and self.error.code not in THROTTLED


def _reply(text: str, finish_reason: str, *, raw_bytes: bytes | None = None, **known: Any) -> Reply:
    """An answer that came without a call of its own, or without words."""
    nothing: dict[str, Any] = {"prompt_tokens": None, "completion_tokens": None, "cost_nano": None}
    nothing |= {"generation_id": "", "served_model": "", "served_provider": "", "flags": (), "latency_ms": 0}
    raw = text.encode() if raw_bytes is None else raw_bytes
    return Reply(text=text, finish_reason=finish_reason, raw_bytes=raw, **nothing | known)


def messages_of(
    suite: Suite,
    model: LanguageModel,
    entrant: Entrant,
    prompt: Prompt,
    earlier: Sequence[str],
    images: Sequence[str] = (),
    asked: Sequence[Mapping[str, Any]] = (),
) -> tuple[dict[str, Any], ...]:
    """The conversation up to the next turn: a model gets the prompt, a program gets its own turns about the target.

    What a Python program asked last is a conversation by itself. The prompt's pictures go with the user's first words.
    """
    messages: list[dict[str, Any]] = []
    if suite.generation.system_prompt:
        messages.append({"role": "system", "content": suite.generation.system_prompt})
    if asked:
        messages += [dict(message) for message in asked[-1]["messages"]]
    else:
        turns = [fill_placeholders(turn, {TARGET: target_of(prompt)}) for turn in entrant.turns] or [prompt.text]
        for turn, answer in zip(turns, earlier, strict=False):
            messages += [{"role": "user", "content": turn}, {"role": "assistant", "content": answer}]
        messages.append({"role": "user", "content": turns[len(earlier)]})
    first = next(message for message in messages if message["role"] == "user")
    if model.extra_prompt:
        first["content"] = f"{first['content']}\n\n{model.extra_prompt}"
    if images:
        first["images"] = tuple(images)
    return tuple(messages)


def target_of(prompt: Prompt) -> str:
    return str(prompt.facts.get(TARGET) or prompt.subject or prompt.text)


def request_of(
    loaded: LoadedRun,
    *,
    model_pk: int,
    entrant_pk: int,
    prompt_pk: int,
    attempt: int,
    earlier: Sequence[str],
    asked: Sequence[Mapping[str, Any]] = (),
    claims: int = 0,
) -> Request:
    model, generation, prompt = loaded.models[model_pk], loaded.suite.generation, loaded.prompts[prompt_pk]
    images, entrant, price = loaded.images_of(prompt), loaded.entrants[entrant_pk], loaded.price_of(model_pk)
    again = claims if loaded.format.asks_again else 0  # the same seed would give the same answer again
    waits = entrant.python and len(asked) == len(earlier)  # for its program: there is nothing to ask yet
    return Request(
        model_id=model.model_id,
        messages=() if waits else messages_of(loaded.suite, model, entrant, prompt, earlier, images, asked),
        temperature=generation.temperature,
        max_tokens=generation.max_tokens,
        parameters={**generation.parameters, **model.parameters},
        provider_order=loaded.suite.provider_order,
        price=price and price.with_images(len(images)),
        seed=seed_of(loaded.suite.seed, prompt.key, attempt, len(earlier), *([again] if again else ())),
        schema=loaded.format.answer_schema(prompt.facts),
        format=loaded.run.format,
    )


def seed_of(*about: object) -> int:
    """The same for the same turn of the same attempt at a prompt, in every run of a suite."""
    return zlib.crc32("/".join(map(str, about)).encode()) >> 1


def deadline_of(profile: Profile) -> float:
    return min(profile.timeout, settings.DRAW_DEADLINE)
