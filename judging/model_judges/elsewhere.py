"""Model judges whose questions were asked elsewhere: each joins a run as one that is asked no more, with its answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.timezone import now

from generation.models import Entrant, Event, LanguageModel, Prompt, Run, Sample
from generation.runs.errors import RunError
from generation.runs.staleness import mark_stale
from generation.suites.suite import Generation
from judging.files.model_lines import Line, ModelLine
from judging.model_judges.asking import create_judge, question_row, refuse_unasked
from judging.model_judges.kinds import Facts, Kind
from judging.model_judges.names import judge_names
from judging.provenance import import_reason

PROVIDER = "import"
AT_ONCE = 500


def import_answers(
    run: Run,
    kind: Kind,
    read: Callable[[], Sequence[Line]],
    store: Callable[[Sequence[Line]], None],
    *,
    file: str,
    reason: str,
    by: User | None,
) -> int:
    """All of the file or nothing; says how many answers. A judge of the same name is not imported twice."""
    reason = import_reason(reason)
    refuse_unasked(run, kind)
    lines = read()
    named = {line.judge for line in lines}
    with transaction.atomic():
        refuse_known(run, kind, named)
        store(lines)
        facts = {"answers": len(lines), "judges": sorted(named), "file": file}
        Event.objects.create(run=run, actor=by, verb=Event.Verb.IMPORT_MODEL_VOTES, reason=reason, facts=facts)
        mark_stale(run.pk)
    return len(lines)


def by_judge(lines: Iterable[Line]) -> list[list[Line]]:
    judges: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        judges[line.judge].append(line)
    return list(judges.values())


def refuse_known(run: Run, kind: Kind, named: Collection[str]) -> None:
    """A RunError where one of them judges this run: no answer counts twice."""
    if known := sorted(judge_names(run, kind) & set(named)):
        raise RunError(f"{known[0]} judges this run already, and no answer counts twice.")


def store_answers(
    run: Run,
    kind: Kind,
    lines: Sequence[ModelLine],
    shown: Sequence[tuple[Prompt, Facts]],
    answers: Sequence[dict[str, Any] | None],
    *,
    by: User | None,
) -> None:
    """One judge with its answers, None where nothing readable came; `shown` says what each was about."""
    first = lines[0]
    judge = create_judge(
        run,
        kind,
        model=first.model,
        about={"instructions": "", "version": first.version, "own_family": True, "name": first.judge},
        generation=Generation(1, None, 1, PROVIDER),
        is_demo=first.simulated,
        drawing_state=Run.Drawing.CANCELLED,
        budget_nano=0,
        created_by=by,
        finished_at=now(),
    )
    profile = {"name": PROVIDER, "base_url": "", "kind": "demo" if first.simulated else PROVIDER}
    model = LanguageModel.objects.create(
        run=judge, model_id=first.model, label=first.model, provider=PROVIDER, profile=profile
    )
    entrant = Entrant.objects.create(run=judge, name=first.model, label=first.model, model=model)
    prompts = [question_row(judge, kind, facts, prompt, n) for n, (prompt, facts) in enumerate(shown)]
    Prompt.objects.bulk_create(prompts, batch_size=AT_ONCE)
    Sample.objects.bulk_create(
        [
            Sample(run=judge, entrant=entrant, model=model, prompt=prompt, attempt=1, **_fields(kind, line, answer))
            for prompt, line, answer in zip(prompts, lines, answers, strict=True)
        ],
        batch_size=AT_ONCE,
    )


def _fields(kind: Kind, line: ModelLine, answer: dict[str, Any] | None) -> dict[str, Any]:
    """What the answer said, as a reader of ours would have stored it."""
    fields: dict[str, Any] = {
        "state": Sample.State.DRAWN,
        "drawn_at": line.answered_at or now(),
        "imported": True,
        "format_version": kind.format.version,
        "facts": {"cost_nano": line.cost_nano, **(answer or {})},
    }
    if answer is None:
        code, _, detail = line.unreadable.partition(": ")
        return fields | {"verdict": Sample.Verdict.INVALID, "reason": code[:60], "detail": detail}
    return fields | {"verdict": Sample.Verdict.VALID, "drawing": kind.in_words(answer)}
