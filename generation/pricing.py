"""Prices that a suite leaves open, asked of the provider: a hard budget needs to know what a call can cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.timezone import now

from generation import settling
from generation.asking import Sheet, price_of_model
from generation.models import LanguageModel, ProviderCall, Run
from generation.prices import nano
from generation.provider_errors import ProviderError
from generation.providers import Client

MOST_CHECKS = 5
CHECKS_AT_ONCE = 20
LATELY = timedelta(hours=1)
Database = Callable[..., Awaitable[Any]]


async def price_models(client: Client, sheet: Sheet, database: Database) -> None:
    """Fill in missing prices. A run with a budget is paused if one stays unknown: a cap that nobody can check is none."""
    missing = [model for pk, model in sheet.models.items() if price_of_model(model, sheet.profiles[pk]) is None]
    for provider in {model.provider for model in missing}:
        await _price(client, sheet, [model for model in missing if model.provider == provider], database)
    still = [model.model_id for model in missing if model.price_in_nano is None]
    if still and sheet.run.budget_nano is not None:
        reason = (
            f"The run has a budget, but nobody knows the price of {', '.join(still[:5])}: give price_in and price_out in "
            "models.yaml and extend the run, or take the budget away."
        )
        await database(settling.pause, sheet.run.pk, reason, code="price_unknown")


async def _price(client: Client, sheet: Sheet, models: list[LanguageModel], database: Database) -> None:
    try:
        listed = await client.list_models(sheet.profiles[models[0].pk])
    except ProviderError:
        return  # asking for a drawing will say the same in its own words
    for model in models:
        found = listed.get(model.model_id)
        if found is not None and found.price is not None:
            # In memory too, because this sheet's reservations are made from it.
            model.price_in_nano, model.price_out_nano = nano(found.price.input), nano(found.price.output)
            await database(model.save, update_fields=["price_in_nano", "price_out_nano"])


def _without_cost() -> QuerySet[ProviderCall]:
    ended = [outcome for outcome in ProviderCall.Outcome.values if outcome != ProviderCall.Outcome.OPEN]
    calls = ProviderCall.objects.filter(outcome__in=ended, cost_nano=None, cost_checks__lt=MOST_CHECKS)
    return calls.exclude(generation_id="")


def runs_to_price(run_id: int | None = None) -> list[int]:
    """Runs with calls of late whose cost may still be found out, whatever their state: this one, or all.

    The last calls of a run come back when nothing is due any more, and a paused run may wait for just this money.
    """
    calls = _without_cost().filter(lease_until__gte=now() - LATELY)
    if run_id is not None:
        calls = calls.filter(run_id=run_id)
    return list(calls.order_by().values_list("run_id", flat=True).distinct())


def _calls_without_cost(run_id: int) -> list[ProviderCall]:
    calls = _without_cost().filter(run_id=run_id)
    return list(calls.select_related("sample").order_by("cost_checks", "pk")[:CHECKS_AT_ONCE])


async def look_up_costs(client: Client, sheet: Sheet, database: Database) -> None:
    """Ask the provider what calls cost whose answer did not say it; until then their reservation is held."""
    for call in await database(_calls_without_cost, sheet.run.pk):
        profile = sheet.profiles.get(call.sample.model_id)
        if profile is None:
            continue
        try:
            cost = await client.lookup_cost(profile, call.generation_id)
        except ProviderError:
            return
        await database(book_cost, call, cost)


def book_cost(call: ProviderCall, cost_nano: int | None) -> bool:
    """Book a cost that became known later, once."""
    unknown = ProviderCall.objects.filter(pk=call.pk, cost_nano=None)
    if cost_nano is None:
        unknown.update(cost_checks=F("cost_checks") + 1)
        return False
    with transaction.atomic():
        if unknown.update(cost_nano=cost_nano, cost_checks=F("cost_checks") + 1) != 1:
            return False
        Run.objects.filter(pk=call.run_id).update(
            spent_nano=F("spent_nano") + cost_nano, reserved_nano=F("reserved_nano") - call.reserved_nano
        )
    return True
