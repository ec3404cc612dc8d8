"""A run's frozen rows, loaded once and used for many samples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from generation.formats import get_format
from generation.formats.base import Format
from generation.models import Entrant, LanguageModel, Prompt, ReferencePicture, Run
from generation.money import Price, price_of_nano
from generation.suites.profiles import Profile
from generation.suites.suite import Suite


@dataclass(frozen=True, eq=False)
class LoadedRun:
    """A run with its suite (without pictures), models, entrants and prompts by primary key."""

    run: Run
    suite: Suite
    models: dict[int, LanguageModel]
    entrants: dict[int, Entrant]
    prompts: dict[int, Prompt]
    more_names: tuple[str, ...] = ()  # of models that are about to join
    judged: Run | None = None  # whose drawings the models of this run judge

    @cached_property
    def format(self) -> Format:
        return get_format(self.run.format)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name by which a drawing in this run could sign itself."""
        names = [name for model in self.models.values() for name in (model.model_id, model.label)]
        names += [name for entrant in self.entrants.values() for name in (entrant.name, entrant.label, entrant.team)]
        return tuple(dict.fromkeys(name for name in (*names, *self.more_names) if name))

    @cached_property
    def profiles(self) -> dict[int, Profile]:
        return {pk: profile_of(model) for pk, model in self.models.items()}

    @cached_property
    def images(self) -> dict[str, str]:
        """Reference pictures by the key of their prompt."""
        return pictures_of(self.judged or self.run)

    def images_of(self, prompt: Prompt) -> tuple[str, ...]:
        """What a prompt shows: its reference picture, after the addresses of the drawings to be judged, if it is about any."""
        drawings = tuple(drawing_address(pk) for pk in drawings_in(prompt.facts)) if self.judged else ()
        image = self.images.get(prompt.facts.get("reference", "") if self.judged else prompt.key)
        return (*drawings, image) if image else drawings

    @cached_property
    def has_programs(self) -> bool:
        """Then a sample is claimed once a turn."""
        return any(entrant.turns or entrant.python for entrant in self.entrants.values())

    def price_of(self, model_pk: int) -> Price | None:
        model = self.models[model_pk]
        if self.profiles[model_pk].kind == "ollama":
            return Price(Decimal(0), Decimal(0))
        return price_of_nano(
            model.price_in_nano, model.price_out_nano, model.price_request_nano, model.price_image_nano
        )


def drawings_in(facts: Mapping[str, Any]) -> list[int]:
    """The drawings that a model judge's question is about, in the order in which it is shown them."""
    return [facts[place] for place in ("left", "right", "drawing") if place in facts]


def drawing_address(sample_pk: int) -> str:
    """Stands for a drawing in a request until it is sent."""
    return f"drawing:{sample_pk}"


def load_run(run_id: int) -> LoadedRun:
    run = Run.objects.select_related("judged_run").get(pk=run_id)
    return LoadedRun(
        run=run,
        suite=Suite.from_dict(run.config),
        models={row.pk: row for row in run.models.all()},
        entrants={row.pk: row for row in run.entrants.all()},
        prompts={row.pk: row for row in run.prompts.all()},
        judged=run.judged_run,
    )


def pictures_of(run: Run) -> dict[str, str]:
    return dict(ReferencePicture.objects.filter(prompt__run=run).values_list("prompt__key", "address"))


def whole_config(run: Run) -> dict[str, Any]:
    """The suite as it was when the run started, with its reference pictures."""
    pictures = pictures_of(run)
    prompts = [
        {**row, "image": pictures[row["key"]]} if row["key"] in pictures else row
        for row in run.config.get("prompts", ())
    ]
    return {**run.config, "prompts": prompts}


def whole_suite(run: Run) -> Suite:
    return Suite.from_dict(whole_config(run))


def profile_of(model: LanguageModel) -> Profile:
    """The frozen profile. The demo provider is local and may move, so its address is today's."""
    profile = Profile(**model.profile)
    return replace(profile, base_url=os.environ["DEMO_PROVIDER_URL"]) if profile.kind == "demo" else profile
