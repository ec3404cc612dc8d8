"""A restore while real workers draw: nothing is asked again before somebody says so, and then only what is missing."""

from __future__ import annotations

import pytest

from benchsite.operations.backups import back_up
from benchsite.operations.restoring import restore
from generation.models import ProviderCall, Run, Sample
from generation.queue import enqueue_drawing
from generation.runs.lifecycle import resume_run
from tests.generation.drawing.test_faults import AT_ONCE, is_done, new_run
from tests.generation.drawing_room import assert_all_drawn

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def test_restore_while_workers_draw_pays_for_nothing_twice(site, provider, tmp_path):
    run, done, file = new_run(80), new_run(2), tmp_path / "site.zip"
    for _ in range(2):
        site.keep("work", "draw")
    site.keep("sweep", "--forever")
    site.wait_until(is_done(done), "the end of the small run")
    site.wait_until(lambda: run.samples.filter(state="drawn").count() > AT_ONCE, "the first drawings")
    back_up(file)
    before = provider.bill.requests
    site.wait_until(lambda: provider.bill.requests > before + 4 * AT_ONCE, "calls after the backup")
    site.wait_until(lambda: provider.bill.in_flight > 0, "calls in flight")

    restored = restore(file, overwrite=True)

    run.refresh_from_db()
    assert restored.paused == 1 and restored.lost_calls > 4 * AT_ONCE
    assert run.drawing_state == Run.Drawing.PAUSED and "calls made since" in run.paused_reason
    assert Run.objects.get(pk=done.pk).drawing_state == Run.Drawing.OPEN, "it has nothing left to draw"
    site.wait_until(lambda: provider.bill.in_flight == 0, "the end of the calls in flight")
    asked = provider.bill.requests
    enqueue_drawing()
    site.wait_for_sweeps(3)
    assert provider.bill.requests == asked, "workers that run on ask nothing by themselves"

    kept = set(run.samples.filter(state="drawn").values_list("pk", flat=True))
    missing = run.samples.filter(state="pending").count()
    calls = ProviderCall.objects.filter(sample__in=kept).count()
    assert len(kept) + missing == 80 and len(kept) > AT_ONCE < missing
    resume_run(run)
    site.wait_until(is_done(run), "the end of the run")

    assert_all_drawn(run)
    assert provider.bill.requests - asked == missing, "what the backup had is not asked again, the rest once"
    assert ProviderCall.objects.filter(sample__in=kept).count() == calls
    assert Sample.objects.filter(run=done, state="drawn").count() == 2
