"""Verbs about model judges: add one to a run, ask it about more pairs, and what that can cost at most."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from benchsite.lib.model_families import family_of
from generation.formats.ballot import FORMAT
from generation.models import Event, Prompt, Run, Sample
from generation.money import BILLED_FOR_AN_IMAGE, price_of, prompt_size, upper_bound_nano
from generation.queue import enqueue_drawing
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.expansion import entrant_row, model_row
from generation.runs.lifecycle import to_nano
from generation.suites.profiles import load_profiles
from generation.suites.suite import Generation, ModelEntry, Suite
from judging.model_judges.answers import judge_name, judge_names
from judging.model_judges.instructions import Instructions, about_judge
from judging.model_judges.pairs import Pair, choose_pairs

ANSWER_TOKENS = 4_000  # room for models that think before they answer
MOST_PAIRS = 20_000
ROOM = "judging.pairs"
ORDERS = 2
TIMES = 1 + FORMAT.asks_again  # that a question is asked at most


@dataclass(frozen=True)
class Plan:
    """Who is to judge, and about what: `own_family` asks it about drawings of its own family too."""

    model: ModelEntry
    instructions: Instructions
    pairs: int
    budget: float
    own_family: bool = False


def is_judged_in_pairs(run: Run) -> bool:
    return any(entry.judging_room == ROOM for entry in run.judged_by)


def refuse_unpaired(run: Run) -> None:
    """A RunError where no model judge can join."""
    refuse_frozen(run)
    if run.judged_run_id or not is_judged_in_pairs(run):
        raise RunError("Model judges compare pairs of drawings, and people do not judge this run in pairs.")


def add_model_judge(run: Run, plan: Plan, *, by: User | None = None) -> Run:
    """The judge with its first questions, whole or not at all; the same model with the same words is one judge."""
    _check(run, plan)
    profiles = load_profiles(settings.SUITES_DIR / "providers.yaml")
    if plan.model.provider not in profiles:
        raise RunError(f"There is no provider {plan.model.provider!r} in providers.yaml.")
    key, taken = _key(run, plan), judge_names(run)
    try:
        with transaction.atomic():
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
            added = _ask(judge, run, plan.pairs)
            if not added:
                raise RunError("There are no two drawings of one prompt that this model could judge.")
            facts = {"model": plan.model.id, "version": plan.instructions.version, "pairs": added}
            Event.objects.create(run=run, actor=by, verb=Event.Verb.ADD_MODEL_JUDGE, subject=plan.model.id, facts=facts)
            Event.objects.create(run=judge, actor=by, verb=Event.Verb.START_RUN, facts={"samples": ORDERS * added})
            enqueue_drawing()
    except IntegrityError:
        if Run.objects.filter(start_key=key).exists():
            raise RunError(
                f"{plan.model.id} judges this run with these instructions already; ask it for more pairs."
            ) from None
        raise
    return judge


def ask_for_more(judge: Run, pairs: int, *, by: User | None = None) -> int:
    """Asks about up to so many more pairs, first those that people judged since; says how many were added."""
    run = judge.judged_run
    assert run is not None  # a judge has one
    refuse_frozen(run)
    if judge.drawing_state == Run.Drawing.CANCELLED:
        raise RunError("This judge was cancelled; add it again with other instructions.")
    with transaction.atomic():
        # Whoever asks at the same moment waits, and then knows these pairs.
        Run.objects.select_for_update(no_key=True).get(pk=judge.pk)
        added = _ask(judge, run, min(pairs, MOST_PAIRS))
        if added:
            Run.objects.filter(pk=judge.pk).update(finished_at=None)
            facts = {"samples": ORDERS * added}
            Event.objects.create(run=judge, actor=by, verb=Event.Verb.EXTEND_RUN, facts=facts)
            enqueue_drawing()
    return added


def cost_bound_nano(run: Run, plan: Plan) -> int | None:
    """The most that all questions can cost, each with the run's longest prompt and asked again as often as may be.

    None without a price.
    """
    model = plan.model
    longest = max((question(prompt) for prompt in run.prompts.all()), key=lambda text: len(text.encode()), default="")
    words = ({"content": plan.instructions.text}, {"content": longest, "images": ("", "")})
    price = price_of(model.price_in, model.price_out, model.price_request, model.price_image)
    size = prompt_size(words, image=BILLED_FOR_AN_IMAGE)
    one = upper_bound_nano(size, ANSWER_TOKENS, price and price.with_images(2))
    return None if one is None else one * ORDERS * plan.pairs * TIMES


def _check(run: Run, plan: Plan) -> None:
    refuse_unpaired(run)
    if not 1 <= plan.pairs <= MOST_PAIRS:
        raise RunError(f"A model judge is asked about 1 to {MOST_PAIRS} pairs, not {plan.pairs}.")


def _key(run: Run, plan: Plan) -> str:
    who = f"{run.pk} {plan.model.provider} {plan.model.id} {plan.instructions.text}"
    return f"judge-{sha256(who.encode()).hexdigest()[:40]}"


def _create(run: Run, plan: Plan, *, key: str, is_demo: bool, by: User | None) -> Run:
    model, words = plan.model, plan.instructions
    return create_judge(
        run,
        model=model.id,
        about={"instructions": words.text, "version": words.version, "own_family": plan.own_family},
        generation=Generation(1, None, ANSWER_TOKENS, model.provider, system_prompt=words.text),
        models=(replace(model, label=model.label or model.id),),
        seed=zlib.crc32(key.encode()) >> 1,
        is_demo=is_demo,
        start_key=key,
        concurrency=Suite.concurrency,
        measure_backend=FORMAT.default_backend(),
        uploaded=True,
        budget_nano=to_nano(plan.budget),
        created_by=by,
    )


def create_judge(
    run: Run,
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
        format=FORMAT.name,
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


def _ask(judge: Run, run: Run, pairs: int) -> int:
    """Both orders of each pair, as prompts with a sample each; what was asked before stays as it is."""
    model, entrant = judge.models.get(), judge.entrants.get()
    known = {frozenset((facts["left"], facts["right"])) for facts in judge.prompts.values_list("facts", flat=True)}
    own = about_judge(judge)["own_family"]
    chosen = choose_pairs(
        run, wanted=pairs, seed=judge.pk + len(known), family="" if own else family_of(model.model_id), known=known
    )
    prompts = {prompt.pk: prompt for prompt in run.prompts.all()}
    position = judge.prompts.count()
    rows = [
        Prompt(
            run=judge,
            position=position + n,
            key=f"{left.pk}-{right.pk}",
            text=question(prompts[left.prompt]),
            subject=prompts[left.prompt].subject,
            category=prompts[left.prompt].category,
            facts={"left": left.pk, "right": right.pk, "prompt": left.prompt},
        )
        for n, (left, right) in enumerate(_both_orders(chosen))
    ]
    Prompt.objects.bulk_create(rows, batch_size=500)
    moment = now()
    Sample.objects.bulk_create(
        [Sample(run=judge, entrant=entrant, model=model, prompt=row, attempt=1, next_at=moment) for row in rows],
        batch_size=500,
    )
    return len(chosen)


def _both_orders(pairs: list[Pair]) -> list[Pair]:
    return [order for one, other in pairs for order in ((one, other), (other, one))]


def question(prompt: Prompt) -> str:
    """What goes with the two pictures: the prompt's words and nothing of the drawings."""
    return f"The prompt of both drawings was:\n\n{prompt.text}\n\nWhich drawing is better, A or B?"
