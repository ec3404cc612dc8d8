"""The demo runs of a new site: a small run of every suite, drawn by the demo players and judged by simulated judges."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from benchsite.operations.accounts import first_judges
from generation.models import Event, Run
from generation.protocols import load, protocols_of
from generation.runs.lifecycle import start_run
from generation.runs.publishing import publish_runs
from generation.suites.demo_sizes import load_demo
from generation.suites.loading import load_suites
from generation.suites.suite import Suite
from judging.curating.invitations import seat_judge
from judging.curating.runs import set_judging
from ranking.fitting import fit_run
from ranking.simulated.model_judges import add_simulated_model_judges

REASON = "A demo run, shown to everybody from the first start."
FINISHED = "The simulated judges are done; its drawings are shown with names from the first start."


def start_demo_runs() -> list[Run]:
    """One demo run per suite, started only once; a suite that does not load is left out."""
    suites = [suite for suite in load_suites(settings.SUITES_DIR) if isinstance(suite, Suite)]
    return [start_run(suite, demo=True, key=f"demo-{suite.slug}") for suite in suites]


def still_drawing(runs: Iterable[Run]) -> int:
    """The number of unfinished samples of these runs."""
    return sum(run.samples.filter(state__in=["pending", "asking"]).count() for run in runs)


def show_demo_run(run: Run) -> bool:
    """Let simulated judges judge a drawn run, rank it and publish it; once only, so that a curator's changes stay."""
    if run.events.filter(verb=Event.Verb.PUBLISH_RUN).exists():
        return False
    if run.judging_state == Run.Judging.NOT_OPEN and not run.is_measured:
        set_judging(run=run, verb="open", by=None, reason=REASON)
    if run.judging_state == Run.Judging.OPEN:
        for entry in run.judged_by:
            if entry.judge_demo:
                load(entry.judge_demo)(run)
        size = load_demo(settings.SUITES_DIR / "demo.yaml").size_of(run.suite)
        add_simulated_model_judges(run, wanted=size.judged)
        if size.finished:
            set_judging(run=run, verb="close", by=None, reason=FINISHED)
        else:
            for judge in first_judges():
                seat_judge(run=run, judge=judge)
    for protocol in protocols_of(run):
        fit_run(run, protocol=protocol)
    publish_runs([run], by=None, reason=REASON)
    return True
