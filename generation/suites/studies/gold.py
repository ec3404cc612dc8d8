"""Attention checks as frozen data: how often a pair with a known answer comes, and what follows from failing."""

from __future__ import annotations

from dataclasses import dataclass

from generation.suites import yaml_fields as read
from generation.suites.yaml_source import Node

ON_FAILURE = {
    "flag": "curators see it",
    "weight_0": "their votes are not counted",
    "end": "the judge's part ends",
}


@dataclass(frozen=True)
class Gold:
    """One check among every so many pairs. Without `allowed` a likelihood says when somebody has failed: `judging.gold.verdicts`."""

    every: int = 3  # at 30 pairs 95 of 100 clickers have failed: `script/bench checks`
    feedback: bool = False
    on_failure: str = "flag"
    allowed: int | None = None


def read_gold(node: Node) -> Gold:
    """`gold:` in a suite's `judging:` or in a study."""
    fields = read.mapping(node, ("every", "feedback", "on_failure", "allowed"))
    standard = Gold()
    return Gold(
        every=read.optional(fields, "every", lambda child: read.integer(child, 2, 1000), standard.every),
        feedback=read.optional(fields, "feedback", read.boolean, standard.feedback),
        on_failure=read.optional(
            fields, "on_failure", lambda child: read.choice(child, tuple(ON_FAILURE), "rule"), standard.on_failure
        ),
        allowed=read.optional(fields, "allowed", lambda child: read.integer(child, 0, 1000), None),
    )
