"""More of a run: models that join it, more attempts, another budget. What was measured stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from django.conf import settings
from django.db import transaction

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Event, Run
from generation.queue import enqueue_drawing
from generation.runs.errors import RunError, refuse_frozen, refuse_model_judge
from generation.runs.expansion import expand, fill_prices, models_without_price
from generation.runs.facts import queue_facts
from generation.runs.lifecycle import Budget, By, cap_fields, choose, profiles_of
from generation.runs.loaded import whole_suite
from generation.runs.suitability import refuse_unfit_models
from generation.suites.demo_sizes import load_demo
from generation.suites.loading import load_suite
from generation.suites.suite import ModelEntry, Suite, without_pictures
from generation.suites.yaml_source import SuiteError


def joinable_models(run: Run) -> list[ModelEntry]:
    """Models that could join: those of the suite's YAML as it is now, or demo players, that are not in the run."""
    if run.judged_run_id is not None:
        return []  # a model judge is one model
    present = set(run.models.values_list("model_id", flat=True))
    if run.is_demo:
        known = load_demo(settings.SUITES_DIR / "demo.yaml").models
    else:
        today = _suite_today(run)
        known = today.models if today else ()
    return [entry for entry in known if entry.id not in present]


def _suite_today(run: Run) -> Suite | None:
    """The run's suite as its YAML is now; None for a run that came from elsewhere."""
    folder = settings.SUITES_DIR / run.suite
    try:
        return load_suite(folder) if folder.is_dir() else None
    except SuiteError as error:
        raise RunError(str(error)) from None


def extend_run(
    run: Run,
    *,
    models: Sequence[ModelEntry] = (),
    attempts: int | None = None,
    budget: Budget | Literal["keep"] = "keep",
    uploaded: bool = False,
    by: By = None,
    reason: str = "",
    wait: bool = True,
    progress: Progress = unwatched,
) -> int:
    """More models, more attempts of everything, another budget (None: no cap); says how many samples were added.

    Without `wait` a worker writes very many.

    Where models were `uploaded`, now or before, or the whole suite was, the run has a budget and keeps one.

    Prices that nobody knew are taken from the suite as it is today, or from `models` where the suite is not on this
    server; nothing else of a model that takes part changes.
    """
    refuse_frozen(run)
    if run.drawing_state == Run.Drawing.CANCELLED:
        raise RunError("A cancelled run cannot be extended; start a new one.")
    if models or attempts is not None:
        refuse_model_judge(run)
    if run.judged_run_id is not None:
        return _fund(run, budget, by=by, reason=reason)
    suite = whole_suite(run)
    known = {entry.id for entry in suite.models}
    before = suite.generation.attempts_per_prompt
    if attempts is not None and attempts < before:
        raise RunError(f"The run has {before} attempts of each prompt already; attempts can only grow.")
    for entry in models:
        if entry.parameters.get("max_completion_tokens", 0) > (most := suite.generation.max_tokens):
            raise RunError(f"{entry.id} has max_completion_tokens above {most}, the run's max_tokens; it cannot join.")
    suite = replace(suite, models=(*suite.models, *(entry for entry in models if entry.id not in known)))
    suite = choose(suite, None, None, attempts)
    profiles = profiles_of(suite.models, suite.generation.provider)
    refuse_unfit_models(suite, [entry for entry in models if entry.id not in known], profiles)
    today = (_suite_today(run) or replace(suite, models=tuple(models))) if models_without_price(run).exists() else None
    cap = cap_fields(run, budget, uploaded=uploaded or run.uploaded)
    config = without_pictures(suite.to_dict())
    fields: dict[str, Any] = {"config": config, "digest": suite.digest(), "finished_at": None, **cap}
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk, digest=run.digest).update(**fields) != 1:
            raise RunError("The run was extended in the meantime; look at it again.")
        added = expand(run, suite, profiles, wait=wait, progress=progress)
        priced = fill_prices(run, today) if today else []
        facts = {
            "models": [entry.id for entry in models if entry.id not in known],
            "attempts": attempts,
            "samples": added,
            "priced": priced,
            **cap,
        }
        Event.objects.create(run=run, actor=by, verb=Event.Verb.EXTEND_RUN, reason=reason, facts=facts)
        queue_facts(run)
        enqueue_drawing()
    run.refresh_from_db()
    return added


def _fund(judge: Run, budget: Budget | Literal["keep"], *, by: By, reason: str) -> int:
    """Another budget for a model judge; what it was told, and what it is asked, stays as it is."""
    cap = cap_fields(judge, budget, uploaded=True)
    with transaction.atomic():
        Run.objects.filter(pk=judge.pk).update(finished_at=None, **cap)
        Event.objects.create(run=judge, actor=by, verb=Event.Verb.EXTEND_RUN, reason=reason, facts=cap)
        enqueue_drawing()
    judge.refresh_from_db()
    return 0
