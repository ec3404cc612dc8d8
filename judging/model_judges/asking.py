"""Verbs about model judges: add one to a run, ask it about more pairs, and what that can cost at most."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils.timezone import now

from benchsite.lib.model_families import family_of
from generation.models import Event, Prompt, ProviderCall, Run, Sample
from generation.money import BILLED_FOR_AN_IMAGE, price_of, prompt_size, upper_bound_nano
from generation.queue import enqueue_drawing
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.expansion import entrant_row, model_row
from generation.runs.lifecycle import to_nano
from generation.runs.loaded import drawings_in
from generation.suites.profiles import load_profiles
from generation.suites.suite import Generation, ModelEntry, Suite
from judging.model_judges.grading import GRADES
from judging.model_judges.instructions import Instructions, about_judge
from judging.model_judges.kinds import Kind
from judging.model_judges.names import judge_name, judge_names
from judging.model_judges.pairs import PAIRS

ANSWER_TOKENS = 4_000  # room for models that think before they answer
MOST = 20_000  # pairs or drawings
KINDS = (PAIRS, GRADES)


@dataclass(frozen=True)
class Plan:
    """Who is to judge, and about how many pairs or drawings: `own_family` asks it about drawings of its own family too."""

    model: ModelEntry
    instructions: Instructions
    wanted: int
    budget: float
    own_family: bool = False
    kind: Kind = PAIRS


def kind_of(judge: Run) -> Kind:
    return next(kind for kind in KINDS if kind.format.name == judge.format)


def times(kind: Kind) -> int:
    """That a question is asked at most."""
    return 1 + kind.format.asks_again


def refuse_unasked(run: Run, kind: Kind) -> None:
    """A RunError where no such judge can join."""
    refuse_frozen(run)
    if run.judged_run_id or not kind.is_asked_in(run):
        raise RunError(kind.refusal)


def add_model_judge(run: Run, plan: Plan, *, by: User | None = None) -> Run:
    """The judge with its first questions, whole or not at all; the same model with the same words is one judge."""
    _check(run, plan)
    profiles = load_profiles(settings.SUITES_DIR / "providers.yaml")
    if plan.model.provider not in profiles:
        raise RunError(f"There is no provider {plan.model.provider!r} in providers.yaml.")
    key = _key(run, plan)
    try:
        with transaction.atomic():
            _forget_unasked(run, key)
            taken = judge_names(run, plan.kind)
            is_demo = profiles[plan.model.provider].kind == "demo"
            judge = _create(run, plan, key=key, is_demo=is_demo, by=by)
            if (name := judge_name(judge, plan.model.id)) in taken:
                raise RunError(
                    f"A judge by the name of {name} has answered already, with other words, from another provider or from "
                    "a file; give this one instructions of its own."
                )
            row = model_row(judge, plan.model, profiles[plan.model.provider])
            row.save()
            entrant_row(judge, row).save()
            added = _ask(judge, run, plan.kind, plan.wanted)
            if not added:
                raise RunError(f"There are no {plan.kind.things} that this model could judge.")
            facts = {"model": plan.model.id, "version": plan.instructions.version, plan.kind.things: added}
            Event.objects.create(run=run, actor=by, verb=Event.Verb.ADD_MODEL_JUDGE, subject=plan.model.id, facts=facts)
            Event.objects.create(
                run=judge, actor=by, verb=Event.Verb.START_RUN, facts={"samples": plan.kind.orders * added}
            )
            enqueue_drawing()
    except IntegrityError:
        if Run.objects.filter(start_key=key).exists():
            raise RunError(
                f"{plan.model.id} judges this run with these instructions already; ask it for more {plan.kind.things}."
            ) from None
        raise
    return judge


def ask_for_more(judge: Run, wanted: int, *, asked: str | None = None, by: User | None = None) -> int:
    """Asks about up to so many more pairs or drawings, first those that people judged since; says how many were added.

    `asked` is how many questions the page knew of: whoever clicks twice asks once.
    """
    run, kind = judge.judged_run, kind_of(judge)
    assert run is not None  # a judge has one
    refuse_frozen(run)
    if judge.drawing_state == Run.Drawing.CANCELLED:
        raise RunError("This judge was cancelled; add it again with other instructions.")
    with transaction.atomic():
        # Whoever asks at the same moment waits, and then knows these pairs.
        Run.objects.select_for_update(no_key=True).get(pk=judge.pk)
        if asked is not None and asked != str(judge.samples.count()):
            raise RunError("This judge has been asked more since you opened the page; nothing was added twice.")
        added = _ask(judge, run, kind, min(wanted, MOST))
        if added:
            Run.objects.filter(pk=judge.pk).update(finished_at=None)
            facts = {"samples": kind.orders * added}
            Event.objects.create(run=judge, actor=by, verb=Event.Verb.EXTEND_RUN, facts=facts)
            enqueue_drawing()
    return added


def cost_bound_nano(run: Run, plan: Plan) -> int | None:
    """The most that all questions can cost, each with the run's longest prompt and asked again as often as may be.

    None without a price.
    """
    model, kind, prompts = plan.model, plan.kind, list(run.prompts.all())
    longest = max((kind.question(run, prompt) for prompt in prompts), key=lambda text: len(text.encode()), default="")
    pictures = kind.orders + any(prompt.facts.get("has_image") for prompt in prompts)
    words = ({"content": plan.instructions.text}, {"content": longest, "images": ("",) * pictures})
    price = price_of(model.price_in, model.price_out, model.price_request, model.price_image)
    size = prompt_size(words, image=BILLED_FOR_AN_IMAGE)
    one = upper_bound_nano(size, ANSWER_TOKENS, price and price.with_images(pictures))
    return None if one is None else one * kind.orders * plan.wanted * times(kind)


def _forget_unasked(run: Run, key: str) -> None:
    """A judge that never asked anything, for want of a price or a budget, makes room for one that can; nothing paid is forgotten."""
    asked = ProviderCall.objects.filter(run=OuterRef("pk"))
    answered = Sample.objects.filter(run=OuterRef("pk"), state=Sample.State.DRAWN)
    paused = Run.objects.filter(start_key=key, judged_run=run, drawing_state=Run.Drawing.PAUSED)
    # Locked, so that no claim comes between the look and the end.
    for judge in paused.filter(~Exists(asked), ~Exists(answered), reserved_nano=0).select_for_update():
        judge.delete()


def _check(run: Run, plan: Plan) -> None:
    refuse_unasked(run, plan.kind)
    if not 1 <= plan.wanted <= MOST:
        raise RunError(f"A model judge is asked about 1 to {MOST:,} {plan.kind.things}, not {plan.wanted}.")


def _key(run: Run, plan: Plan) -> str:
    who = f"{run.pk} {plan.model.provider} {plan.model.id} {plan.instructions.text}{plan.kind.section}"
    return f"judge-{sha256(who.encode()).hexdigest()[:40]}"


def _create(run: Run, plan: Plan, *, key: str, is_demo: bool, by: User | None) -> Run:
    model, words = plan.model, plan.instructions
    return create_judge(
        run,
        plan.kind,
        model=model.id,
        about={"instructions": words.text, "version": words.version, "own_family": plan.own_family},
        generation=Generation(1, None, ANSWER_TOKENS, model.provider, system_prompt=words.text),
        models=(replace(model, label=model.label or model.id),),
        seed=zlib.crc32(key.encode()) >> 1,
        is_demo=is_demo,
        start_key=key,
        concurrency=Suite.concurrency,
        measure_backend=plan.kind.format.default_backend(),
        uploaded=True,
        budget_nano=to_nano(plan.budget),
        created_by=by,
    )


def create_judge(
    run: Run,
    kind: Kind,
    *,
    model: str,
    about: dict[str, Any],
    generation: Generation,
    models: tuple[ModelEntry, ...] = (),
    seed: int = 0,
    **fields: Any,
) -> Run:
    """The run that holds a judge's answers, without them; `fields` are those in which asked and imported judges differ."""
    suite = Suite(
        slug=run.suite,
        title=f"Model judge {model}"[:200],
        description="",
        method="",
        format=kind.format.name,
        protocols=(),
        seed=seed,
        generation=generation,
        models=models,
        prompts=(),
    )
    return Run.objects.create(
        suite=suite.slug,
        title=suite.title,
        label=f"v{about['version']}",
        format=suite.format,
        protocols=[],
        config=suite.to_dict() | {"model_judge": about},
        digest=suite.digest(),
        judged_run=run,
        team=run.team,
        **fields,
    )


