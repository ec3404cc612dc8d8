"""Rows as objects without Django's constructor, which takes longer than the statements of a vote: signals, checks, setters.

What comes out is what the constructor makes: columns that are not given are deferred, and are read once somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from django.db.models import Model
from django.db.models.base import ModelState

M = TypeVar("M", bound=Model)


def make_instance(model: type[M], values: dict[str, Any], related: dict[str, Any], alias: str | None) -> M:
    """A row with these columns (`seat_id`), and other rows that it refers to (`seat`), stored in the database of that name."""
    instance, state = model.__new__(model), ModelState()
    values["_state"] = state
    instance.__dict__ = values
    state.adding, state.db, state.fields_cache = alias is None, alias, related
    return instance


def new_instance(model: type[M], values: dict[str, Any], **related: Model | None) -> M:
    """A row that is not stored yet; columns that are not given have their defaults."""
    fixed, made = defaults_of(model)
    columns = fixed | {name: default() for name, default in made.items() if name not in values} | values
    columns |= {f"{name}_id": row and row.pk for name, row in related.items()}
    return make_instance(model, columns, related, None)


@cache
def defaults_of(model: type[Model]) -> tuple[dict[str, Any], dict[str, Callable[[], Any]]]:
    """Defaults by column: those that are always the same, and those that are made each time."""
    fields = model._meta.concrete_fields
    # A field without a default has a class in its place.
    made = {field.attname: field.get_default for field in fields if field.has_default() and callable(field.default)}
    return {field.attname: field.get_default() for field in fields if field.attname not in made}, made
