"""Frozen dataclasses to JSON and back, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints


def to_json(value: Any) -> Any:
    if is_dataclass(value):
        return {item.name: to_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_json(child) for name, child in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_json(child) for child in value]
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def from_json(kind: Any, value: Any) -> Any:
    if isinstance(kind, UnionType):
        if value is None:
            return None
        kind = next(option for option in get_args(kind) if option is not NoneType)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: from_json(hints[name], value[name]) for name in hints if name in value})
    if get_origin(kind) is tuple:
        return tuple(from_json(get_args(kind)[0], child) for child in value)
    if get_origin(kind) is dict and is_dataclass(get_args(kind)[1]):
        return {name: from_json(get_args(kind)[1], child) for name, child in value.items()}
    # A database may hand 1.0 back as 1; the field's type decides.
    return float(value) if kind is float else value
