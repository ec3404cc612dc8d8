"""Failures of earlier releases told apart: what the model caused is an invalid answer, the rest stays missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.timezone import now

from benchsite.lib.progress_bar import Progress, unwatched
from generation.formats.silence import FINISH_OF
from generation.models import Event, Run, Sample
from generation.reading.answers import read_answer
from generation.reading.measuring import measured_inline, save_measurements
from generation.runs.errors import refuse_frozen
from generation.runs.loaded import LoadedRun, load_run
from generation.runs.staleness import mark_stale

AT_ONCE = 200


@dataclass
class Recount:
    """Failed samples by (entrant, code): those that are answers now, and those that stay missing."""

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def changed(self) -> int:
        return self.answers.total()


def recount_run(
    run: Run, *, by: Any = None, reason: str = "", dry_run: bool = False, progress: Progress = unwatched
) -> Recount:
    """Make invalid answers of the samples that failed by the model's own doing; the second time there is none left."""
    if not dry_run:
        refuse_frozen(run)
    failed = run.samples.filter(state=Sample.State.FAILED)
    result = Recount()
    rows = failed.exclude(failure__in=FINISH_OF).order_by("entrant__name", "failure")
    result.missing.update(rows.values_list("entrant__name", "failure"))
    silent = failed.filter(failure__in=FINISH_OF)
    if dry_run:
        result.answers.update(silent.order_by("entrant__name", "failure").values_list("entrant__name", "failure"))
        return result
    total = silent.count()
    loaded = load_run(run.pk)
    for batch in _batches(silent):
        result.answers.update(_recount_batch(loaded, batch))
        progress(result.changed, total)
    if result.changed:
        mark_stale(run.pk)
        codes = Counter(code for _, code in result.answers.elements())
        facts = {"answers": result.changed, "missing": result.missing.total(), **codes}
        Event.objects.create(run=run, actor=by, verb=Event.Verb.RECOUNT_RUN, reason=reason, facts=facts)
    return result


def _batches(samples: Any) -> Iterator[list[Sample]]:
    last = 0
    dated = samples.select_related("entrant").annotate(ended_at=Max("calls__ended_at")).order_by("pk")
    while batch := list(dated.filter(pk__gt=last)[:AT_ONCE]):
        last = batch[-1].pk
        yield batch


def _recount_batch(loaded: LoadedRun, batch: list[Any]) -> list[tuple[str, str]]:
    """(entrant, code) of each that was still failed when its row was written."""
    changed, measured = [], []
    with transaction.atomic():
        for sample in batch:
            finish = FINISH_OF[sample.failure]
            read = read_answer(
                loaded, prompt_pk=sample.prompt_id, text="", finish_reason=finish, measure=measured_inline(loaded)
            )
            fields = {
                **read.fields,
                "state": Sample.State.DRAWN,
                "finish_reason": finish,
                "drawn_at": sample.ended_at or now(),
                "failure": "",
                "failure_detail": "",
            }
            still = Sample.objects.filter(pk=sample.pk, state=Sample.State.FAILED, drawn_at=None)
            if still.update(**fields) == 1:
                changed.append((sample.entrant.name, sample.failure))
                measured.append((sample.pk, read.values))
        save_measurements(loaded, measured)
    return changed
