"""What tests of drawing share: a small suite, a demo server to ask, and the promises that hold after anything."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from django.conf import settings
from django.db.models import Q, Sum

from generation.drawing import turns as drawing
from generation.drawing.active import ActiveRun
from generation.models import ProviderCall, Run, Sample
from generation.providers.client import Client
from generation.runs.loaded import load_run
from generation.suites.suite import Generation, ModelEntry, ProgramEntry, PromptEntry, Suite

MASTER = ModelEntry("demo/master", "Demo Master", provider="demo", price_in=3, price_out=15)
BEGINNER = ModelEntry("demo/beginner", "Demo Beginner", provider="demo", price_in=0.1, price_out=0.4)
SUBJECTS = ("cat", "house", "tree")
AT_ONCE = 4  # calls of a run in tests with real workers


def make_suite(*, models=(MASTER, BEGINNER), prompts=3, attempts=2, programs=(), **changes) -> Suite:
    """Two demo players, three things to draw, two attempts."""
    entries = [
        PromptEntry(f"p{n}", f"Draw a {SUBJECTS[n % 3]} number {n} in ASCII art", "Single Object", SUBJECTS[n % 3])
        for n in range(prompts)
    ]
    suite = Suite(
        slug="tiny",
        title="Tiny",
        description="Small.",
        method="By eye.",
        format="ascii_art",
        protocols=("pairwise",),
        seed=1,
        generation=Generation(attempts, 0.0, 1000, "demo", system_prompt="Draw in a code block."),
        models=tuple(models),
        prompts=tuple(entries),
        programs=tuple(programs),
    )
    return replace(suite, **changes)


def make_program(name="two-step", turns=("Think about a {{target}}.", "Now draw the {{target}}."), **changes):
    return ProgramEntry(**{"name": name, "team": "", "turns": tuple(turns), **changes})


def claim(run: Run, wanted: int = 1, **options):
    return drawing.claim(ActiveRun(load_run(run.pk)), wanted=wanted, **options)


def ask(questions):
    """Ask the real server, and give back what ended."""

    async def all_of_them():
        async with Client() as client:
            return await asyncio.gather(*(drawing.ask(client, question) for question in questions))

    return asyncio.run(all_of_them())


def settle(run: Run, ended):
    return drawing.settle(ActiveRun(load_run(run.pk)), ended)


def draw_some(run: Run, wanted: int = 100):
    """One round by hand: claim, ask, settle."""
    questions = claim(run, wanted)
    return settle(run, ask(questions)) if questions else None


def assert_invariants(run: Run, *, billed_nano: int, requests: int, kills: int = 0) -> None:
    """What holds after any fault, as docs/drawing.md promises it; `kills` is how many calls were cut off."""
    run = Run.objects.get(pk=run.pk)
    samples, calls = Sample.objects.filter(run=run), ProviderCall.objects.filter(run=run)
    known = calls.aggregate(sum=Sum("cost_nano", default=0))["sum"]
    held = calls.filter(cost_nano=None).aggregate(sum=Sum("reserved_nano", default=0))["sum"]
    assert run.spent_nano == known, "the run's spending is the sum of its calls"
    assert run.reserved_nano == held, "a reservation is held while a cost is unknown, and no longer"
    assert known <= billed_nano <= known + held, (known, billed_nano, held)
    assert calls.count() >= requests, "each request has a row from before it"
    answered = calls.filter(outcome=ProviderCall.Outcome.ANSWERED)
    drawn = samples.filter(state=Sample.State.DRAWN, imported=False)
    last_turns = [call for call in answered.select_related("sample__entrant") if is_last_turn(call)]
    assert drawn.count() <= len(last_turns), "no drawing without an answer"
    assert len(last_turns) - drawn.count() <= kills, "an answer too many only where a call was cut off"
    assert not samples.filter(claims__gt=settings.MAX_CLAIMS).exists()
    lost = samples.filter(Q(state=Sample.State.ASKING, token=None) | Q(state=Sample.State.DRAWN, drawn_at=None))
    assert not lost.exists()


def is_last_turn(call: ProviderCall) -> bool:
    asked = call.sample.questions or call.sample.entrant.turns
    return call.turn + 1 >= len(asked)


def assert_all_drawn(run: Run) -> None:
    counts = Sample.objects.filter(run=run).progress()
    assert counts["drawn"] == Sample.objects.filter(run=run).count(), counts
