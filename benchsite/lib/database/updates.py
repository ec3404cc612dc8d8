"""`UPDATE` and `INSERT` of rows by fixed columns, for what a worker does all day: each text is made once for its set of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, CharField, Field, IntegerField, Model, TextField

from benchsite.lib.database.instances import defaults_of
from benchsite.lib.database.prepared import numbered_places, prepared_cursor

AT_MOST = "__lte"
AT_ONCE = 16  # rows of one INSERT
PLAIN = {str: (CharField, TextField), int: (IntegerField,), bool: (BooleanField,)}  # what a database takes as it is


def update_rows(
    model: type[Model],
    fields: Mapping[str, Any],
    *,
    where: Mapping[str, Any],
    either: tuple[str, tuple[str, ...]] = ("", ()),
) -> int:
    """How many rows were changed: as `filter(**where).update(**fields)`, for plain values and columns of this table alone.

    A condition is equality, or `__lte`; None stands for NULL. `either` is a column and constants of which it has one.
    """
    missing = tuple(name for name, value in where.items() if value is None)
    sql, columns = _statement(model, tuple(fields), tuple(where), missing, either)
    values = {f"to_{name}": value for name, value in fields.items()}
    values |= {f"if_{name}": value for name, value in where.items() if value is not None}
    database = connections[DEFAULT_DB_ALIAS]
    return change_rows(sql, {name: _prepared(columns[name], value, database) for name, value in values.items()})


def change_rows(sql: str, values: Mapping[str, Any]) -> int:
    """How many rows a fixed statement with places such as %(run)s changed; the values as the database takes them."""
    with prepared_cursor() as cursor:
        if connection.vendor == "postgresql":
            sql, names = _numbered(sql)
            cursor.execute(sql, [values[name] for name in names])
        else:
            cursor.execute(sql, values)
        return int(cursor.rowcount)


_numbered = lru_cache(maxsize=64)(numbered_places)


@lru_cache(maxsize=64)
def _statement(
    model: type[Model],
    fields: tuple[str, ...],
    conditions: tuple[str, ...],
    missing: tuple[str, ...],
    either: tuple[str, tuple[str, ...]],
) -> tuple[str, dict[str, Field[Any, Any]]]:
    """The statement, and the column of each of its places."""
    quote, meta = connection.ops.quote_name, model._meta
    known = {field.name: field for field in meta.concrete_fields}
    columns = {f"to_{name}": known[name] for name in fields}
    columns |= {f"if_{name}": known[name.removesuffix(AT_MOST)] for name in conditions}

    def named(field: Field[Any, Any]) -> str:
        return str(quote(str(field.column)))

    def condition(name: str) -> str:
        column = named(columns[f"if_{name}"])
        if name in missing:
            return f"{column} IS NULL"
        return f"{column} {'<=' if name.endswith(AT_MOST) else '='} %(if_{name})s"

    changes = ", ".join(f"{named(columns[f'to_{name}'])} = %(to_{name})s" for name in fields)
    wheres = [condition(name) for name in conditions]
    if either[0]:
        listed = ", ".join(f"'{constant}'" for constant in either[1])
        wheres.append(f"{named(known[either[0]])} IN ({listed})")
    sql = f"UPDATE {quote(meta.db_table)} SET {changes} WHERE {' AND '.join(wheres)}"  # noqa: S608 - names of this project
    return sql, columns


def insert_rows(model: type[Model], rows: Sequence[dict[str, Any]], *, once: tuple[str, ...] = ()) -> None:
    """As `bulk_create`, of rows by their columns (`run_id`); columns that are not given have their defaults.

    `once` are columns that are unique together: a row that is there already is replaced.
    """
    fixed, made = defaults_of(model)
    columns, database = _written(model), connections[DEFAULT_DB_ALIAS]
    for start in range(0, len(rows), AT_ONCE):
        some = [
            fixed | {name: default() for name, default in made.items()} | row for row in rows[start : start + AT_ONCE]
        ]
        values = [_prepared(column, row[column.attname], database) for row in some for column in columns]
        with prepared_cursor() as cursor:
            cursor.execute(_insertion(model, len(some), once), values)


def insert_alike(
    model: type[Model], shared: dict[str, Any], names: tuple[str, ...], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Very many rows that differ in a few plain columns, `names`; a row that breaks a unique constraint is left out.

    As fast as the database takes them: each value that they share is prepared once.
    """
    fixed, made = defaults_of(model)
    shared = fixed | {name: default() for name, default in made.items()} | shared
    columns, database = _written(model), connections[DEFAULT_DB_ALIAS]
    first = [column for column in columns if column.attname not in names]
    values = tuple(_prepared(column, shared[column.attname], database) for column in first)
    quote = database.ops.quote_name
    known = {column.attname: str(column.column) for column in columns}
    listed = ", ".join(
        quote(name) for name in (*(known[column.attname] for column in first), *(known[name] for name in names))
    )
    places = ", ".join(["%s"] * len(columns))
    sql = f"INSERT INTO {quote(model._meta.db_table)} ({listed}) VALUES ({places}) ON CONFLICT DO NOTHING"  # noqa: S608 - names of this project
    with database.cursor() as cursor:
        cursor.executemany(sql, [values + row for row in rows])


def _written(model: type[Model]) -> list[Field[Any, Any]]:
    return [field for field in model._meta.concrete_fields if not field.primary_key]


@lru_cache(maxsize=64)
def _insertion(model: type[Model], rows: int, once: tuple[str, ...]) -> str:
    quote, meta = connection.ops.quote_name, model._meta
    columns = [quote(str(field.column)) for field in _written(model)]
    numbers = iter(range(1, rows * len(columns) + 1))
    place = (lambda: f"${next(numbers)}") if connection.vendor == "postgresql" else (lambda: "%s")
    lines = ", ".join(f"({', '.join(place() for _ in columns)})" for _ in range(rows))
    sql = f"INSERT INTO {quote(meta.db_table)} ({', '.join(columns)}) VALUES {lines}"  # noqa: S608 - names of this project
    if once:
        unique = [quote(name) for name in once]
        changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in unique)
        sql += f" ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {changes}"
    return sql


def _prepared(column: Field[Any, Any], value: Any, database: BaseDatabaseWrapper) -> Any:
    """As the database takes it: JSON as text, a time in its own form, a choice as its value."""
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(column, PLAIN.get(type(value), ())):
        return value
    return column.get_db_prep_save(value, database)
