"""Verbs about a run: start it, pause, resume, cancel, try again. Each writes down who did it and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from benchsite.lib.progress_bar import Progress, unwatched
from generation.formats import get_format
from generation.models import Event, Run, Sample, Team, default_team
from generation.money import decimal_of, nano
from generation.queue import enqueue_drawing
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.expansion import expand
from generation.runs.facts import queue_facts
from generation.runs.suitability import refuse_unfit_models
from generation.suites.demo_sizes import demo_variant, load_demo
from generation.suites.profiles import Profile, load_profiles
from generation.suites.suite import ModelEntry, Suite, without_pictures

By = User | None
Budget = Decimal | float | None


def start_run(
    suite: Suite,
    *,
    label: str = "",
    models: Sequence[str] | None = None,
    attempts: int | None = None,
    prompts: Sequence[str] | None = None,
    more: Sequence[ModelEntry] = (),
    budget: Budget | Literal["suite"] = "suite",
    by: By = None,
    team: Team | None = None,
    uploaded: bool = False,
    demo: bool = False,
    draw: bool = True,
    key: str | None = None,
    wait: bool = True,
    progress: Progress = unwatched,
) -> Run:
    """A new run with all its samples, whole or not at all; the same `key` again gives the run it started before.

    Without `wait` the samples of a very large run are written by a worker, and the run is drawn once all are there.

    - `models` and `prompts` choose among the suite's by id and key; `demo` draws a small run with the demo players.
    - `more` are models that the suite does not name, from a provider's catalogue; they need a budget like uploaded ones.
    - `team` is whose run it is; the curator's own where none is given.
    - `budget` is in US dollars, None for no cap, which a suite that was `uploaded` must have. Without `draw` the run waits, paused.
    """
    if key and (before := Run.objects.filter(start_key=key).first()):
        return before
    if demo:
        suite = demo_variant(suite, demo=load_demo(settings.SUITES_DIR / "demo.yaml"))
    chosen = choose(suite, models, prompts, attempts)
    if joining := [entry for entry in more if entry.id not in {known.id for known in chosen.models}]:
        chosen, uploaded = replace(chosen, models=(*chosen.models, *joining)), True
    profiles = profiles_of(chosen.models, chosen.generation.provider)
    refuse_unfit_models(chosen, chosen.models, profiles)
    try:
        with transaction.atomic():
            run = _create_run(
                chosen,
                label=label,
                budget=chosen.budget_usd if budget == "suite" else budget,
                uploaded=uploaded,
                by=by,
                team=team or default_team(by),
                draw=draw,
                key=key,
                profiles=profiles,
            )
            samples = expand(run, chosen, profiles, wait=wait, progress=progress)
            Event.objects.create(run=run, actor=by, verb=Event.Verb.START_RUN, facts={"samples": samples})
            queue_facts(run)
            enqueue_drawing()
    except IntegrityError:
        if not key:
            raise
        return Run.objects.get(start_key=key)  # pressed twice at the same moment: the other press won
    return run


def _create_run(
    suite: Suite,
    *,
    label: str,
    budget: Budget,
    uploaded: bool,
    by: By,
    team: Team | None,
    draw: bool,
    key: str | None,
    profiles: dict[str, Profile],
) -> Run:
    providers = {entry.provider or suite.generation.provider for entry in suite.models}
    return Run.objects.create(
        suite=suite.slug,
        title=suite.title,
        label=label,
        format=suite.format,
        protocols=list(suite.protocols),
        config=without_pictures(suite.to_dict()),
        has_programs=bool(suite.programs),
        digest=suite.digest(),
        is_demo=bool(providers) and all(profiles[name].kind == "demo" for name in providers),
        start_key=key or None,
        drawing_state=Run.Drawing.OPEN if draw else Run.Drawing.PAUSED,
        paused_reason="" if draw else "Not started yet: resume the run to draw it.",
        concurrency=suite.concurrency,
        adaptive_pairs=suite.judging.pairs == "adaptive",
        was_adaptive=suite.judging.pairs == "adaptive",
        measure_backend=get_format(suite.format).default_backend(),
        uploaded=uploaded,
        budget_nano=_checked_cap(to_nano(budget), uploaded),
        team=team,
        created_by=by,
    )


def choose(suite: Suite, models: Sequence[str] | None, prompts: Sequence[str] | None, attempts: int | None) -> Suite:
    """The suite cut to what was asked for."""
    if attempts is not None:
        if not 1 <= attempts <= 100:
            raise RunError(f"A run cannot have {attempts} attempts; use 1 to 100.")
        suite = replace(suite, generation=replace(suite.generation, attempts_per_prompt=attempts))
    if models is not None:
        _check_known(models, [entry.id for entry in suite.models], "model", suite)
        suite = replace(suite, models=tuple(entry for entry in suite.models if entry.id in set(models)))
    if prompts is not None:
        _check_known(prompts, [entry.key for entry in suite.prompts], "prompt", suite)
        suite = replace(suite, prompts=tuple(entry for entry in suite.prompts if entry.key in set(prompts)))
    return suite


def _check_known(asked: Sequence[str], known: Sequence[str], what: str, suite: Suite) -> None:
    for name in asked:
        if name not in known:
            raise RunError(f"{suite.slug} has no {what} {name!r}; it has {', '.join(known[:12])}.")


def to_nano(budget: Budget) -> int | None:
    if budget is None:
        return None
    amount = None if isinstance(budget, str) else nano(decimal_of(budget))
    if amount is None:
        raise RunError(f"{budget} is not an amount of money; use US dollars from 0 to 1000000.")
    return amount


def profiles_of(models: Sequence[ModelEntry], default: str) -> dict[str, Profile]:
    """The profiles of today's providers.yaml that these models need."""
    known = load_profiles(settings.SUITES_DIR / "providers.yaml")
    for entry in models:
        if (name := entry.provider or default) not in known:
            raise RunError(f"{entry.id}: there is no provider {name!r} in providers.yaml.")
    return known


