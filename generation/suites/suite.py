"""What a suite is, as frozen data that survives JSON exactly."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchsite.lib.frozen import from_json, to_json
from generation.suites.model_facts import ModelFacts
from generation.suites.studies.gold import Gold
from generation.suites.studies.study import Study


@dataclass(frozen=True)
class Generation:
    """How every model is asked: the seed's `generation:` block."""

    attempts_per_prompt: int
    temperature: float | None  # None leaves it to the provider
    max_tokens: int
    provider: str
    system_prompt: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Judging:
    """How people judge: shares of shared and repeated items, quotas, when names are shown, and how text stands on the page."""

    overlap: float = 0.2
    repeats: float = 0.05
    quota: int | None = None
    target: int | None = None
    reveal: str = "closed"
    instructions: str = ""
    faces: str = "stack"
    pairs: str = "balanced"
    gold: Gold | None = None
    study: Study | None = None


@dataclass(frozen=True)
class Dimension:
    """One thing a judge grades."""

    key: str
    label: str
    weight: float
    help: str = ""


@dataclass(frozen=True)
class Stage:
    """Prompts graded on the same dimensions; a prompt's category is its stage's key."""

    key: str
    label: str
    weight: float
    dimensions: tuple[Dimension, ...]


@dataclass(frozen=True)
class Rubric:
    """The scale, and the stages with their weights; `missing` says whether an absent item scores zero."""

    step: float
    low: float
    high: float
    missing: str
    stages: tuple[Stage, ...]

    def fault(self, value: Any) -> str:
        """Why a value is no grade, or nothing."""
        if type(value) not in (int, float) or not self.low <= value <= self.high:
            return f"{repr(value)[:60]} is not a number from {self.low:g} to {self.high:g}."
        steps = (value - self.low) / self.step
        on_scale = math.isclose(steps, round(steps), abs_tol=1e-6)
        return "" if on_scale else f"{repr(value)[:60]} is not on the scale's steps of {self.step:g}."

    def stage(self, key: str) -> Stage:
        return next(stage for stage in self.stages if stage.key == key)


@dataclass(frozen=True)
class Category:
    """A group of prompts with its own leaderboard."""

    key: str
    label: str
    description: str = ""


@dataclass(frozen=True)
class ModelEntry:
    """One language model; provider "" means the suite's.

    Prices are USD per million tokens in and out, per request and per picture in it; None where unknown.
    """

    id: str
    label: str
    provider: str = ""
    note: str = ""
    extra_prompt: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    price_in: float | None = None
    price_out: float | None = None
    price_request: float | None = None
    price_image: float | None = None
    facts: ModelFacts = field(default_factory=ModelFacts)


@dataclass(frozen=True)
class PromptEntry:
    """One thing asked; `facts` go to the format (such as the target letter) and to pages (`description`)."""

    key: str
    text: str
    category: str = ""
    subject: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    image: str = ""  # a reference picture that models are shown, as a data address


@dataclass(frozen=True)
class ProgramEntry:
    """A prompt program: one or more turns with a {{target}}; `disqualified` holds the reason, or "".

    One with a `source` instead of turns runs elsewhere: its answers are imported, and the source is kept to be looked at.
    One with `python` is that source, run here in a sandbox.
    """

    name: str
    team: str
    turns: tuple[str, ...]
    baseline: bool = False
    disqualified: str = ""
    note: str = ""
    source: str = ""
    python: str = ""

    @property
    def length(self) -> int:
        """Characters of all turns or of the source, as the ranking policy counts them."""
        return sum(len(turn) for turn in self.turns) + len(self.source) + len(self.python)

    @property
    def runs_elsewhere(self) -> bool:
        return bool(self.source) and not self.turns


@dataclass(frozen=True)
class ProgramRules:
    """What a prompt program must keep to."""

    max_characters: int = 10_000
    max_turns: int = 10
    max_question: int = 20_000  # bytes that a Python program may ask at once


@dataclass(frozen=True)
class Suite:
    """A benchmark as data: what is asked of whom, how it is read, and how it is scored."""

    slug: str
    title: str
    description: str
    method: str
    format: str
    protocols: tuple[str, ...]
    seed: int
    generation: Generation
    models: tuple[ModelEntry, ...]
    prompts: tuple[PromptEntry, ...]
    concurrency: int = 8
    budget_usd: float | None = None
    provider_order: tuple[str, ...] = ()
    judging: Judging = field(default_factory=Judging)
    rubric: Rubric | None = None
    categories: tuple[Category, ...] = ()
    programs: tuple[ProgramEntry, ...] = ()
    program_rules: ProgramRules = field(default_factory=ProgramRules)
    format_options: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Without the study: it has versions of its own, and its codes are no part of what a run publishes."""
        document: dict[str, Any] = to_json(self)
        document["judging"].pop("study")
        return document

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Suite:
        """The suite a dict was made from; keys that are absent get today's defaults, so that old runs stay readable."""
        suite: Suite = from_json(cls, data)
        return suite

    def digest(self) -> str:
        """SHA-256 of the canonical JSON: equal suites, equal digests, on every machine."""
        body = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(body.encode()).hexdigest()


def without_pictures(config: Mapping[str, Any]) -> dict[str, Any]:
    """A suite's dict as a run keeps it: megabytes of pictures have their own rows."""
    prompts = [{**row, "image": ""} if row.get("image") else row for row in config.get("prompts", ())]
    return {**config, "prompts": prompts}
