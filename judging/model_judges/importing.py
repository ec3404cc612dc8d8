"""Model judges' answers from a file: each judge of it joins the run as one whose questions were asked elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.timezone import now

from benchsite.lib.progress_bar import Progress, unwatched
from generation.formats.ballot import FORMAT
from generation.models import Entrant, Event, LanguageModel, Prompt, Run, Sample
from generation.runs.errors import RunError
from generation.runs.staleness import mark_stale
from generation.suites.suite import Generation
from judging.files.model_vote_lines import ModelVoteLine, read_model_votes
from judging.model_judges.answers import judge_names
from judging.model_judges.asking import create_judge, question, refuse_unpaired
from judging.provenance import import_reason

PROVIDER = "import"
AT_ONCE = 500


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
                drawing = self.samples.get((line.prompt_text, entrant, -1 if attempt is None else attempt))
                if drawing is None:
                    number = "" if attempt is None else f", attempt {attempt}"
                    raise line.bad(f"{side}: this run has no drawing of {entrant!r} for this prompt{number}")
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
    """All of the file or nothing; says how many answers. A judge of the same name is not imported twice."""
    reason = import_reason(reason)
    refuse_unpaired(run)
    lines = read_model_votes(path, progress=progress)
    named = {line.judge for line in lines}
    with transaction.atomic():
        if known := sorted(judge_names(run) & named):
            raise RunError(f"{known[0]} judges this run already, and no answer counts twice.")
        store_model_votes(run, lines, by=by)
        facts = {"answers": len(lines), "judges": sorted(named), "file": path.name}
        Event.objects.create(run=run, actor=by, verb=Event.Verb.IMPORT_MODEL_VOTES, reason=reason, facts=facts)
        mark_stale(run.pk)
    return len(lines)


def store_model_votes(run: Run, lines: Sequence[ModelVoteLine], *, by: User | None = None) -> None:
    """A model judge for each that the lines name; the first line about a drawing that is not there refuses them all."""
    by_judge: dict[str, list[ModelVoteLine]] = defaultdict(list)
    for line in lines:
        by_judge[line.judge].append(line)
    if not by_judge:
        return
    drawings = Drawings(run)
    for name, own in by_judge.items():
        _store(run, name, own, drawings, by=by)


def _store(run: Run, name: str, lines: list[ModelVoteLine], drawings: Drawings, *, by: User | None) -> None:
    first = lines[0]
    judge = create_judge(
        run,
        model=first.model,
        about={"instructions": "", "version": first.version, "own_family": True, "name": name},
        generation=Generation(1, None, 1, PROVIDER),
        is_demo=first.simulated,
        drawing_state=Run.Drawing.CANCELLED,
        budget_nano=0,
        created_by=by,
        finished_at=now(),
    )
    kind = "demo" if first.simulated else PROVIDER
    model = LanguageModel.objects.create(
        run=judge,
        model_id=first.model,
        label=first.model,
        provider=PROVIDER,
        profile={"name": PROVIDER, "base_url": "", "kind": kind},
    )
    entrant = Entrant.objects.create(run=judge, name=first.model, label=first.model, model=model)
    prompts = [_prompt(judge, line, drawings, position) for position, line in enumerate(lines)]
    Prompt.objects.bulk_create(prompts, batch_size=AT_ONCE)
    Sample.objects.bulk_create(
        [
            Sample(run=judge, entrant=entrant, model=model, prompt=prompt, attempt=1, **_answer(line))
            for prompt, line in zip(prompts, lines, strict=True)
        ],
        batch_size=AT_ONCE,
    )


def _prompt(judge: Run, line: ModelVoteLine, drawings: Drawings, position: int) -> Prompt:
    """The question; in a run of imported votes, which has no drawings, about two entrants instead."""
    prompt, facts = drawings.shown(line)
    return Prompt(
        run=judge,
        position=position,
        key=f"q{position}" if "entrants" in facts else f"{facts['left']}-{facts['right']}",
        text=question(prompt),
        subject=prompt.subject,
        category=prompt.category,
        facts=facts,
    )


def _answer(line: ModelVoteLine) -> dict[str, Any]:
    """What the answer said, as a reader of ours would have stored it."""
    fields: dict[str, Any] = {
        "state": Sample.State.DRAWN,
        "drawn_at": line.answered_at or now(),
        "imported": True,
        "format_version": FORMAT.version,
        "facts": {"cost_nano": line.cost_nano},
    }
    if line.answer is None:
        code, _, detail = line.unreadable.partition(": ")
        return fields | {"verdict": Sample.Verdict.INVALID, "reason": code[:60], "detail": detail}
    fields["facts"] |= {"answer": line.answer, "reason": line.reason}
    return fields | {"verdict": Sample.Verdict.VALID, "drawing": f"{line.answer}: {line.reason}"}
