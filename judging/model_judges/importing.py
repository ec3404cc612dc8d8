"""Model judges' answers from a file: each judge of it joins the run as one whose questions were asked elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from benchsite.lib.progress_bar import Progress, unwatched
from generation.models import Prompt, Run, Sample
from judging.files.model_vote_lines import FIRST_ATTEMPT, ModelVoteLine, read_model_votes
from judging.model_judges.elsewhere import by_judge, import_answers, store_answers
from judging.model_judges.pairs import PAIRS


class Drawings:
    """A run's drawings as files name them; of a run that has none, its entrants and prompts."""

    def __init__(self, run: Run) -> None:
        drawn = run.samples.filter(state=Sample.State.DRAWN).select_related("prompt", "entrant")
        self.samples = {
            (sample.prompt.text, sample.entrant.name, sample.attempt): sample
            for sample in drawn.defer("raw", "answer", "drawing")
        }
        self.has_none = not self.samples and not run.samples.exists()
        self.entrants = dict(run.entrants.values_list("name", "pk"))
        self.prompts = {prompt.text: prompt for prompt in run.prompts.all()}

    def shown(self, line: ModelVoteLine) -> tuple[Prompt, dict[str, Any]]:
        """The prompt that a line is about, and what its question stores; BadLine where it is not of this run."""
        sides = (
            ("left_model", line.left_model, line.left_attempt),
            ("right_model", line.right_model, line.right_attempt),
        )
        if not self.has_none:
            pair = []
            for side, entrant, attempt in sides:
                number = FIRST_ATTEMPT if attempt is None else attempt
                drawing = self.samples.get((line.prompt_text, entrant, number))
                if drawing is None:
                    raise line.bad(f"{side}: this run has no drawing of {entrant!r} for this prompt, attempt {number}")
                pair.append(drawing)
            prompt = pair[0].prompt
            return prompt, {"left": pair[0].pk, "right": pair[1].pk, "prompt": prompt.pk}
        if line.prompt_text not in self.prompts:
            raise line.bad("prompt_text: this run has no such prompt")
        for side, entrant, _ in sides:
            if entrant not in self.entrants:
                raise line.bad(f"{side}: {entrant!r} is no entrant of this run")
        prompt = self.prompts[line.prompt_text]
        return prompt, {"entrants": [self.entrants[entrant] for _, entrant, _ in sides], "prompt": prompt.pk}


def import_model_votes(
    run: Run, path: Path, *, reason: str, by: User | None = None, progress: Progress = unwatched
) -> int:
    read, store = partial(read_model_votes, path, progress=progress), partial(store_model_votes, run, by=by)
    return import_answers(run, PAIRS, read, store, file=path.name, reason=reason, by=by)


def store_model_votes(run: Run, lines: Sequence[ModelVoteLine], *, by: User | None = None) -> None:
    """A model judge for each that the lines name; the first line about a drawing that is not there refuses them all."""
    drawings = Drawings(run) if lines else None
    for own in by_judge(lines):
        assert drawings is not None  # there is a line
        shown = [drawings.shown(line) for line in own]
        met: set[tuple[int, int]] = set()
        for line, (_, facts) in zip(own, shown, strict=True):
            order = (facts.get("left", 0), facts.get("right", 0))  # a drawing may be named with its attempt, or without
            if order in met and any(order):
                raise line.bad("this judge answered on these drawings in this order already")
            met.add(order)
        store_answers(run, PAIRS, own, shown, [_answer(line) for line in own], by=by)


def _answer(line: ModelVoteLine) -> dict[str, Any] | None:
    return None if line.answer is None else {"answer": line.answer, "reason": line.reason}
