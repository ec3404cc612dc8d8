"""What is known of a language model besides its answers: who made it, whether its weights are open, how it is served."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from generation.suites import yaml_fields as read
from generation.suites.yaml_fields import optional
from generation.suites.yaml_source import Node

WEIGHTS = ("open", "closed")
LONGEST = 80  # characters of a name
LARGEST_CONTEXT = 1_000_000_000
DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")


@dataclass(frozen=True)
class ModelFacts:
    """Empty or None where it is not known; `released` is a month or a day, `context` is in tokens."""

    organisation: str = ""
    weights: str = ""  # open | closed
    licence: str = ""
    released: str = ""
    context: int | None = None
    served_by: str = ""
    quantisation: str = ""
    digest: str = ""  # of the weights, where the server that holds them says it

    def known(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}


FACT_KEYS = tuple(ModelFacts.__dataclass_fields__)


def read_facts(fields: Mapping[str, Node]) -> ModelFacts:
    """The facts among a model's keys in models.yaml."""
    name = {
        key: optional(fields, key, _name, "")
        for key in ("organisation", "licence", "served_by", "quantisation", "digest")
    }
    return ModelFacts(
        **name,
        weights=optional(fields, "weights", lambda node: read.choice(node, WEIGHTS, "weights"), ""),
        released=optional(fields, "released", _released, ""),
        context=optional(fields, "context", lambda node: read.integer(node, 1, LARGEST_CONTEXT), None),
    )


def _name(node: Node) -> str:
    return read.line(node, limit=LONGEST)


def _released(node: Node) -> str:
    value = node.value
    if not isinstance(value, str) or not is_date(value):
        raise node.error("is not a date", 'write it as "2026-08-12" or "2026-08"', reason="bad_date")
    return value


def is_date(text: str) -> bool:
    if not DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text if len(text) > 7 else f"{text}-01")
    except ValueError:
        return False
    return True


def fault_of(facts: Mapping[str, Any]) -> str:
    """What is wrong with facts that came as JSON, such as an archive's; empty where nothing is."""
    for key, value in facts.items():
        if key not in FACT_KEYS:
            return f"has the unknown key {key[:60]!r}"
        if key == "context":
            good = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST_CONTEXT
        else:
            good = isinstance(value, str) and 0 < len(value) <= LONGEST and value.isprintable()
        if key == "weights":
            good = value in WEIGHTS
        if key == "released":
            good = isinstance(value, str) and is_date(value)
        if not good:
            return f"has a {key} that cannot be one: {str(value)[:60]!r}"
    return ""
