"""Lists of the API, read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from benchsite_client.calls import Call, Row

if TYPE_CHECKING:
    import pandas as pd

PAGE = 1000


def frame(rows: list[Row]) -> pd.DataFrame:
    """Times as times; every other column as it is."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from None
    table = pd.DataFrame(rows)
    for name in table.columns:
        if str(name).endswith("_at"):
            table[name] = pd.to_datetime(table[name], utc=True, format="ISO8601")
    return table


def following(page: Row) -> Call | None:
    """The next page by its query alone, so that a site behind a proxy may be asked by the address one knows."""
    if page["next"] is None:
        return None
    path, _, query = page["next"].partition("?")
    return Call("GET", path[path.index("/api/v1/") :] + "?" + query)


class Rows:
    """Rows of one list: iterate, or read them whole. Each look begins at the first page again."""

    def __init__(self, ask: Callable[[Call], Row], call: Call) -> None:
        self._ask, self._call = ask, call

    def __iter__(self) -> Iterator[Row]:
        call: Call | None = self._call
        while call is not None:
            page = self._ask(call)
            yield from page["data"]
            call = following(page)

    def to_list(self) -> list[Row]:
        return list(self)

    def to_pandas(self) -> pd.DataFrame:
        return frame(self.to_list())


class AsyncRows:
    """The same, to be awaited."""

    def __init__(self, ask: Callable[[Call], Awaitable[Row]], call: Call) -> None:
        self._ask, self._call = ask, call

    async def __aiter__(self) -> AsyncIterator[Row]:
        call: Call | None = self._call
        while call is not None:
            page = await self._ask(call)
            for row in page["data"]:
                yield row
            call = following(page)

    async def to_list(self) -> list[Row]:
        return [row async for row in self]

    async def to_pandas(self) -> pd.DataFrame:
        return frame(await self.to_list())
