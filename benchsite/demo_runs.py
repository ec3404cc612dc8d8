"""The demo runs of a new site: a small run of every suite, drawn by the demo players."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from generation.config import Suite, load_suites
from generation.models import Run
from generation.runs import start_run


def start_demo_runs() -> list[Run]:
    """One demo run a suite, started once in a site's life; a suite that does not load is left out."""
    suites = [suite for suite in load_suites(settings.SUITES_DIR) if isinstance(suite, Suite)]
    return [start_run(suite, demo=True, key=f"demo-{suite.slug}") for suite in suites]


def still_drawing(runs: Iterable[Run]) -> int:
    """How many samples of these runs are yet to end."""
    return sum(run.samples.filter(state__in=["pending", "asking"]).count() for run in runs)
