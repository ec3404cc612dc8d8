"""A run that simulated judges have graded, with one invalid drawing and the structure of the others."""

from __future__ import annotations

from django.db.models import F

from generation.models import Measurement, Sample
from ranking.simulated.grades import simulate_grades
from tests.judging.graded import make_rubric_run


def make_graded_run(**shape):
    run = make_rubric_run(**{"entrants": 3, "subjects": 2, **shape})
    Measurement.objects.bulk_create(
        Measurement(
            sample=sample,
            backend=run.measure_backend,
            values={
                "bytes": 400 + n,
                "tags": 10,
                "advanced_tags": 1,
                "advanced_share": 0.1,
                "anchors_path": 20 * n,
                "anchors_all": 20 * n + 4,
            },
        )
        for n, sample in enumerate(run.samples.order_by("id"))
    )
    run.samples.update(answer=F("drawing"))
    spoil = run.samples.filter(entrant=run.entrants.last()).first()
    Sample.objects.filter(pk=spoil.pk).update(verdict="invalid", reason="no_svg", drawing="", answer="No.")
    simulate_grades(run, judges=3)
    return run
