"""Best of: a drawing of each leader, from published runs whose drawings nobody judges blind any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from generation.models import Run
from generation.protocols import load
from judging.disclosure import drawings_are_open
from ranking.best import Best

MOST = 4  # drawings on the home page, so at most so many runs are asked for one


def best_of(lines: Iterable[dict[str, Any]]) -> list[Best]:
    """From lines of `ranking.views.overview`: for each run that may show drawings, the best of its leader."""
    best: dict[int, Best] = {}
    for line in lines:
        run, fit, path = line["run"], line["fit"], line["entry"].best_drawing
        if len(best) == MOST or fit is None or run.pk in best or not path or not _is_open(run):
            continue
        if drawing := load(path)(run, fit):
            best[run.pk] = drawing
    return list(best.values())


def _is_open(run: Run) -> bool:
    return run.visibility == Run.Visibility.PUBLISHED and drawings_are_open(run)
