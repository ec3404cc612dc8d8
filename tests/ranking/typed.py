"""Whether a JSON value is what a TypedDict says, key by key."""

from __future__ import annotations

import types
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict


def misfits(value: Any, shape: Any, path: str = "result") -> list[str]:
    """Where a value departs from its type: wrong values, missing keys, keys that nobody named."""
    origin, inner = get_origin(shape), get_args(shape)
    if is_typeddict(shape):
        return _keys(value, shape, path) if isinstance(value, dict) else [f"{path} is no object"]
    if origin in (Union, types.UnionType):
        tried = [misfits(value, one, path) for one in inner]
        return [] if [] in tried else min(tried, key=len)
    if origin is list:
        return [fault for n, item in enumerate(value) for fault in misfits(item, inner[0], f"{path}[{n}]")]
    if origin is tuple:
        pairs = zip(value, inner, strict=True)
        return [fault for n, (item, one) in enumerate(pairs) for fault in misfits(item, one, f"{path}[{n}]")]
    if origin is dict:
        return [fault for key, item in value.items() for fault in misfits(item, inner[1], f"{path}.{key}")]
    if origin is Literal:
        return [] if value in inner else [f"{path} is {value!r}"]
    fits = type(value) in (int, float) if shape is float else isinstance(value, shape) and type(value) is shape
    return [] if fits else [f"{path} is {value!r}, not {shape}"]


def _keys(value: dict[str, Any], shape: Any, path: str) -> list[str]:
    hints = get_type_hints(shape, include_extras=True)
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    faults = [f"{path}.{name} is missing" for name in hints if name not in value and name not in optional]
    for name, item in value.items():
        if name not in hints:
            faults.append(f"{path}.{name} is not named")
            continue
        faults += misfits(item, get_args(hints[name])[0] if name in optional else hints[name], f"{path}.{name}")
    return faults
