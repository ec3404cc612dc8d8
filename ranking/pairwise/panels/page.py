"""The page of the boards beside the judges': the open arena's, and those of groups, in the order of the main board."""

from __future__ import annotations

from typing import Any

from generation.models import Run
from judging.studies.arena.panel import arena_of
from ranking.charts.intervals import Interval, interval_axis, interval_row, interval_scale
from ranking.models import Fit
from ranking.pairwise.panels.document import GroupingResult, GroupRow
from ranking.pairwise.panels.groups import MINIMUM
from ranking.pairwise.result import full_of, result_of
from ranking.words import labels_of, rank_words

LEDE = "The same drawings by votes of some judges at a time, each ranked alone."


def groups_context(fit: Fit) -> dict[str, Any]:
    full = full_of(fit)
    facts: Any = result_of(full)["run"] if full else {}
    groupings: list[GroupingResult] = facts.get("groups", [])
    labels = labels_of(fit.run.entrants.all())
    order = [row["entrant"] for row in result_of(fit)["overall"]]
    return {
        "full": full,
        "lede": LEDE,
        "minimum": MINIMUM,
        "arena": arena_of(fit.run),
        "merging": facts.get("arena"),
        "groupings": [_table(grouping, order, labels) for grouping in groupings],
    }


def _table(grouping: GroupingResult, order: list[str], labels: dict[str, str]) -> dict[str, Any]:
    groups = grouping["groups"]
    by_name = [{row["entrant"]: row for row in group["standings"]} for group in groups]
    names = [*order, *(name for name in (by_name[0] if by_name else {}) if name not in order)]
    intervals = [_interval(row) for rows in by_name for row in rows.values()]
    scale = interval_scale(intervals)
    lines = [
        {
            "label": labels.get(name, name),
            "cells": [
                {
                    "group": group["label"],
                    "row": row,
                    "ranks": rank_words(row["rank_low"], row["rank_high"]) if row else "",
                    "interval": interval_row(_interval(row), scale) if row else "",
                }
                for group, row in zip(groups, (rows.get(name) for rows in by_name), strict=True)
            ],
        }
        for name in names
    ]
    return {"grouping": grouping, "lines": lines, "axis": interval_axis(scale) if intervals else ""}


def _interval(row: GroupRow) -> Interval:
    low, high = ("none" if end is None else f"{end:.0f}" for end in (row["low"], row["high"]))
    return Interval("", row["rating"], row["low"], row["high"], title=f"{row['rating']:.0f} ({low} to {high})")


def groups_document(context: dict[str, Any]) -> dict[str, Any]:
    run: Run = context["run"]
    return {
        "run": run.code,
        "minimum": context["minimum"],
        "arena": context["merging"],
        "groupings": [table["grouping"] for table in context["groupings"]],
    }
