"""How much a run of a suite can ask and cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from generation.money import BILLED_FOR_AN_IMAGE, TOKENS_OF_AN_IMAGE, Price, price_of, prompt_size, upper_bound_nano
from generation.suites.programs import fill_turns
from generation.suites.suite import ModelEntry, ProgramEntry, PromptEntry, Suite


def sample_count(suite: Suite) -> int:
    """Drawings in a full run: models × prompts × attempts, and × programs where those compete."""
    programs = len(asked_programs(suite)) if suite.programs else 1
    return len(suite.models) * len(suite.prompts) * suite.generation.attempts_per_prompt * programs


def cost_bound_nano(suite: Suite, *, free: Collection[str] = ()) -> int | None:
    """The most a full run can cost without retries, in nano-dollars; None where a model's price is unknown.

    Every prompt byte counts as a token and every answer as `max_tokens` long. In a program of several turns each call
    carries all earlier turns and answers, and the prompt's picture. Providers named in `free` (such as Ollama on this machine) cost nothing.
    """
    total = 0
    for model in suite.models:
        if (model.provider or suite.generation.provider) in free:
            continue
        for prompt in suite.prompts:
            for turns in conversations(suite, prompt):
                bound = _conversation_bound(suite, model, turns, images=bool(prompt.image))
                if bound is None:
                    return None
                total += bound
            for _ in python_programs(suite):
                bound = _python_bound(suite, model, images=bool(prompt.image))
                if bound is None:
                    return None
                total += bound
    return total * suite.generation.attempts_per_prompt


def bounds_by_model(suite: Suite, *, free: Collection[str] = ()) -> dict[str, int | None]:
    """The same for each model alone and one attempt, by its id."""
    once = replace(suite, generation=replace(suite.generation, attempts_per_prompt=1))
    return {model.id: cost_bound_nano(replace(once, models=(model,)), free=free) for model in suite.models}


def conversations(suite: Suite, prompt: PromptEntry) -> list[tuple[str, ...]]:
    """What is said about a prompt: its text, or the turns of every program that still competes."""
    if not suite.programs:
        return [(prompt.text,)]
    return [fill_turns(program, prompt) for program in asked_programs(suite) if program.turns]


def asked_programs(suite: Suite) -> list[ProgramEntry]:
    """Programs that still compete and are run here."""
    return [program for program in suite.programs if not program.disqualified and not program.runs_elsewhere]


def python_programs(suite: Suite) -> list[ProgramEntry]:
    return [program for program in asked_programs(suite) if program.python]


def _python_bound(suite: Suite, model: ModelEntry, *, images: int) -> int | None:
    """A Python program's questions are its own: as many and as long as the rules allow."""
    size = _fixed_size(suite, model) + suite.program_rules.max_question + images * BILLED_FOR_AN_IMAGE
    bound = upper_bound_nano(size, suite.generation.max_tokens, _price(model, images))
    return None if bound is None else bound * suite.program_rules.max_turns


def _price(model: ModelEntry, images: int) -> Price | None:
    price = price_of(model.price_in, model.price_out, model.price_request, model.price_image)
    return price and price.with_images(images)


def _fixed_size(suite: Suite, model: ModelEntry) -> int:
    return prompt_size({"content": text} for text in (suite.generation.system_prompt, model.extra_prompt) if text)


def _conversation_bound(suite: Suite, model: ModelEntry, turns: tuple[str, ...], *, images: int) -> int | None:
    price = _price(model, images)
    most = suite.generation.max_tokens
    size = _fixed_size(suite, model) + images * BILLED_FOR_AN_IMAGE
    total = 0
    for turn in turns:
        size += prompt_size([{"content": turn}])
        bound = upper_bound_nano(size, most, price)
        if bound is None:
            return None
        total += bound
        size += most + prompt_size([{"content": ""}])
    return total


def longest_prompt(suite: Suite, model: ModelEntry) -> int:
    """The most tokens that one call can carry to a model: the last turn of a program has all earlier ones and their answers."""
    answer = suite.generation.max_tokens + prompt_size([{"content": ""}])
    sizes = [
        prompt_size({"content": turn} for turn in turns)
        + (len(turns) - 1) * answer
        + bool(prompt.image) * TOKENS_OF_AN_IMAGE
        for prompt in suite.prompts
        for turns in conversations(suite, prompt)
    ]
    if python_programs(suite):
        images = any(prompt.image for prompt in suite.prompts)
        sizes.append(suite.program_rules.max_question + images * TOKENS_OF_AN_IMAGE)
    return _fixed_size(suite, model) + max(sizes, default=0)
