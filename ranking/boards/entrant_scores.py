"""What an entrant's page says of scores by any protocol without a part of its own there."""

from __future__ import annotations

from typing import Any

from generation.models import Entrant, Run
from generation.protocols import protocols_of
from judging.rules import rules_of
from ranking.models import Fit
from ranking.people import is_closed_to
from ranking.words import rank_words


def scores_of(run: Run, entrant: Entrant, *, user: Any) -> list[dict[str, Any]]:
    """A line for each protocol that has scored this entrant and has no part of its own on the page, with its categories."""
    fits = Fit.objects.newest_of([run])
    rules = rules_of(run.code)
    scores = []
    for name, entry in protocols_of(run).items():
        fit = None if is_closed_to(user, run, name) else fits.get((run.pk, name))
        if fit is None or entry.entrant_page:
            continue
        row = _row_of(fit.result["overall"], entrant)
        if row is None or row.get("score") is None:
            continue
        scopes = [(rules.label(key), _row_of(rows, entrant)) for key, rows in _categories(fit).items()]
        scores.append(
            {
                "protocol": name,
                "label": entry.label,
                "row": row,
                "rank": _rank(row),
                "of": len(fit.result["overall"]),
                "scopes": [(label, scope) for label, scope in scopes if scope and scope.get("score") is not None],
            }
        )
    return scores


def _categories(fit: Fit) -> dict[str, list[dict[str, Any]]]:
    categories = fit.result.get("categories", {})
    return categories if isinstance(categories, dict) else {}


def _row_of(rows: list[dict[str, Any]], entrant: Entrant) -> dict[str, Any] | None:
    return next((row for row in rows if row["entrant"] == entrant.name), None)


def _rank(row: dict[str, Any]) -> str:
    """A range where the protocol gives one; empty where the entrant is not ranked."""
    low, high = row.get("rank_low", row.get("rank")), row.get("rank_high", row.get("rank"))
    return "" if low is None or high is None else rank_words(low, high)
