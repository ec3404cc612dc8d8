"""`manage.py check_provider SUITE`: is the key valid, does each model exist, and what can a run cost?"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from generation.config import ModelEntry, Profile, Suite, SuiteError, load_profiles
from generation.demo_suites import demo_variant, load_demo
from generation.management.run_commands import find_suite
from generation.models import NANO
from generation.provider_errors import ProviderError
from generation.providers import Client, KeyInfo, ModelInfo
from generation.suite_costs import cost_bound_nano, sample_count
from generation.text import visible


class Command(BaseCommand):
    """Asks the provider for its list of models, and for nothing that costs."""

    help = "Check keys, model ids and prices of a suite before a run; says the most a run can cost. Costs nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("suite")
        parser.add_argument("--demo", action="store_true", help="check the demo players")

    def handle(self, *args: Any, suite: str, demo: bool, **options: Any) -> None:
        found = find_suite(suite)
        try:
            profiles = load_profiles(settings.SUITES_DIR / "providers.yaml")
            if demo:
                found = demo_variant(found, demo=load_demo(settings.SUITES_DIR / "demo.yaml"))
        except SuiteError as error:
            raise CommandError(visible(str(error))) from None
        wrong, priced = [], []
        for name in dict.fromkeys(entry.provider or found.generation.provider for entry in found.models):
            entries = [entry for entry in found.models if (entry.provider or found.generation.provider) == name]
            try:
                key, listed = asyncio.run(ask_provider(profiles[name]))
            except ProviderError as error:
                raise CommandError(visible(f"{name}: {error.detail}")) from None
            self.stdout.write(visible(describe_key(name, key)))
            for entry in entries:
                self.stdout.write(visible(describe_model(entry, listed.get(entry.id))))
                wrong += [] if entry.id in listed else [entry.id]
                priced.append(with_price(entry, listed.get(entry.id)))
        self.stdout.write(describe_cost(replace(found, models=tuple(priced))))
        if wrong:
            raise CommandError(visible(f"Not offered by the provider: {', '.join(wrong)}."))


async def ask_provider(profile: Profile) -> tuple[KeyInfo, dict[str, ModelInfo]]:
    async with Client() as client:
        return await client.check_key(profile), await client.list_models(profile)


def describe_key(name: str, key: KeyInfo) -> str:
    if key.limit_nano is None:
        return f"{name}: the key is accepted."
    used = (key.usage_nano or 0) / NANO
    return f"{name}: the key is accepted; US$ {used:.2f} of {key.limit_nano / NANO:.2f} are used."


def describe_model(entry: ModelEntry, info: ModelInfo | None) -> str:
    if info is None:
        return f"  {entry.id}: the provider does not offer it"
    if info.price is None:
        return f"  {entry.id}: offered, price not listed"
    return f"  {entry.id}: offered, US$ {info.price.input.normalize():f} in and {info.price.output.normalize():f} out per million tokens"


def with_price(entry: ModelEntry, info: ModelInfo | None) -> ModelEntry:
    """The suite's own price where it has one, else the provider's."""
    if entry.price_in is not None or info is None or info.price is None:
        return entry
    return replace(entry, price_in=float(info.price.input), price_out=float(info.price.output))


def describe_cost(suite: Suite) -> str:
    bound = cost_bound_nano(suite)
    most = (
        "an unknown amount: a price is missing" if bound is None else f"at most US$ {bound / NANO:.4f} without retries"
    )
    return f"{sample_count(suite)} samples; a whole run costs {most}."
