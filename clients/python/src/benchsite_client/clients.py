"""The two clients: the same methods, once plain and once to be awaited."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sized
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar

import httpx

from benchsite_client import calls
from benchsite_client.calls import Call, Row, Verb, in_run
from benchsite_client.errors import error_of
from benchsite_client.progress import bar
from benchsite_client.retries import FIRST_WAIT, wait_before
from benchsite_client.rows import PAGE, AsyncRows, Rows

R = TypeVar("R")
BATCH = 500
TIMEOUT = httpx.Timeout(300, connect=10)  # the site reads every drawing of a push before it answers


def _options(url: str, token: str, timeout: httpx.Timeout | float) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "User-Agent": "benchsite-client/1"}
    return {"base_url": url.rstrip("/"), "headers": headers, "timeout": timeout, "follow_redirects": False}


def _sent(call: Call) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if call.lines is not None:
        body = {"content": call.lines, "headers": {"Content-Type": calls.LINES}}
    elif call.body is not None:
        body = {"json": call.body}
    return {"method": call.method, "url": call.path, **({"params": dict(call.query)} if call.query else {}), **body}


def _listed(path: str) -> Call:
    return Call("GET", path, {"limit": PAGE})


def _document(response: httpx.Response) -> Row:
    document: Row = response.json()
    return document


def _data(document: Row) -> list[Row]:
    rows: list[Row] = document["data"]
    return rows


def _sum(total: Row, part: Row) -> Row:
    joined = [*total.get("joined", []), *part.get("joined", [])]
    counts = {name: total.get(name, 0) + part[name] for name in ("added", "same")}
    return counts | ({"joined": joined} if "joined" in part else {})


def _size(rows: Iterable[Row]) -> int | None:
    return len(rows) if isinstance(rows, Sized) else None


def _answer_or_pause(
    call: Call, tries: int, outcome: httpx.Response | httpx.TransportError, first_wait: float
) -> Row | float:
    """What the site answered, or the seconds to wait before the next try; raises what no other try would mend."""
    pause = wait_before(call, tries, outcome, first_wait=first_wait)
    if pause is not None:
        return pause
    if isinstance(outcome, httpx.TransportError):
        raise outcome
    if outcome.is_success:
        return _document(outcome)
    raise error_of(outcome)


class _Lists(ABC, Generic[R]):
    """The site's lists, each as rows that are fetched page by page."""

    @abstractmethod
    def _rows(self, path: str) -> R: ...

    def runs(self) -> R:
        return self._rows("/api/v1/runs")

    def samples(self, run: str) -> R:
        return self._rows(in_run(run, "samples"))

    def votes(self, run: str) -> R:
        return self._rows(in_run(run, "votes"))

    def grades(self, run: str) -> R:
        return self._rows(in_run(run, "grades"))

    def models(self, run: str) -> R:
        return self._rows(in_run(run, "models"))

    def entrants(self, run: str) -> R:
        return self._rows(in_run(run, "entrants"))

    def prompts(self, run: str) -> R:
        return self._rows(in_run(run, "prompts"))

    def studies(self, run: str) -> R:
        return self._rows(in_run(run, "studies"))


