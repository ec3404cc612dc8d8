"""JSON as files of anybody's making have it: read as the standard says, or refused with a reason."""

from __future__ import annotations

import json
from typing import Any, NoReturn


class JsonError(ValueError):
    """Why a text is not the JSON it should be: the end of a sentence that begins with the text."""


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError(f"is not JSON ({name} is no number)")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise JsonError("names the same field twice")
    return found


STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_pairs)
# Where a million lines are read: a field that is named twice has its last value, since looking for it costs a third more.
FAST = json.JSONDecoder(parse_constant=_refuse_constant)


def read_json(text: str, *, decoder: json.JSONDecoder = STRICT) -> Any:
    """The value of a JSON text; raises JsonError and nothing else."""
    try:
        return decoder.decode(text)
    except JsonError:
        raise
    except json.JSONDecodeError as error:
        place = min(error.pos, len(text.rstrip())) + 1
        # Some of Python's own words end in "at", for the place to follow.
        raise JsonError(f"is not JSON ({error.msg.removesuffix(' at')} at character {place})") from None
    except RecursionError:
        raise JsonError("is not JSON that can be read (it nests too deep)") from None
    except ValueError:  # what Python says of a whole number of thousands of digits
        raise JsonError("is not JSON that can be read (a number is too long)") from None


def read_object(text: str, *, decoder: json.JSONDecoder = STRICT) -> dict[str, Any]:
    found = read_json(text, decoder=decoder)
    if not isinstance(found, dict):
        raise JsonError(f"is {json_type(found)}, not a JSON object")
    return found


def json_type(value: Any) -> str:
    names = {dict: "an object", list: "a list", bool: "true or false", type(None): "null", str: "text"}
    return names.get(type(value), "a number")
