"""Verbs of a curator about checks: how often they come, make some, choose one, retire one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from random import Random, SystemRandom

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from generation.models import Event, Run, Sample
from generation.runs.errors import RunError
from generation.suites.studies.gold import Gold
from judging.models import GoldPair, GoldSetting
from judging.rules import rules_of

POOL = 24  # checks that a run begins with
TRIES = 4  # drawings tried for each check


def rule_for(run: Run) -> Gold | None:
    """What a new judge of this run gets: a curator's rule, or the suite's."""
    setting = GoldSetting.objects.filter(run=run).first()
    if setting is not None:
        return Gold(**setting.rule) if setting.rule else None
    return rules_of(run.code).judging.gold


def refuse_names(run: Run) -> None:
    if rules_of(run.code).judging.reveal == "after_vote":
        raise RunError(
            "This run shows names after each vote, which would tell judges which pairs are attention checks."
        )


@transaction.atomic
def set_gold(*, run: Run, rule: Gold | None, by: User | None, reason: str = "") -> None:
    """Judges who join from now on get checks by this rule, or none. Others go on as they began."""
    if rule is not None:
        refuse_names(run)
        fill_pool(run, by=by)
    GoldSetting.objects.update_or_create(run=run, defaults={"rule": asdict(rule) if rule else None})
    words = f"one in {rule.every}, {rule.on_failure}" if rule else "none"
    Event.objects.create(run=run, actor=by, verb=Event.Verb.SET_GOLD, subject=words, reason=reason)


def pool_of(run: Run) -> int:
    return run.gold_pairs.filter(retired_at=None).count()


def fill_pool(run: Run, *, by: User | None) -> None:
    """See that the run has checks to show; RunError where there is none and none can be made."""
    missing = POOL - pool_of(run)
    if missing > 0:
        make_gold(run=run, count=missing, by=by)
    if not pool_of(run):
        raise RunError(
            "No attention check can be made of this run’s drawings: they are too few or too small to damage, or their format has no "
            "way to. Choose pairs yourself on the page Attention checks."
        )


@transaction.atomic
def make_gold(*, run: Run, count: int, by: User | None, random: Random | None = None) -> int:
    """Pairs of a drawing and a damaged copy of another model's drawing of the same prompt. Says how many were made.

    They begin with the prompts that have the fewest.
    """
    random = random or SystemRandom()
    drawings = run.samples.judgeable().order_by("pk").only("pk", "run_id", "prompt_id", "entrant_id")
    by_prompt: dict[int, list[Sample]] = defaultdict(list)
    for sample in drawings:
        by_prompt[sample.prompt_id].append(sample)
    used = set(run.gold_pairs.filter(retired_at=None).values_list("better_id", "worse_id"))
    made: list[GoldPair] = []
    prompts = [prompt for prompt, there in by_prompt.items() if len({sample.entrant_id for sample in there}) > 1]
    attempts = 0
    while prompts and len(made) < count and attempts < TRIES * count + len(prompts):
        random.shuffle(prompts)
        for prompt in prompts[: count - len(made)]:
            attempts += 1
            better, worse = random.sample(by_prompt[prompt], 2)
            if better.entrant_id == worse.entrant_id or (better.pk, worse.pk) in used:
                continue
            if damaged := _damaged(run, worse, random):
                used.add((better.pk, worse.pk))
                made.append(
                    GoldPair(run=run, prompt_id=prompt, better=better, worse=worse, damaged=damaged, made_by=by)
                )
    GoldPair.objects.bulk_create(made)
    if made:
        Event.objects.create(run=run, actor=by, verb=Event.Verb.MAKE_GOLD, subject=f"{len(made)} checks")
    return len(made)


def _damaged(run: Run, sample: Sample, random: Random) -> str | None:
    """A stored text that this site's reader did not make may fail in any way; then another drawing is taken."""
    drawing = sample.drawing
    try:
        damaged = run.drawing_format.damage(drawing, random=random) if drawing else None
    except Exception:
        return None
    return damaged if damaged != drawing else None


@transaction.atomic
def choose_gold(*, run: Run, better: str, worse: str, by: User | None, reason: str = "") -> GoldPair:
    """A check of two of the run's own drawings, by their codes."""
    refuse_names(run)
    rows = {row.code: row for row in run.samples.judgeable().filter(code__in=[better, worse])}
    for code in (better, worse):
        if code not in rows:
            raise RunError(f"This run has no drawing {code!r} that judges may be shown.")
    good, bad = rows[better], rows[worse]
    if good.prompt_id != bad.prompt_id or good.entrant_id == bad.entrant_id:
        raise RunError("Choose two drawings of the same prompt by two models.")
    try:
        with transaction.atomic():
            gold = GoldPair.objects.create(run=run, prompt_id=good.prompt_id, better=good, worse=bad, made_by=by)
    except IntegrityError:
        raise RunError("These two drawings are an attention check already.") from None
    Event.objects.create(run=run, actor=by, verb=Event.Verb.MAKE_GOLD, subject=str(gold), reason=reason)
    return gold


@transaction.atomic
def retire_gold(*, gold: GoldPair, by: User | None, reason: str = "") -> bool:
    """Show a check to nobody any more; its answers stay. False where that was done before."""
    if not GoldPair.objects.filter(pk=gold.pk, retired_at=None).update(retired_at=now()):
        return False
    Event.objects.create(run=gold.run, actor=by, verb=Event.Verb.RETIRE_GOLD, subject=str(gold), reason=reason)
    return True
