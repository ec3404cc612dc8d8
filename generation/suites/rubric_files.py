"""The `rubric:` block of a config.yaml."""

from __future__ import annotations

import math

from generation.suites import yaml_fields as read
from generation.suites.suite import Dimension, Rubric, Stage
from generation.suites.yaml_fields import optional
from generation.suites.yaml_source import Node

MISSING = ("zero", "skip")


def read_rubric(node: Node) -> Rubric:
    fields = read.mapping(node, ("step", "low", "high", "missing", "stages"), ("stages",))
    low = optional(fields, "low", lambda child: read.number(child, 0, 10), 0.0)
    high = optional(fields, "high", lambda child: read.number(child, 0, 10), 10.0)
    step = optional(fields, "step", lambda child: read.number(child, 0.01, 10), 0.5)
    steps = (high - low) / step
    if high <= low or not math.isclose(steps, round(steps), abs_tol=1e-9):
        hint = "make high larger than low, and their distance a whole number of steps"
        raise node.error(f"no scale goes from {low} to {high} by {step}", hint, reason="out_of_range", key="step")
    nodes = read.items(fields["stages"], least=1, most=20)
    stages = [_stage(child) for child in nodes]
    read.unique(nodes, [stage.key for stage in stages], "stage")
    missing = optional(fields, "missing", lambda child: read.choice(child, MISSING, "missing"), "zero")
    return Rubric(step=step, low=low, high=high, missing=missing, stages=tuple(stages))


def _stage(node: Node) -> Stage:
    fields = read.mapping(node, ("key", "label", "weight", "dimensions"), ("key", "label", "dimensions"))
    nodes = read.items(fields["dimensions"], least=1, most=20)
    dimensions = [_dimension(child) for child in nodes]
    read.unique(nodes, [dimension.key for dimension in dimensions], "dimension")
    total = math.fsum(dimension.weight for dimension in dimensions)
    if not math.isclose(total, 1, abs_tol=1e-9):
        message = f"the weights of the dimensions add up to {total:g}, not 1"
        raise fields["dimensions"].error(message, "change them", reason="out_of_range")
    weight = optional(fields, "weight", _weight, 1.0)
    return Stage(read.key(fields["key"]), read.line(fields["label"], limit=100), weight, tuple(dimensions))


def _dimension(node: Node) -> Dimension:
    fields = read.mapping(node, ("key", "label", "weight", "help"), ("key", "label", "weight"))
    return Dimension(
        key=read.key(fields["key"]),
        label=read.line(fields["label"], limit=100),
        weight=_weight(fields["weight"]),
        help=optional(fields, "help", lambda child: read.line(child, limit=500), ""),
    )


def _weight(node: Node) -> float:
    return read.number(node, 0.000001, 1000)
