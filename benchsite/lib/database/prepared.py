"""Statements that a server runs all day: written once in this process, and planned once for each of its connections.

Making an ORM query into SQL takes longer than running it, and PostgreSQL plans a join of ten tables for a millisecond. So
the few statements of the busiest requests are kept: `CompiledQuery` for reading, `prepared_cursor` for those written by hand.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import count
from types import SimpleNamespace
from typing import Any, Generic, Self, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet

from benchsite.lib.database.instances import make_instance

R = TypeVar("R")
KEPT = "kept_cursor"  # on a connection: the one cursor of all its prepared statements


def prepared_cursor() -> CursorWrapper:
    """A cursor for fixed statements, which are counted and logged like all others. Read what one found before the next.

    PostgreSQL keeps what it planned, and is given its own $1, $2 … (see `numbered_places`): psycopg would look for places in a long
    text each time, which takes as long as running it. Off where `PREPARED_STATEMENTS` is: psycopg then sends them whole.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]  # itself: each look through `connection` finds it anew
    database.close_if_health_check_failed()
    database.ensure_connection()
    inside = database.connection
    if database.vendor == "postgresql":
        cursor = getattr(inside, KEPT, None)
        if cursor is None:
            cursor = _preparing()(inside)
            setattr(inside, KEPT, cursor)
    else:
        cursor = inside.cursor(_Placing)
    return database.make_debug_cursor(cursor) if database.queries_logged else database.make_cursor(cursor)


class _Placing(sqlite3.Cursor):
    """Django's cursor for SQLite writes each statement anew with the places that SQLite knows; this one remembers them."""

    def execute(self, sql: str, parameters: Any = ()) -> Self:
        return super().execute(_own_places(sql), parameters)


@lru_cache(maxsize=512)
def _own_places(sql: str) -> str:
    return _PLACE.sub(r":\1", sql).replace("%s", "?")


def _preparing() -> type[Any]:
    """The class of these cursors; psycopg is imported only where it is used."""
    global _Preparing
    if _Preparing is None:
        from psycopg import RawCursor, adapters
        from psycopg.pq import Format
        from psycopg.types.numeric import Int8Dumper

        times = adapters.types["timestamptz"].oid
        load_time: Any = adapters.get_loader(times, Format.TEXT)

        class Preparing(RawCursor[Any]):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                # Else each mix of small and large numbers would be another statement.
                self.adapters.register_dumper(int, Int8Dumper)
                # Django's own sets each time's zone to the connection's, which it has already.
                self.adapters.register_loader(times, load_time)

            def close(self) -> None:
                """It ends with its connection."""

            # What Django logs of a statement; its own cursors put the values into it.
            _query = property(lambda self: SimpleNamespace(query=str(self._last_query).encode()), lambda *_: None)

            def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
                return super().execute(query, params, **{**options, "prepare": True})

        _Preparing = Preparing
    return _Preparing


_Preparing: type[Any] | None = None
_PLACE = re.compile(r"%\((\w+)\)s")


def numbered_places(sql: str) -> tuple[str, list[str]]:
    """A statement with places such as %(seat)s as PostgreSQL takes it, and the names of its values in their order."""
    names = list(dict.fromkeys(_PLACE.findall(sql)))
    numbers = {name: f"${number}" for number, name in enumerate(names, start=1)}
    return _PLACE.sub(lambda place: numbers[place[1]], sql), names


class CompiledQuery(Generic[R]):
    """An ORM query with places for values, for instance `CompiledQuery(lambda judge: Seat.objects.filter(judge=judge), int)`.

    `types` are those of the places, in the order of the function's arguments. The function is called once, when the query is
    first run; the places may stand anywhere in it where a value is compared. All other values become part of the text, so that
    the one plan can rely on them.
    """

    def __init__(self, make: Callable[..., QuerySet[Any, R]], *types: type[int] | type[str]) -> None:
        self._make = make
        self._places = [
            (-(10**9) - n) if kind is int else f"\N{REPLACEMENT CHARACTER}{n}" for n, kind in enumerate(types)
        ]

    @cached_property
    def _compiled(self) -> tuple[str, list[int], Callable[[Sequence[Any]], list[R]]]:
        """The statement, which value goes to each of its places, and the reader of its rows."""
        query = self._make(*self._places).query
        compiler = query.get_compiler(connection=connection)
        sql, values = compiler.as_sql()
        order = {place: n for n, place in enumerate(self._places)}
        places = [order[value] for value in values if value in order]
        if set(places) != set(order.values()):
            raise ValueError(f"A value is missing in: {sql}")
        numbers = count(1)
        place = (lambda: f"${next(numbers)}") if connection.vendor == "postgresql" else (lambda: "%s")
        return (
            sql % tuple(place() if value in order else _literal(value) for value in values),
            places,
            _reader(compiler, as_objects=bool(compiler.klass_info) and not query.values_select),
        )

    def rows(self, *values: int | str) -> list[R]:
        sql, places, read = self._compiled
        with prepared_cursor() as cursor:
            cursor.execute(sql, [values[n] for n in places])
            return read(cursor.fetchall())


def _literal(value: Any) -> str:
    """A constant of a query as SQL."""
    return str(int(value)) if isinstance(value, int) else "'{}'".format(str(value).replace("'", "''"))


def _reader(compiler: Any, *, as_objects: bool) -> Callable[[Sequence[Any]], list[Any]]:
    """Makes objects of rows as `QuerySet` does it, with all that does not change from row to row at hand; tuples of chosen values.

    What several rows refer to, such as the seat of two pairs, is made once, and they share it.
    """
    info, select = compiler.klass_info, compiler.select
    converters = compiler.get_converters([column[0] for column in select])
    make = _maker(info, select) if as_objects else None
    annotations = list((compiler.annotation_col_map or {}).items())

    def read(rows: Sequence[Any]) -> list[Any]:
        if converters:
            rows = list(compiler.apply_converters(rows, converters))
        if make is None:
            return list(rows)
        shared: dict[tuple[int, Any], Any] = {}
        objects = [make(row, shared) for row in rows]
        for obj, row in zip(objects, rows, strict=True):
            for name, at in annotations:
                setattr(obj, name, row[at])
        return objects

    return read


def _maker(info: dict[str, Any], select: Sequence[Any]) -> Callable[[Sequence[Any], dict[tuple[int, Any], Any]], Any]:
    """Makes one table's part of a row, and what hangs on it."""
    model, alias, table = info["model"], connection.alias, id(info)
    start, stop = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [column[0].target.attname for column in select[start:stop]]
    key = start + names.index(model._meta.pk.attname)
    parts = [(part["field"].cache_name, _maker(part, select)) for part in info.get("related_klass_infos", [])]

    def make(row: Sequence[Any], shared: dict[tuple[int, Any], Any]) -> Any:
        pk = row[key]
        if pk is None:
            return None
        known = shared.get((table, pk))
        if known is None:
            related = {name: part(row, shared) for name, part in parts}
            known = make_instance(model, dict(zip(names, row[start:stop], strict=True)), related, alias)
            shared[table, pk] = known
        return known

    return make
