"""Verbs: fit a run, find what is stale, choose how ties and fails count, freeze a leaderboard."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils.timezone import now

from benchsite.lib.times import parse_time
from generation.models import Event, Run
from generation.protocols import load, protocol_of, protocols_of
from generation.queue import enqueue
from generation.runs.errors import refuse_frozen
from generation.runs.publishing import coming_demo_runs
from generation.runs.staleness import LATE, mark_stale
from judging.provenance import marks_of
from ranking.effort import effort_of
from ranking.models import Counting, Fit, Publication, Standing

DEMO_PATIENCE = timedelta(minutes=10)  # for a demo run to be drawn, judged and ranked by the command that makes it
KEPT_PAST = 20  # past leaderboards that were asked for
KEPT = 3  # fits of a kind that stay, besides the published ones; any past one can be made again from the votes


def fit_options(run: Run, *, until: str | None = None, ties: str = "", fails: str = "") -> dict[str, Any]:
    """The choices behind a fit: the curator's for this run, and the weights of judges who do not count fully."""
    chosen = Counting.objects.filter(run=run).first() or Counting(run=run)
    weighed = run.seats.filter(weight__lt=1).order_by("pseudonym").values_list("pseudonym", "weight")
    return {
        "ties": ties or chosen.ties,
        "fails": fails or chosen.fails,
        "weights": dict(weighed),
        "until": until,
        "backend": run.measure_backend,
    }


def fit_run(run: Run, *, protocol: str = "", full: bool = True, **choices: Any) -> Fit:
    """Compute and store one leaderboard: of the run's first protocol unless another is named."""
    protocol = protocol or next(iter(protocols_of(run)), "")
    entry = protocol_of(run, protocol)
    if entry is None:
        raise ValueError(f"Run {run.code} is not scored by {protocol or 'anything yet'}.")
    options, read_at = fit_options(run, **choices), now()
    result = load(entry.analyse)(run, options=options, full=full or not entry.slow)
    effort = effort_of(run, before=Fit.objects.newest(run, protocol))
    result.setdefault("run", {}).update(marks_of(run, entry), effort=effort)
    return store_fit(
        Fit(
            run=run,
            protocol=protocol,
            kind=Fit.Kind.FULL if full or not entry.slow else Fit.Kind.FAST,
            settings=options | result.get("settings", {}),
            result=result,
            votes=result.get("votes", 0),
            until=parse_time(options["until"]) if options["until"] else None,
            read_at=read_at,
        )
    )


@transaction.atomic
def store_fit(fit: Fit) -> Fit:
    fit.save()
    entrants = dict(fit.run.entrants.values_list("name", "id"))
    rows = [row for row in standing_rows(fit.result) if row[1]["entrant"] in entrants]
    Standing.objects.bulk_create(make_standing(fit, scope, entrants[row["entrant"]], row) for scope, row in rows)
    forget_old(fit)
    entry = protocol_of(fit.run, fit.protocol)
    if entry and entry.after_fit and fit.until is None:
        load(entry.after_fit)(fit.run, fit)
    return fit


def standing_rows(result: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(scope, standing) of every scope in a result."""
    for row in result.get("overall", []):
        yield "overall", row
    for category, rows in result.get("categories", {}).items():
        for row in rows:
            yield f"category:{category}", row


def make_standing(fit: Fit, scope: str, entrant_id: int, row: dict[str, Any]) -> Standing:
    return Standing(
        fit=fit,
        scope=scope[:120],
        entrant_id=entrant_id,
        score=row.get("rating", row.get("score")),
        n=row.get("votes", row.get("n")) or 0,
        **{name: row.get(name) for name in ("low", "high", "rank", "rank_low", "rank_high")},
    )


def forget_old(fit: Fit) -> None:
    """Delete older fits of the same kind, except a few and the published."""
    alike = Fit.objects.filter(run=fit.run, protocol=fit.protocol, kind=fit.kind, publications=None)
    alike = alike.filter(until__isnull=fit.until is None)
    kept = list(alike.order_by("-id").values_list("id", flat=True)[: KEPT_PAST if fit.until else KEPT])
    alike.exclude(id__in=kept).delete()


def stale_fits(kind: str) -> list[tuple[Run, str]]:
    """Runs and protocols whose scores changed after their newest fit of a kind read them, or that never had one.

    A protocol without a slow part has full fits only, and these count as its fast ones. A frozen run is fitted on
    until a fit has read what was under way when it was frozen, such as a vote that committed a moment later, and then no more.
    A new site's demo runs are left to the command that judges them, so that a first start does not fit each of them many times.
    """
    newest = Fit.objects.filter(until=None).order_by().values_list("run", "protocol", "kind").annotate(Max("read_at"))
    read = {(run, protocol, made): moment for run, protocol, made, moment in newest}
    stale = []
    coming = coming_demo_runs().filter(created_at__gt=now() - DEMO_PATIENCE)
    for run in Run.objects.exclude(scores_changed_at=None).exclude(pk__in=coming.values("pk")).defer("config"):
        changed = run.scores_changed_at
        if changed is not None and run.frozen_at:
            changed = min(changed, run.frozen_at + LATE)
        for name, entry in protocols_of(run).items():
            if kind == Fit.Kind.FULL and not entry.slow:
                continue
            moment = read.get((run.pk, name, kind if entry.slow else Fit.Kind.FULL))
            if moment is None or moment < changed:
                stale.append((run, name))
    return stale


def refit_fast(run: Run, protocol: str) -> Fit:
    """The fit that pages wait for: fast, or full where the protocol has no slow part."""
    return fit_run(run, protocol=protocol, full=False)


def refit_fully(run_id: int) -> list[Fit]:
    """The full fits of a run that are still stale when the worker gets to them."""
    return [fit_run(run, protocol=name) for run, name in stale_fits(Fit.Kind.FULL) if run.pk == run_id]


def queue_full_fit(run: Run) -> None:
    """Asks a worker for the slower, full fit."""
    enqueue("fit", "ranking.jobs.refit", run.pk)


def queue_past_fit(run: Run, *, protocol: str, until: str) -> None:
    """Asks a worker for the leaderboard as it stood at a past moment."""
    enqueue("fit", "ranking.jobs.fit_past", run.pk, protocol, until)


@transaction.atomic
def set_counting(*, run: Run, ties: str, fails: str, by: User | None, reason: str = "") -> Counting:
    refuse_frozen(run)
    chosen, _ = Counting.objects.update_or_create(run=run, defaults={"ties": ties, "fails": fails})
    Event.objects.create(run=run, actor=by, verb=Event.Verb.SET_COUNTING, subject=str(chosen), reason=reason)
    mark_stale(run.pk)
    return chosen


@transaction.atomic
def publish_fit(*, fit: Fit, by: User | None, title: str = "", note: str = "") -> Publication:
    """Freeze these numbers under a link of their own."""
    made = Publication.objects.create(fit=fit, by=by, title=title or str(fit.run), note=note)
    Event.objects.create(run=fit.run, actor=by, verb=Event.Verb.PUBLISH_LEADERBOARD, subject=made.code, reason=note)
    return made
