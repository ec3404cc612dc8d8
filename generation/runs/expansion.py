"""A suite becomes rows: models, prompts, entrants and pending samples; what is there already stays as it is.

A page that starts or extends a very large run writes the first samples; a worker writes the others, and nothing is drawn before
all are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.timezone import now

from benchsite.lib.database.updates import insert_alike
from benchsite.lib.progress_bar import Progress, unwatched
from generation.codes import new_code
from generation.models import Entrant, LanguageModel, Prompt, ReferencePicture, Run, Sample
from generation.money import nano
from generation.queue import enqueue, enqueue_drawing, enqueue_if_idle
from generation.suites.profiles import Profile
from generation.suites.suite import ModelEntry, ProgramEntry, Suite

ROWS_AT_ONCE, SAMPLES_AT_ONCE = 500, 2_000
SAMPLES_A_PAGE = 10_000  # about a third of a second
VARIED = ("entrant_id", "model_id", "prompt_id", "attempt", "code", "state")  # what sets two new samples apart
HAS_IMAGE = "has_image"  # among a prompt's facts: it has a reference picture


def expand(
    run: Run, suite: Suite, profiles: dict[str, Profile], *, wait: bool = True, progress: Progress = unwatched
) -> int:
    """Every row the suite asks for; what is there already stays as it is. Says how many samples are added.

    Without `wait` a worker writes what is more than a page's share.
    """
    competing = run.samples.filter(entrant__disqualified="")
    before = competing.count()
    LanguageModel.objects.bulk_create(
        [model_row(run, entry, profiles[entry.provider or suite.generation.provider]) for entry in suite.models],
        ignore_conflicts=True,
    )
    Prompt.objects.bulk_create(
        [
            Prompt(
                run=run,
                position=position,
                key=entry.key,
                text=entry.text,
                subject=entry.subject,
                category=entry.category,
                facts=entry.facts | ({HAS_IMAGE: True} if entry.image else {}),
            )
            for position, entry in enumerate(suite.prompts)
        ],
        batch_size=ROWS_AT_ONCE,
        ignore_conflicts=True,
    )
    store_pictures(run, {entry.key: entry.image for entry in suite.prompts if entry.image})
    models = {row.model_id: row for row in run.models.filter(model_id__in=[entry.id for entry in suite.models])}
    Entrant.objects.bulk_create(_entrant_rows(run, suite, models), ignore_conflicts=True)
    # A program's samples depend on whether it is approved, which may change before a worker comes to it.
    most = None if wait or suite.programs else SAMPLES_A_PAGE
    total = expand_samples(run, suite, most=most, progress=progress)
    if most is None or total <= most:
        return competing.count() - before
    run.setting_up = True
    run.save(update_fields=["setting_up"])
    enqueue("measure", "generation.jobs.set_up", run.pk)
    return total - before


def finish_expansion(run: Run) -> None:
    """Write what is missing, part by part, and let the run be drawn; safe to run twice at once, and again after a crash."""
    expand_samples(run, Suite.from_dict(run.config))
    with transaction.atomic():
        # One that was extended meanwhile has more to write, and a job of its own.
        if Run.objects.filter(pk=run.pk, digest=run.digest, setting_up=True).update(setting_up=False):
            gone = run.entrants.exclude(disqualified="")
            run.samples.filter(state=Sample.State.PENDING, entrant__in=gone).update(state=Sample.State.CANCELLED)
            enqueue_drawing()


def enqueue_expansions() -> None:
    """Ask again for what a lost worker, or a lost job, left unwritten."""
    for pk in Run.objects.filter(setting_up=True).values_list("pk", flat=True):
        enqueue_if_idle("measure", "generation.jobs.set_up", pk)


def store_pictures(run: Run, addresses: Mapping[str, str]) -> None:
    """Reference pictures by the key of their prompt; those that are there stay as they are."""
    prompts = run.prompts.filter(key__in=addresses).values_list("pk", "key") if addresses else ()
    ReferencePicture.objects.bulk_create(
        [ReferencePicture(prompt_id=pk, address=addresses[key]) for pk, key in prompts], ignore_conflicts=True
    )


def model_row(run: Run, entry: ModelEntry, profile: Profile) -> LanguageModel:
    return LanguageModel(
        run=run,
        model_id=entry.id,
        label=entry.label,
        provider=profile.name,
        profile=asdict(profile),
        note=entry.note,
        extra_prompt=entry.extra_prompt,
        parameters=entry.parameters,
        **prices_nano(entry),
        facts=entry.facts.known(),
    )


def prices_nano(entry: ModelEntry) -> dict[str, int | None]:
    """What a model's row says of its price."""
    return {f"price_{name}_nano": nano(getattr(entry, f"price_{name}")) for name in ("in", "out", "request", "image")}


