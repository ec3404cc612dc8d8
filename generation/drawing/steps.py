"""A Python program's step, as the crew takes it: between two calls, in a process of its own, and without a provider."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings

from generation.drawing.questions import Ended, Question, seed_of, target_of
from generation.providers.errors import ProviderError
from generation.runs.loaded import LoadedRun
from generation.sandbox.isolation import CannotIsolate
from generation.sandbox.programs import OFF, Step, take_step

AT_ONCE = 2  # programs that one worker runs at the same time
POOL = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="program")


def step_of(
    loaded: LoadedRun,
    *,
    entrant_pk: int,
    prompt_pk: int,
    attempt: int,
    asked: Sequence[Mapping[str, Any]],
    earlier: Sequence[str],
) -> Step | None:
    """What a Python program is run with; None where it waits for an answer, and for any other entrant."""
    entrant, rules = loaded.entrants[entrant_pk], loaded.suite.program_rules
    if not entrant.python or len(asked) > len(earlier):
        return None
    prompt = loaded.prompts[prompt_pk]
    return Step(
        source=entrant.python,
        target=target_of(prompt),
        seed=seed_of(loaded.suite.seed, prompt.key, attempt),
        asked=tuple(question["messages"] for question in asked),
        answers=tuple(earlier),
        most_asked=rules.max_turns,
        most_bytes=rules.max_question,
    )


async def run_program(question: Question) -> Ended:
    """Runs the program's next step. Where none can be run safely, the whole run waits, and its page says why."""
    assert question.step is not None
    if not settings.PYTHON_PROGRAMS:
        return Ended(question, error=ProviderError("pause_run", "programs_off", OFF, cost_nano=0))
    try:
        outcome = await asyncio.get_running_loop().run_in_executor(POOL, take_step, question.step)
    except CannotIsolate as error:
        return Ended(question, error=ProviderError("pause_run", "cannot_isolate", str(error), cost_nano=0))
    return Ended(question, outcome=outcome)
