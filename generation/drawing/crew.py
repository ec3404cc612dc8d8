"""The crew: one event loop and one HTTP client that ask many models at once, and one thread that speaks to the database.

Each turn at the database settles all that has come back and claims as much as there is room for, so that its cost is
shared by many samples. A crew is told nothing but "look": what is due, it finds in the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import structlog
from django.conf import settings

from benchsite.lib.database.errors import is_away
from benchsite.tracing import span
from generation.drawing import pricing
from generation.drawing import turns as drawing
from generation.drawing.active import ActiveRun
from generation.drawing.database import DatabaseThread
from generation.drawing.due import runs_to_draw, seconds_to_due
from generation.drawing.limits import Limits
from generation.drawing.lookups import Lookups
from generation.drawing.questions import Ended, Question
from generation.drawing.silence import Silence
from generation.drawing.sweeping import finish_runs
from generation.drawing.workers import note_alive, worker_name
from generation.models import Run
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.runs.loaded import load_run

log = structlog.get_logger(__name__)

TURN_SIZE = 8  # a turn is short, so that calls are sent again while the next answers are read
GATHER_SECONDS = 0.01  # answers that arrive this close together share a turn at the database
GRACE_SECONDS = 8.0  # how long calls in flight may go on after we were asked to stop


@dataclass
class Tally:
    """What a crew has done so far."""

    drawn: int = 0
    failed: int = 0
    asked: int = 0
    in_flight: int = 0
    awaited: list[str] = field(default_factory=list)  # prices that runs wait for, in words


async def draw(
    *,
    run_id: int | None = None,
    concurrency: int | None = None,
    seconds: float | None = None,
    patience: float = 0.0,
    report: Callable[[Tally], None] | None = None,
    on_backlog: Callable[[], None] | None = None,
) -> Tally:
    """Draw what is due, in one run or in all, until nothing is due within `patience` or `seconds` are over.

    `on_backlog` is called once if there is more work than this crew can take on.
    """
    async with Client() as client:
        crew = Crew(client, run_id=run_id, concurrency=concurrency, report=report, on_backlog=on_backlog)
        with crew.signals():
            return await crew.work(seconds=seconds, patience=patience)


class Crew:
    """Holds what the turns of one crew share; use `draw`."""

    def __init__(
        self,
        client: Client,
        *,
        run_id: int | None,
        concurrency: int | None,
        report: Callable[[Tally], None] | None,
        on_backlog: Callable[[], None] | None,
    ) -> None:
        self.client, self.run_id, self.concurrency = client, run_id, concurrency
        self.report, self.on_backlog = report, on_backlog
        self.runs: dict[int, ActiveRun] = {}
        self.worker, self.alive_at = worker_name(), 0.0
        self.tally = Tally()
        self.stopping = asyncio.Event()
        self.changed = asyncio.Event()
        self.limits = Limits(concurrency)
        self.silence = Silence()
        self.reload_at = 0.0
        self.unpriced: list[Run] = []  # runs whose models wait for a price; that one became known wakes the crew
        self.more = False  # whether there is more to settle or to claim right now
        self.database = DatabaseThread(self.stopping, patience=GRACE_SECONDS / 4)
        self.lookups = Lookups(client, self.database, self._reload_soon)

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C end the crew gently: nothing new is claimed, calls in flight may come back."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def stop(self) -> None:
        self.stopping.set()
        self.lookups.stop()
        self.changed.set()

    async def work(self, *, seconds: float | None, patience: float) -> Tally:
        end = time.monotonic() + seconds if seconds is not None else float("inf")
        try:
            while not self.stopping.is_set() and time.monotonic() < end:
                await self._reload()
                await self._turns(claiming=True)
                if not self._busy() and not await self._wait_for_due(patience):
                    break
                await self._pause_for_change()
            await self._finish()
        finally:
            await self.database.close()
        return self.tally

    def _busy(self) -> bool:
        return any(active.flying or active.ended for active in self.runs.values())

    async def _reload(self) -> None:
        if time.monotonic() < self.reload_at:
            return
        self.reload_at = time.monotonic() + settings.DRAW_RELOAD_SECONDS
        due = await self.database(runs_to_draw, self.run_id)
        for run_id in await self.database(pricing.runs_to_price, self.run_id):
            if run_id not in due:
                self.lookups.costs(await self.database(load_run, run_id))
        for run_id in due:
            loaded = await self.database(load_run, run_id)
            active = self.runs.setdefault(run_id, ActiveRun(loaded, self.worker))
            active.reload(loaded)
            self.lookups.prices(active)
            self.lookups.costs(loaded)
        self.unpriced = [self.runs[run_id].loaded.run for run_id in due if self.runs[run_id].unpriced]
        self.tally.awaited = [
            sentence for run in self.unpriced for sentence in await self.database(pricing.awaited, run)
        ]

    def _reload_soon(self) -> None:
        self.reload_at = 0.0
        self.changed.set()

    async def _turns(self, *, claiming: bool) -> None:
        self.more = False
        for active in list(self.runs.values()):
            ended, active.ended = active.ended[:TURN_SIZE], active.ended[TURN_SIZE:]
            wanted = min(self._room(active), TURN_SIZE) if claiming and time.monotonic() >= active.look_at else 0
            if ended or wanted:
                await self._turn(active, ended, wanted)
            self.more |= bool(active.ended)
        self.tally.in_flight = sum(len(active.flying) for active in self.runs.values())
        if self.tally.in_flight:
            self.silence.look_around(question.profile for run in self.runs.values() for question in run.flying.values())
            if time.monotonic() >= self.alive_at:
                self.alive_at = time.monotonic() + settings.ALIVE_SECONDS
                await self.database(note_alive, self.worker)
        if self.report is not None:
            self.report(self.tally)

    async def _turn(self, active: ActiveRun, ended: list[Ended], wanted: int) -> None:
        full = wanted == self._room(active)
        turn = await self._take_turn(active, ended, wanted)
        if len(turn.questions) < wanted:
            active.look_at = 0.0 if ended or active.ended else time.monotonic() + settings.DRAW_IDLE_SECONDS
        elif wanted:
            self.more |= not full
            if full and self.on_backlog is not None:
                await self.database(self.on_backlog)
                self.on_backlog = None
        for question in turn.questions:
            self._send(active, question)
        self.tally.drawn += turn.drawn
        self.tally.failed += turn.failed

    async def _take_turn(self, active: ActiveRun, ended: list[Ended], wanted: int) -> drawing.Turn:
        flying = [question.profile for other in self.runs.values() for question in other.flying.values()]
        room = self.limits.room(active.loaded.profiles.values(), flying) if wanted else None
        try:
            return await self.database(drawing.take_turn, active, ended=ended, wanted=wanted, room=room)
        except Exception as error:
            if is_away(error):
                raise
            log.exception("turn_failed", run=active.loaded.run.code, ended=len(ended))
            return await self._one_by_one(active, ended)

    async def _one_by_one(self, active: ActiveRun, ended: list[Ended]) -> drawing.Turn:
        """One answer that no row can hold must not take the others with it."""
        drawn = failed = 0
        for item in ended:
            try:
                turn = await self.database(drawing.settle, active, [item])
            except Exception as error:
                if is_away(error):
                    raise
                detail = f"Storing the answer failed: {type(error).__name__}."
                broken = ProviderError("fatal_attempt", "not_storable", detail, cost_nano=item.cost_nano)
                turn = await self.database(drawing.settle, active, [Ended(item.question, error=broken)])
            drawn, failed = drawn + turn.drawn, failed + turn.failed
        return drawing.Turn([], drawn, failed)

    def _send(self, active: ActiveRun, question: Question) -> None:
        task = asyncio.create_task(self._ask(active, question))
        active.flying[task] = question
        self.tally.asked += 1

    async def _ask(self, active: ActiveRun, question: Question) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            with span("provider call", sample=question.sample_id, claim=question.claims):
                ended = await drawing.ask(self.client, question)
        except asyncio.CancelledError:
            lost = ProviderError("retry", "worker_stopped", "The worker was stopped in mid-call.", cost_nano=None)
            ended = Ended(question, error=lost)
        except Exception as error:
            log.exception("ask_failed", model=question.request.model_id)
            detail = f"Our own client failed: {type(error).__name__}."
            ended = Ended(question, error=ProviderError("retry", "client_failed", detail, cost_nano=None))
        self.silence.heard(question.profile)
        active.ended.append(ended)
        active.flying.pop(task, None)
        active.look_at = 0.0
        if question.step is None:
            self.limits.note(question.profile, ended)
        self.changed.set()

    def _room(self, active: ActiveRun) -> int:
        """An answer that is not stored yet takes up a place too: a kill never costs more calls than the concurrency."""
        return max((self.concurrency or active.loaded.run.concurrency) - len(active.flying) - len(active.ended), 0)

    async def _wait_for_due(self, patience: float) -> bool:
        """Whether something is due soon enough to stay for it."""
        wait = await self.database(seconds_to_due, self.run_id)
        if wait is None or wait > patience:
            return False
        await self._wait_for_change(
            settings.DRAW_IDLE_SECONDS if self.unpriced else min(max(wait, 0.25), settings.DRAW_IDLE_SECONDS)
        )
        self.changed.clear()
        if not self.unpriced:
            self.reload_at = 0.0
        for active in self.runs.values():
            active.look_at = 0.0
        return True

    async def _pause_for_change(self) -> None:
        if self.more or not self._busy():
            return
        await self._wait_for_change(settings.DRAW_IDLE_SECONDS)
        if sum(len(active.flying) for active in self.runs.values()) > 1:
            await asyncio.sleep(GATHER_SECONDS)
        self.changed.clear()

    async def _wait_for_change(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.changed.wait(), timeout=seconds)

    async def _finish(self) -> None:
        """Let calls in flight come back (for a while, if we were told to stop), and settle them."""
        until = time.monotonic() + GRACE_SECONDS
        while self._busy():
            if self.stopping.is_set() and time.monotonic() > until:
                until = float("inf")
                for task in [task for active in self.runs.values() for task in active.flying]:
                    task.cancel()
            await self._turns(claiming=False)
            await self._pause_for_change()
        await self.lookups.finish()
        self.silence.stop()
        await self.database(finish_runs)