def models_without_price(run: Run) -> QuerySet[LanguageModel]:
    return run.models.filter(Q(price_in_nano=None) | Q(price_out_nano=None))


def fill_prices(run: Run, today: Suite) -> list[str]:
    """Prices that the run does not know, from the suite as it is today; says whose. A known price stays as it is."""
    listed = {(entry.id, entry.provider or today.generation.provider): entry for entry in today.models}
    filled = []
    for row in models_without_price(run):
        entry = listed.get((row.model_id, row.provider))
        given = {} if entry is None else prices_nano(entry)
        new = {name: price for name, price in given.items() if price is not None and getattr(row, name) is None}
        if new:
            LanguageModel.objects.filter(pk=row.pk).update(**new)
            filled.append(row.model_id)
    return filled


def _entrant_rows(run: Run, suite: Suite, models: dict[str, LanguageModel]) -> list[Entrant]:
    if not suite.programs:
        return [entrant_row(run, row) for row in models.values()]
    # A Python program is run only once a curator has read it, whoever wrote the suite.
    return [program_row(run, program, approved=not program.python) for program in suite.programs]


def program_row(run: Run, program: ProgramEntry, **fields: Any) -> Entrant:
    return Entrant(
        run=run,
        name=program.name,
        label=program.name,
        note=program.note,
        team=program.team,
        turns=list(program.turns),
        source=program.source,
        python=program.python,
        baseline=program.baseline,
        disqualified=program.disqualified,
        is_demo=run.is_demo,
        **fields,
    )


def entrant_row(run: Run, model: LanguageModel) -> Entrant:
    demo = model.profile.get("kind") == "demo"
    return Entrant(run=run, name=model.model_id, label=model.label, note=model.note, model=model, is_demo=demo)


def expand_samples(run: Run, suite: Suite, *, most: int | None = None, progress: Progress = unwatched) -> int:
    """Attempt by attempt, prompt by prompt, so that every model makes progress at the same pace.

    Says how many there are to be; of these the first `most` are written, or all.
    """
    prompts = list(run.prompts.order_by("position"))
    models = list(run.models.filter(model_id__in=[entry.id for entry in suite.models]))
    pairs = [
        (entrant, model)
        for entrant in run.entrants.filter(disqualified="")
        for model in models
        if entrant.model_id in (None, model.pk) and not entrant.runs_elsewhere
    ]
    shared = {"run_id": run.pk, "next_at": now()}
    # A program that waits for approval is not asked; approving it sets these free.
    states = {True: Sample.State.PENDING.value, False: Sample.State.CANCELLED.value}
    rows = (
        (entrant.pk, model.pk, prompt.pk, attempt, new_code(), states[entrant.approved])
        for attempt in range(1, suite.generation.attempts_per_prompt + 1)
        for prompt in prompts
        for entrant, model in pairs
    )
    total = suite.generation.attempts_per_prompt * len(prompts) * len(pairs)
    wanted = total if most is None else min(most, total)
    for start in range(0, wanted, SAMPLES_AT_ONCE):
        progress(start, total)
        some = list(islice(rows, min(SAMPLES_AT_ONCE, wanted - start)))
        with transaction.atomic():  # a worker's parts let others write in between
            insert_alike(Sample, shared, VARIED, some)
    return total
