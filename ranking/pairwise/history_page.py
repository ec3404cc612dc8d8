"""What the page about a pairwise leaderboard's past shows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ranking.models import Fit, Publication
from ranking.pairwise.chart_files import history_of, history_svg
from ranking.pairwise.result import result_of
from ranking.words import labels_of, named


def history_context(fit: Fit) -> dict[str, Any]:
    labels, overall = labels_of(fit.run.entrants.all()), result_of(fit)["overall"]
    points = history_of(fit)
    return {
        "chart": history_svg(fit, labels) if points else "",
        "heads": [named(row, labels) for row in overall],
        "points": [
            {
                "votes": point["votes"],
                "at": datetime.fromtimestamp(point["at"], UTC),
                "ratings": [point["ratings"].get(row["entrant"]) for row in overall],
            }
            for point in points[::-1]
        ],
        "past": Fit.objects.filter(run=fit.run, protocol=fit.protocol).exclude(until=None).defer("result")[:20],
        "publications": Publication.objects.filter(fit__run=fit.run).order_by("-fit", "-at"),
    }
