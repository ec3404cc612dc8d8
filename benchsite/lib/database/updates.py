"""`UPDATE` of rows by fixed columns, for what a worker does all day: its text is made once for each set of columns."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import Field, Model

from benchsite.lib.database.prepared import numbered_places, prepared_cursor

AT_MOST = "__lte"


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
    sql, names, columns = _statement(model, tuple(fields), tuple(where), missing, either)
    values = {f"to_{name}": value for name, value in fields.items()}
    values |= {f"if_{name}": value for name, value in where.items() if value is not None}
    ready = {name: _prepared(columns[name], values[name]) for name in names}
    with prepared_cursor() as cursor:
        cursor.execute(sql, list(ready.values()) if connection.vendor == "postgresql" else ready)
        return int(cursor.rowcount)


@lru_cache(maxsize=64)
def _statement(
    model: type[Model],
    fields: tuple[str, ...],
    conditions: tuple[str, ...],
    missing: tuple[str, ...],
    either: tuple[str, tuple[str, ...]],
) -> tuple[str, list[str], dict[str, Field[Any, Any]]]:
    """The statement, the names of its values in their order, and the column of each."""
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
    numbered, names = numbered_places(sql)
    return numbered if connection.vendor == "postgresql" else sql, names, columns


def _prepared(column: Field[Any, Any], value: Any) -> Any:
    """As the database takes it: JSON as text, a time in its own form, a choice as its value."""
    return column.get_db_prep_save(value.value if isinstance(value, Enum) else value, connection)