def _ask(judge: Run, run: Run, kind: Kind, wanted: int) -> int:
    """New questions as prompts with a sample each; what was asked before stays as it is. Says about how many things."""
    model, entrant = judge.models.get(), judge.entrants.get()
    asked = list(judge.prompts.values_list("facts", flat=True))
    family = "" if about_judge(judge)["own_family"] else family_of(model.model_id)
    chosen = kind.choose(run, wanted=wanted, seed=judge.pk + len(asked) // kind.orders, family=family, asked=asked)
    prompts = {prompt.pk: prompt for prompt in run.prompts.all()}
    rows = [
        question_row(judge, kind, facts, prompts[facts["prompt"]], len(asked) + n) for n, facts in enumerate(chosen)
    ]
    Prompt.objects.bulk_create(rows, batch_size=500)
    moment = now()
    Sample.objects.bulk_create(
        [Sample(run=judge, entrant=entrant, model=model, prompt=row, attempt=1, next_at=moment) for row in rows],
        batch_size=500,
    )
    return len(chosen) // kind.orders


def question_row(judge: Run, kind: Kind, facts: dict[str, Any], prompt: Prompt, position: int) -> Prompt:
    """A question as a prompt of the judge's run; `prompt` is that of the drawings."""
    run = judge.judged_run
    assert run is not None  # a judge has one
    return Prompt(
        run=judge,
        position=position,
        key="-".join(map(str, drawings_in(facts))) or f"q{position}",
        text=kind.question(run, prompt),
        subject=prompt.subject,
        category=prompt.category,
        facts=facts,
    )
