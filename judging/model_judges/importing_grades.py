"""Model judges' grades from a file: each judge of it joins the run as one whose questions were asked elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Prompt, Run, Sample
from judging.files.model_grade_lines import ModelGradeLine, read_model_grades
from judging.grades.sheets import rubric_of
from judging.model_judges.elsewhere import by_judge, import_answers, store_answers
from judging.model_judges.grading import GRADES, facts_about
from judging.model_judges.kinds import Facts


def import_model_grades(
    run: Run, path: Path, *, reason: str, by: User | None = None, progress: Progress = unwatched
) -> int:
    def read() -> list[ModelGradeLine]:
        return read_model_grades(path, rubric=rubric_of(run.code), progress=progress)

    store = partial(store_model_grades, run, by=by)
    return import_answers(run, GRADES, read, store, file=path.name, reason=reason, by=by)


def store_model_grades(run: Run, lines: Sequence[ModelGradeLine], *, by: User | None = None) -> None:
    """A model judge for each that the lines name; the first line about a drawing that is not there refuses them all."""
    drawings = _drawings(run) if lines else {}
    rubric = rubric_of(run.code)
    for own in by_judge(lines):
        shown: dict[int, tuple[Prompt, Facts]] = {}
        for line in own:
            sample = drawings.get(line.item)
            if sample is None:
                raise line.bad(
                    f"entrant: this run has no drawing of {line.subject!r} by {line.entrant!r}, attempt {line.attempt}"
                )
            if sample.pk in shown:  # named by its subject once and by its prompt's key once
                raise line.bad("this judge graded this drawing in an earlier line")
            shown[sample.pk] = sample.prompt, facts_about(rubric, sample.pk, sample.prompt)
        store_answers(run, GRADES, own, list(shown.values()), [_answer(line) for line in own], by=by)


def _drawings(run: Run) -> dict[tuple[str, str, str, int], Sample]:
    """As files name them: by subject, or by the prompt's key."""
    drawn = run.samples.filter(state=Sample.State.DRAWN).select_related("prompt", "entrant")
    return {
        (sample.entrant.name, sample.prompt.category, name, sample.attempt): sample
        for sample in drawn.defer("raw", "answer", "drawing")
        for name in (sample.prompt.subject, sample.prompt.key)
        if name
    }


def _answer(line: ModelGradeLine) -> dict[str, Any] | None:
    return None if line.grades is None else {"grades": line.grades, "reasons": line.reasons}
