"""Practice before judging as frozen data: how many pairs."""

from __future__ import annotations

from dataclasses import dataclass

from generation.suites import yaml_fields as read
from generation.suites.yaml_source import Node


@dataclass(frozen=True)
class Practice:
    """Pairs with a known answer that the participant is told after each; never counted."""

    pairs: int = 3


def read_practice(node: Node) -> Practice:
    fields = read.mapping(node, ("pairs",))
    return Practice(read.optional(fields, "pairs", lambda child: read.integer(child, 1, 20), Practice().pairs))