def cap_fields(run: Run, budget: Budget | Literal["keep"], *, uploaded: bool) -> dict[str, Any]:
    """The fields of a run that a new cap changes."""
    nano_dollars = _checked_cap(run.budget_nano if budget == "keep" else to_nano(budget), uploaded)
    changed = {} if budget == "keep" else {"budget_nano": nano_dollars}
    return changed | ({} if uploaded == run.uploaded else {"uploaded": uploaded})


def _checked_cap(nano_dollars: int | None, uploaded: bool) -> int | None:
    """Nobody who runs the server has looked at what a curator sends, so its cost stays capped."""
    if uploaded and nano_dollars is None:
        raise RunError("A run of an uploaded suite or model needs a budget. Raise it instead of removing it.")
    return nano_dollars


def pause_run(run: Run, *, by: By = None, reason: str = "") -> bool:
    """No new call from now on; calls in flight end and count. False if the run was not drawing."""
    paused_reason = reason or "Paused by a curator."
    return _move(
        run,
        Event.Verb.PAUSE_RUN,
        by,
        reason,
        Run.Drawing.OPEN,
        drawing_state=Run.Drawing.PAUSED,
        paused_reason=paused_reason,
    )


def resume_run(run: Run, *, by: By = None, reason: str = "", budget: Budget | Literal["keep"] = "keep") -> bool:
    """Draw on, with every model given another chance at once. False if the run was not paused."""
    refuse_frozen(run)
    fields: dict[str, Any] = {
        "drawing_state": Run.Drawing.OPEN,
        "paused_reason": "",
        **cap_fields(run, budget, uploaded=run.uploaded),
    }
    with transaction.atomic():
        if not _move(run, Event.Verb.RESUME_RUN, by, reason, Run.Drawing.PAUSED, **fields):
            return False
        _forget_failures(run)
        run.samples.filter(state=Sample.State.PENDING, next_at__gt=now()).update(next_at=now())
        enqueue_drawing()
    return True


def cancel_run(run: Run, *, by: By = None, reason: str = "") -> bool:
    """Draw nothing more, for good; what is drawn stays. False if it was cancelled before."""
    if run.drawing_state == Run.Drawing.CANCELLED:
        return False
    with transaction.atomic():
        fields = {"drawing_state": Run.Drawing.CANCELLED, "paused_reason": ""}
        if not _move(run, Event.Verb.CANCEL_RUN, by, reason, run.drawing_state, **fields):
            raise RunError("The run changed in the meantime; look at it again.")
        run.samples.filter(state=Sample.State.PENDING).update(state=Sample.State.CANCELLED)
    return True


def retry_failed(run: Run, *, by: By = None, reason: str = "", codes: Sequence[str] = ()) -> int:
    """Give failed samples (those with one of these error codes, or all) a fresh start; says how many."""
    refuse_frozen(run)
    if run.drawing_state == Run.Drawing.CANCELLED:
        raise RunError("A cancelled run draws nothing more; start a new one.")
    with transaction.atomic():
        failed = run.samples.filter(state=Sample.State.FAILED, entrant__in=run.entrants.filter(disqualified=""))
        if codes:
            failed = failed.filter(failure__in=codes)
        Run.objects.filter(pk=run.pk).update(finished_at=None)
        again = failed.update(state=Sample.State.PENDING, claims=0, next_at=now())
        _forget_failures(run)
        run.models.exclude(refused_reason="").update(refused_reason="")
        facts = {"samples": again, "codes": list(codes)}
        Event.objects.create(run=run, actor=by, verb=Event.Verb.RETRY_FAILED, reason=reason, facts=facts)
        enqueue_drawing()
    return again


def _forget_failures(run: Run) -> None:
    run.models.update(failures_in_row=0, open_until=None)


def _move(run: Run, verb: Event.Verb, by: By, reason: str, expected: str, **fields: Any) -> bool:
    """Change an expected state into another, with its event; the row count says who was first."""
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk, drawing_state=expected).update(**fields) != 1:
            return False
        facts = {name: value for name, value in fields.items() if name == "budget_nano"}
        Event.objects.create(run=run, actor=by, verb=verb, reason=reason, facts=facts)
    run.refresh_from_db()
    return True
