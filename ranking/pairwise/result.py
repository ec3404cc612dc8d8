"""A stored pairwise fit and what its pages read from it."""

from __future__ import annotations

from typing import Any

from ranking.models import Fit


def full_of(fit: Fit) -> Fit | None:
    """The fit itself where it is full, else the newest full one of its run."""
    return fit if fit.kind == Fit.Kind.FULL else Fit.objects.newest(fit.run, fit.protocol, kind=Fit.Kind.FULL)


def scope_rows(result: dict[str, Any], scope: str) -> list[dict[str, Any]]:
    rows = result["categories"].get(scope, []) if scope else result["overall"]
    return [row for row in rows if row["votes"]]


def category_tabs(fit: Fit) -> list[tuple[str, str, int]]:
    """(key, label, votes) of each category, in the suite's order."""
    labels = {row["key"]: row["label"] for row in fit.run.config.get("categories", [])}
    found = fit.result["categories"]
    order = [key for key in labels if key in found] + [key for key in found if key not in labels]
    return [(key, labels.get(key, key), sum(row["votes"] for row in found[key]) // 2) for key in order]