class Client(_Lists[Rows]):
    """A site and a token. Close it, or use it in a `with`."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: httpx.Timeout | float = TIMEOUT,
        first_wait: float = FIRST_WAIT,
        progress: bool = True,
    ) -> None:
        self._http = httpx.Client(**_options(url, token, timeout))
        self._first_wait, self._progress = first_wait, progress

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def ask(self, call: Call) -> Row:
        """Send one request, again where that may help; raises BenchsiteError for what the site refuses."""
        tries = 0
        while True:
            tries += 1
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._http.request(**_sent(call))
            except httpx.TransportError as error:
                outcome = error
            answer = _answer_or_pause(call, tries, outcome, self._first_wait)
            if isinstance(answer, dict):
                return answer
            time.sleep(answer)

    def _rows(self, path: str) -> Rows:
        return Rows(self.ask, _listed(path))

    def run(self, run: str) -> Row:
        return self.ask(Call("GET", in_run(run)))

    def boards(self, run: str) -> list[Row]:
        return _data(self.ask(Call("GET", in_run(run, "boards"))))

    def leaderboard(self, run: str, protocol: str = "") -> Row:
        """What the leaderboard's page shows; of the run's first protocol where none is named."""
        protocol = protocol or self.boards(run)[0]["protocol"]
        return self.ask(Call("GET", in_run(run, "boards", protocol)))

    def standings(self, run: str, protocol: str = "") -> list[Row]:
        return _data(self.ask(Call("GET", in_run(run, "standings"), {"protocol": protocol} if protocol else {})))

    def start_run(self, suite: str, *, key: str, **options: Any) -> Row:
        """Start a run; the same key again gives the same run. Options: label, models, prompts, attempts, budget_usd, demo, draw."""
        return self.ask(calls.start_run(suite, key=key, **options))

    def set_drawing(self, run: str, verb: Literal["pause", "resume", "cancel"], **options: Any) -> Row:
        return self.ask(calls.set_drawing(run, verb, **options))

    def set_judging(self, run: str, verb: Verb, reason: str = "") -> Row:
        return self.ask(calls.set_judging(run, verb, reason))

    def write_study(self, run: str, source: str) -> Row:
        """A study from YAML, or a new version of the one with its name; the same YAML again changes nothing."""
        return self.ask(calls.write_study(run, source))

    def set_study(self, run: str, study: str, verb: Verb, reason: str = "") -> Row:
        return self.ask(calls.set_study(run, study, verb, reason))

    def invite(self, run: str, **options: Any) -> list[Row]:
        """Links for judges. Options: count, label, max_uses, days, quota."""
        return _data(self.ask(calls.invite(run, **options)))

    def push_samples(self, run: str, rows: Iterable[Row], *, batch: int = BATCH) -> Row:
        """Push drawings, as often as you like: each is stored once. A batch is stored whole or not at all."""
        return self._push(run, "samples", rows, batch)

    def push_votes(self, run: str, rows: Iterable[Row], *, reason: str, batch: int = BATCH) -> Row:
        """Push votes cast elsewhere, each with an `id` of yours; the leaderboard shows the reason."""
        return self._push(run, "votes", rows, batch, reason=reason)

    def _push(self, run: str, kind: str, rows: Iterable[Row], size: int, **query: Any) -> Row:
        total: Row = {"added": 0, "same": 0}
        with bar(f"Pushing {kind}", _size(rows), shown=self._progress) as step:
            for part in calls.batches(rows, size):
                total = _sum(total, self.ask(calls.push(run, kind, part, **query)))
                step(len(part))
        return total


class AsyncClient(_Lists[AsyncRows]):
    """The same site and token, with methods to be awaited."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: httpx.Timeout | float = TIMEOUT,
        first_wait: float = FIRST_WAIT,
        progress: bool = True,
    ) -> None:
        self._http = httpx.AsyncClient(**_options(url, token, timeout))
        self._first_wait, self._progress = first_wait, progress

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, call: Call) -> Row:
        tries = 0
        while True:
            tries += 1
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._http.request(**_sent(call))
            except httpx.TransportError as error:
                outcome = error
            answer = _answer_or_pause(call, tries, outcome, self._first_wait)
            if isinstance(answer, dict):
                return answer
            await asyncio.sleep(answer)

    def _rows(self, path: str) -> AsyncRows:
        return AsyncRows(self.ask, _listed(path))

    async def run(self, run: str) -> Row:
        return await self.ask(Call("GET", in_run(run)))

    async def boards(self, run: str) -> list[Row]:
        return _data(await self.ask(Call("GET", in_run(run, "boards"))))

    async def leaderboard(self, run: str, protocol: str = "") -> Row:
        protocol = protocol or (await self.boards(run))[0]["protocol"]
        return await self.ask(Call("GET", in_run(run, "boards", protocol)))

    async def standings(self, run: str, protocol: str = "") -> list[Row]:
        query = {"protocol": protocol} if protocol else {}
        return _data(await self.ask(Call("GET", in_run(run, "standings"), query)))

    async def start_run(self, suite: str, *, key: str, **options: Any) -> Row:
        return await self.ask(calls.start_run(suite, key=key, **options))

    async def set_drawing(self, run: str, verb: Literal["pause", "resume", "cancel"], **options: Any) -> Row:
        return await self.ask(calls.set_drawing(run, verb, **options))

    async def set_judging(self, run: str, verb: Verb, reason: str = "") -> Row:
        return await self.ask(calls.set_judging(run, verb, reason))

    async def write_study(self, run: str, source: str) -> Row:
        return await self.ask(calls.write_study(run, source))

    async def set_study(self, run: str, study: str, verb: Verb, reason: str = "") -> Row:
        return await self.ask(calls.set_study(run, study, verb, reason))

    async def invite(self, run: str, **options: Any) -> list[Row]:
        return _data(await self.ask(calls.invite(run, **options)))

    async def push_samples(self, run: str, rows: Iterable[Row], *, batch: int = BATCH) -> Row:
        return await self._push(run, "samples", rows, batch)

    async def push_votes(self, run: str, rows: Iterable[Row], *, reason: str, batch: int = BATCH) -> Row:
        return await self._push(run, "votes", rows, batch, reason=reason)

    async def _push(self, run: str, kind: str, rows: Iterable[Row], size: int, **query: Any) -> Row:
        total: Row = {"added": 0, "same": 0}
        with bar(f"Pushing {kind}", _size(rows), shown=self._progress) as step:
            for part in calls.batches(rows, size):
                total = _sum(total, await self.ask(calls.push(run, kind, part, **query)))
                step(len(part))
        return total
