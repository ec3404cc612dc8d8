"""What a crew finds out beside its turns, so that no drawing waits for it: prices, and what past calls cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from django.conf import settings

from generation.drawing import pricing
from generation.drawing.active import ActiveRun
from generation.providers.client import Client
from generation.runs.loaded import LoadedRun

COST_SECONDS = 15.0  # how soon a provider is asked again what calls cost

Work = Callable[[Client, LoadedRun, pricing.Database], Coroutine[Any, Any, None]]


class Lookups:
    """For each run one of a kind at a time, and not again at once; `on_prices` is called when some may have become known."""

    def __init__(self, client: Client, database: pricing.Database, on_prices: Callable[[], None]) -> None:
        self.client, self.database, self.on_prices = client, database, on_prices
        self.tasks: dict[tuple[str, int], asyncio.Task[None]] = {}
        self.again_at: dict[tuple[str, int], float] = {}
        self.stopped = False

    def costs(self, loaded: LoadedRun) -> None:
        self._start("costs", pricing.look_up_costs, loaded, COST_SECONDS)

    def prices(self, active: ActiveRun) -> None:
        """Models wait for their price: as long as it takes where there is a budget, else until it was asked for once."""
        loaded = active.loaded
        missing = pricing.models_to_price(loaded)
        if loaded.run.budget_nano is not None or ("prices", loaded.run.pk) not in self.again_at:
            active.unpriced = {model.pk for model in missing}
        if missing:
            self._start("prices", pricing.price_models, loaded, settings.PRICE_SECONDS, self.on_prices)

    def _start(
        self, kind: str, work: Work, loaded: LoadedRun, seconds: float, then: Callable[[], None] | None = None
    ) -> None:
        key = (kind, loaded.run.pk)
        if self.stopped or key in self.tasks or time.monotonic() < self.again_at.get(key, 0.0):
            return

        def done(_: asyncio.Task[None]) -> None:
            del self.tasks[key]
            self.again_at[key] = time.monotonic() + seconds
            if then is not None:
                then()

        self.tasks[key] = asyncio.create_task(work(self.client, loaded, self.database))
        self.tasks[key].add_done_callback(done)

    def stop(self) -> None:
        """Let go of all of them: each can be done again, and none is worth a worker's last seconds."""
        self.stopped = True
        for task in self.tasks.values():
            task.cancel()

    async def finish(self) -> None:
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
