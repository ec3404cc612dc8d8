"""Prices that a suite leaves open, asked of the provider: a hard budget needs to know what a call can cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils.timezone import now

from benchsite.lib.text import clean_text
from generation.drawing import settling
from generation.models import Event, LanguageModel, ProviderCall, Run, Sample
from generation.money import BILLED_FOR_AN_IMAGE, nano, prompt_size, upper_bound_nano
from generation.providers.catalogue import ModelInfo
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.providers.requests import Request
from generation.runs.billing import book_cost
from generation.runs.expansion import models_without_price
from generation.runs.loaded import LoadedRun, load_run

log = structlog.get_logger(__name__)
CHECKS_AT_ONCE = 20
LATELY = timedelta(days=1)  # longer than an outage
NAMED = 5  # models in one sentence
OUTAGE = Event.Verb.PRICES_NOT_LISTED
WAY_OUT = "give price_in and price_out in models.yaml and extend the run, or remove the budget when you extend it"
Database = Callable[..., Awaitable[Any]]


def models_to_price(loaded: LoadedRun) -> list[LanguageModel]:
    return [model for pk, model in loaded.models.items() if loaded.price_of(pk) is None]


def reservation_nano(request: Request) -> int | None:
    """The most this call can cost; None without a price."""
    size = prompt_size(request.messages, image=BILLED_FOR_AN_IMAGE)
    return upper_bound_nano(size, request.max_tokens or 0, request.price)


async def price_models(client: Client, loaded: LoadedRun, database: Database) -> None:
    """Fill in missing prices. A run with a budget is paused if one stays unknown: a cap that nobody can check is none.

    A provider that cannot be asked now is asked again; until then its models wait, and `awaited` says so.
    """
    missing, unlisted = models_to_price(loaded), []
    for provider in dict.fromkeys(model.provider for model in missing):
        models = [model for model in missing if model.provider == provider]
        try:
            listed = await client.list_models(loaded.profiles[models[0].pk])
        except ProviderError as error:
            log.warning("prices_not_listed", run=loaded.run.code, provider=provider, error=error.code)
            if error.kind == "pause_run":
                await database(_pause_unpriced, loaded.run.pk, models, error)
            elif error.kind == "retry" and error.code != "bad_response":
                await database(_note_outage, loaded.run.pk, provider, error)
            else:
                unlisted += models
        else:
            await database(_save_prices, models, listed)
            unlisted += models
    if unlisted:
        await database(_pause_unpriced, loaded.run.pk, unlisted)


def _save_prices(models: list[LanguageModel], listed: dict[str, ModelInfo]) -> None:
    """What a curator has given meanwhile stays as it is."""
    for model in models:
        info = listed.get(model.model_id)
        if info is not None and info.price is not None:
            LanguageModel.objects.filter(pk=model.pk).update(
                price_in_nano=Coalesce("price_in_nano", nano(info.price.input)),
                price_out_nano=Coalesce("price_out_nano", nano(info.price.output)),
                price_request_nano=Coalesce("price_request_nano", nano(info.price.request)),
                price_image_nano=Coalesce("price_image_nano", nano(info.price.image)),
            )


@transaction.atomic
def _pause_unpriced(run_id: int, asked: list[LanguageModel], error: ProviderError | None = None) -> None:
    """By the rows as they are now: while we asked, a curator may have given the price or taken the budget away."""
    loaded, pks = load_run(run_id), {model.pk for model in asked}
    still = [model.model_id for model in models_to_price(loaded) if model.pk in pks]
    if not still or loaded.run.budget_nano is None:
        return
    if error is not None:
        settling.pause(run_id, clean_text(error.detail)[0], code=error.code)
        return
    reason = f"The run has a budget, but the price of {_names(still)} is unknown: {WAY_OUT}. Then resume it."
    if loaded.judged:
        reason = f"The price of {_names(still)} is unknown, and nothing was asked: add this judge again with its price."
    settling.pause(run_id, reason, code="price_unknown")


def _note_outage(run_id: int, provider: str, error: ProviderError) -> None:
    """Why a run with a budget waits, once for each kind of error: a long outage must not fill the run's history."""
    capped = Run.objects.filter(pk=run_id, drawing_state=Run.Drawing.OPEN, budget_nano__isnull=False)
    noted = Event.objects.filter(run_id=run_id, verb=OUTAGE, subject=provider, facts__code=error.code)
    if capped.exists() and not noted.exists():
        reason = clean_text(error.detail)[0]
        Event.objects.create(run_id=run_id, verb=OUTAGE, subject=provider, reason=reason, facts={"code": error.code})


def awaited(run: Run) -> list[str]:
    """A sentence for each provider whose prices an open run with a budget waits for: which, why, and the way out."""
    if run.budget_nano is None or run.drawing_state != Run.Drawing.OPEN:
        return []
    waiting = run.samples.filter(state=Sample.State.PENDING).values("model")
    missing = models_without_price(run).filter(pk__in=waiting, refused_reason="").exclude(profile__kind="ollama")
    by_provider: dict[str, list[str]] = {}
    for provider, model_id in missing.values_list("provider", "model_id"):
        by_provider.setdefault(provider, []).append(model_id)
    outages = run.events.filter(verb=OUTAGE, subject__in=by_provider).order_by("at", "pk") if by_provider else ()
    newest = {event.subject: event.reason for event in outages}
    return [
        f"Waiting for the price of {_names(by_provider[provider])}: {provider} cannot be reached now ({why}) and is "
        f"tried again about every minute. To stop waiting, {WAY_OUT}. If its address is wrong, fix config/providers.yaml and "
        "start a new run."
        for provider, why in newest.items()
    ]


def _names(model_ids: list[str]) -> str:
    more = len(model_ids) - NAMED
    return ", ".join(model_ids[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _without_cost() -> QuerySet[ProviderCall]:
    ended = [outcome for outcome in ProviderCall.Outcome.values if outcome != ProviderCall.Outcome.OPEN]
    calls = ProviderCall.objects.filter(outcome__in=ended, cost_nano=None, cost_checks__lt=settings.MOST_COST_CHECKS)
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
    # By chance, because an error ends a round: a call that the provider always trips over must not hide the others.
    return list(calls.select_related("sample").order_by("?")[:CHECKS_AT_ONCE])


async def look_up_costs(client: Client, loaded: LoadedRun, database: Database) -> None:
    """Ask the provider what calls cost whose answer did not say it; until then their reservation is held."""
    for call in await database(_calls_without_cost, loaded.run.pk):
        profile = loaded.profiles.get(call.sample.model_id)
        if profile is None:
            continue
        try:
            cost = await client.lookup_cost(profile, call.generation_id)
        except ProviderError:
            return  # not counted as a check: it is asked again
        await database(book_cost, call, cost)
