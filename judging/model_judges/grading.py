"""Which drawings a model judge grades by a run's rubric: those that people graded, then others; and what it is asked."""

from __future__ import annotations

import random
from collections import defaultdict

from generation.formats.grade_sheet import FORMAT, in_words
from generation.models import Prompt, Run
from generation.suites.suite import Rubric
from judging.grades.pages import title_of
from judging.grades.sheets import rubric_of
from judging.model_judges.kinds import Facts, Kind, reference_facts, with_reference
from judging.model_judges.pairs import judgeable
from judging.models import Grade
from judging.rules import rules_of


def _choose(run: Run, *, wanted: int, seed: int, family: str, asked: list[Facts]) -> list[Facts]:
    """People's drawings come first, in random order; the others one of each entrant and prompt after the other."""
    rubric = rubric_of(run.code)
    stages = {stage.key for stage in rubric.stages}
    prompts = {prompt.pk: prompt for prompt in run.prompts.all() if prompt.category in stages}
    known = {facts["drawing"] for facts in asked}
    luck = random.Random(seed)
    shown = {
        pk: drawing for pk, drawing in judgeable(run, family).items() if drawing.prompt in prompts and pk not in known
    }
    graded = set(Grade.objects.rated().filter(run=run).values_list("sample_id", flat=True).distinct())
    order = sorted(shown, key=lambda pk: luck.random())
    cells: dict[tuple[int, int], int] = defaultdict(int)
    turns = {}
    for pk in order:
        cell = shown[pk].prompt, shown[pk].entrant
        turns[pk] = cells[cell] = cells[cell] + 1
    order.sort(key=lambda pk: (pk not in graded, 0 if pk in graded else turns[pk]))
    return [facts_about(rubric, pk, prompts[shown[pk].prompt]) for pk in order[:wanted]]


def facts_about(rubric: Rubric, drawing: int, prompt: Prompt) -> Facts:
    """What the reader of the answer holds it against, beside what it is about."""
    return {
        "drawing": drawing,
        "prompt": prompt.pk,
        "dimensions": [dimension.key for dimension in rubric.stage(prompt.category).dimensions],
        "scale": [rubric.low, rubric.high, rubric.step],
        **reference_facts(prompt),
    }


def question(run: Run, prompt: Prompt) -> str:
    """What people read beside the drawing: its subject, the line about it, what judges are told, the dimensions and the scale."""
    rubric = rubric_of(run.code)
    stage = next((stage for stage in rubric.stages if stage.key == prompt.category), rubric.stages[0])
    dimensions = [
        f'- "{dimension.key}" ({dimension.label}, {dimension.weight:.0%} of the score): {dimension.help}'.rstrip(": ")
        for dimension in stage.dimensions
    ]
    parts = (
        f"The drawing shows: {title_of(prompt)}",
        prompt.facts.get("description", ""),
        rules_of(run.code).judging.instructions,
        f"Grade it from {rubric.low:g} to {rubric.high:g} in steps of {rubric.step:g} on these dimensions:\n"
        + "\n".join(dimensions),
    )
    return with_reference("\n\n".join(part for part in parts if part), prompt)


GRADES = Kind(
    room="judging.grades",
    format=FORMAT,
    in_words=in_words,
    things="drawings",
    orders=1,
    section="grading",
    refusal="Model judges grade drawings by a rubric, and people do not grade this run.",
    lede="A model grades this run’s drawings by the rubric. Its grades are compared with people’s and never counted as theirs:",
    board="ranking:model_graders",
    page="judging:model_graders",
    import_page="judging:import_model_grades",
    choose=_choose,
    question=question,
)
