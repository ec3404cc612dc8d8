"""Makers for tests of grading: a run with a rubric and SVG drawings, and a judge with a list."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from generation.models import Prompt, Run, Sample
from generation.suites.loading import load_suite
from judging.grades.grading import grade_sample
from judging.grades.sheets import next_item, open_sheet
from tests.judging.make import make_run, make_seat

SUITE = load_suite(Path(__file__).parent.parent.parent / "config" / "pokemon-svg")
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="{}" height="60" fill="#c33"/></svg>'


def make_rubric_run(*, entrants=2, subjects=2, attempts=2, overlap=0.2, **judging) -> Run:
    """The shipped rubric with so many subjects a stage."""
    stages = [stage.key for stage in SUITE.rubric.stages]
    run = make_run(
        entrants=entrants, prompts=subjects * len(stages), attempts=attempts, categories=stages, format="svg"
    )
    suite = replace(SUITE, judging=replace(SUITE.judging, overlap=overlap, **judging))
    run.suite, run.title, run.protocols, run.config = suite.slug, suite.title, ["rubric"], suite.to_dict()
    run.save()
    prompts, samples = list(run.prompts.all()), list(run.samples.order_by("id"))
    for stage in stages:
        entries = [prompt for prompt in SUITE.prompts if prompt.category == stage]
        for entry, prompt in zip(entries, [one for one in prompts if one.category == stage], strict=False):
            prompt.key, prompt.text, prompt.subject, prompt.facts = entry.key, entry.text, entry.subject, entry.facts
    Prompt.objects.bulk_update(prompts, ["key", "text", "subject", "facts"])
    for number, sample in enumerate(samples):
        sample.drawing = SVG.format(number + 1)
        sample.facts = {"bytes": 90, "tags": 2, "advanced_share": 0.0, "anchors_all": 4}
    Sample.objects.bulk_update(samples, ["drawing", "facts"])
    return run


def seat_with_list(run, name="alice", **values):
    seat = make_seat(run, name, **values)
    open_sheet(seat.pk)
    return seat


def dimensions(item) -> list[str]:
    return [dimension.key for dimension in SUITE.rubric.stage(item.stage).dimensions]


def grade(seat, item, value=5.0, **options):
    return grade_sample(judge=seat.judge, code=item.code, values=dict.fromkeys(dimensions(item), value), **options)


def grade_all(seat, value_of) -> None:
    """Grade the whole list; `value_of(item, dimension)` says how."""
    while item := next_item(seat):
        values = {key: value_of(item, key) for key in dimensions(item)}
        grade_sample(judge=seat.judge, code=item.code, values=values)
