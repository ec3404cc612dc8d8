"""What a crew finds out beside its turns, so that no drawing waits for it: prices, and what past calls cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from generation.drawing import pricing
from generation.drawing.questions import Sheet
from generation.providers.client import Client

COST_SECONDS = 15.0  # how soon a provider is asked again what calls cost
PRICE_SECONDS = 60.0  # and for prices that it did not tell

Work = Callable[[Client, Sheet, pricing.Database], Coroutine[Any, Any, None]]


class Errands:
    """For each run one of a kind at a time, and not again at once; `on_prices` is called when some may have become known."""

    def __init__(self, client: Client, database: pricing.Database, on_prices: Callable[[], None]) -> None:
        self.client, self.database, self.on_prices = client, database, on_prices
        self.tasks: dict[tuple[str, int], asyncio.Task[None]] = {}
        self.again_at: dict[tuple[str, int], float] = {}
        self.stopped = False

    def look_up_costs(self, sheet: Sheet) -> None:
        self._start("costs", pricing.look_up_costs, sheet, COST_SECONDS)

    def look_up_prices(self, sheet: Sheet) -> None:
        """Models wait for their price: as long as it takes where there is a budget, else until it was asked for once."""
        missing = pricing.unpriced(sheet)
        if sheet.run.budget_nano is not None or ("prices", sheet.run.pk) not in self.again_at:
            sheet.unpriced = {model.pk for model in missing}
        if missing:
            self._start("prices", pricing.price_models, sheet, PRICE_SECONDS, self.on_prices)

    def _start(
        self, kind: str, work: Work, sheet: Sheet, seconds: float, then: Callable[[], None] | None = None
    ) -> None:
        key = (kind, sheet.run.pk)
        if self.stopped or key in self.tasks or time.monotonic() < self.again_at.get(key, 0.0):
            return

        def done(_: asyncio.Task[None]) -> None:
            del self.tasks[key]
            self.again_at[key] = time.monotonic() + seconds
            if then is not None:
                then()

        self.tasks[key] = asyncio.create_task(work(self.client, sheet, self.database))
        self.tasks[key].add_done_callback(done)

    def stop(self) -> None:
        """Let go of all of them: each can be done again, and none is worth a worker's last seconds."""
        self.stopped = True
        for task in self.tasks.values():
            task.cancel()

    async def finish(self) -> None:
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
