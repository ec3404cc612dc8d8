"""A small run of any suite by the demo players, so that everything can be tried without a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from generation.suites import yaml_fields as read
from generation.suites.loading import read_model_list
from generation.suites.suite import ModelEntry, PromptEntry, Suite
from generation.suites.yaml_fields import optional
from generation.suites.yaml_source import Node, load_yaml


@dataclass(frozen=True)
class DemoSize:
    """How much of a suite a demo run draws; `models` is how many of the players take part, None for all.

    `finished`: judging is closed once the simulated judges are done, so that everybody may see its drawings and names.
    `judged` is how many pairs or drawings simulated model judges are asked about.
    """

    prompts: int
    attempts: int
    models: int | None = None
    finished: bool = False
    judged: int = 100


@dataclass(frozen=True)
class Demo:
    """The demo players and the size of each suite's demo run."""

    provider: str
    models: tuple[ModelEntry, ...]
    size: DemoSize
    suites: dict[str, DemoSize] = field(default_factory=dict)

    def size_of(self, slug: str) -> DemoSize:
        return self.suites.get(slug, self.size)


def load_demo(path: Path) -> Demo:
    fields = read.mapping(load_yaml(path), ("provider", "models", "size", "suites"), ("provider", "models", "size"))
    sizes: dict[str, Node] = optional(fields, "suites", lambda node: read.having(node, ()), {})
    return Demo(
        provider=read.key(fields["provider"]),
        models=read_model_list(fields["models"]),
        size=_size(fields["size"]),
        suites={slug: _size(node) for slug, node in sizes.items()},
    )


def _size(node: Node) -> DemoSize:
    fields = read.mapping(node, ("prompts", "attempts", "models", "finished", "judged"), ("prompts", "attempts"))
    return DemoSize(
        prompts=read.integer(fields["prompts"], 1, 1000),
        attempts=read.integer(fields["attempts"], 1, 100),
        models=optional(fields, "models", lambda child: read.integer(child, 1, 100), None),
        finished=optional(fields, "finished", read.boolean, False),
        judged=optional(fields, "judged", lambda child: read.integer(child, 1, 20_000), DemoSize.judged),
    )


def demo_variant(suite: Suite, *, demo: Demo) -> Suite:
    """The suite with the demo players instead of its models, a few prompts of every category, and a title that says so."""
    size = demo.size_of(suite.slug)
    players = spread(demo.models, size.models) if size.models else demo.models
    return replace(
        suite,
        title=f"{suite.title} (demo)",
        models=tuple(replace(player, provider=demo.provider) for player in players),
        prompts=few_prompts(suite.prompts, size.prompts),
        generation=replace(suite.generation, provider=demo.provider, attempts_per_prompt=size.attempts, parameters={}),
        provider_order=(),
    )


def spread(models: Sequence[ModelEntry], count: int) -> tuple[ModelEntry, ...]:
    """`count` of the players, first and last among them: they are listed by skill."""
    if count >= len(models):
        return tuple(models)
    last = len(models) - 1
    return tuple(models[round(place * last / max(count - 1, 1))] for place in range(count))


def few_prompts(prompts: Sequence[PromptEntry], count: int) -> tuple[PromptEntry, ...]:
    """The first prompts of every category in turn, `count` in all, in the suite's own order."""
    groups: dict[str, list[PromptEntry]] = {}
    for prompt in prompts:
        groups.setdefault(prompt.category, []).append(prompt)
    turns = [prompt for row in zip_longest(*groups.values()) for prompt in row if prompt is not None]
    chosen = {prompt.key for prompt in turns[:count]}
    return tuple(prompt for prompt in prompts if prompt.key in chosen)
