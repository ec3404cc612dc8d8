"""Templates and words become prompts, the same ones for the same seed on every machine.

Two fixed notations, never `str.format`: `[SLOT]` is filled from a word list, `{{name}}` from a row. Nothing else in a
template has a meaning, so braces, percent signs and backslashes go to the model as written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import inf, prod

SLOT = re.compile(r"\[([^\[\]\n]*)\]")
PLACEHOLDER = re.compile(r"\{\{([^{}\n]*)\}\}")
TWIN = re.compile(r"(.+)_[A-Z]")
MAX_COMBINATIONS = 20_000


class TemplateError(ValueError):
    """A template that cannot be filled: a stable reason, what is wrong, what to do."""

    def __init__(self, reason: str, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.reason, self.message, self.hint = reason, message, hint


@dataclass(frozen=True)
class Filled:
    """A template with its slots filled; `subject` runs from the first slot to the last."""

    text: str
    subject: str
    words: dict[str, str]


def expand_template(
    template: str, words: Mapping[str, Sequence[str]], *, count: int, seed: int, taken: frozenset[str] = frozenset()
) -> list[Filled]:
    """`count` distinct prompts whose texts are not in `taken`.

    - Each pick uses the words used least so far; among equals the seed decides, by a hash of seed and text, so that
      neither the order of the words nor the version of Python matters.
    - Slots that share a list, such as [OBJECT_A] and [OBJECT_B], never get the same word.
    """
    return list(_expanded(template, tuple((name, tuple(each)) for name, each in words.items()), count, seed, taken))


@lru_cache(maxsize=64)
def _expanded(
    template: str, lists_of_words: tuple[tuple[str, tuple[str, ...]], ...], count: int, seed: int, taken: frozenset[str]
) -> list[Filled]:
    """Kept, as pages read the same suites again and again."""
    words = dict(lists_of_words)
    if re.search(r"[\[\]]", SLOT.sub("", template)):
        raise TemplateError("unknown_slot", f"a square bracket in {template[:80]!r} has no partner", "write [SLOT]")
    slots = list(dict.fromkeys(SLOT.findall(template)))
    lists = [word_list(slot, words) for slot in slots]
    if prod(len(words[name]) for name in lists) > MAX_COMBINATIONS:
        raise TemplateError("too_many_prompts", f"over {MAX_COMBINATIONS} combinations", "use shorter word lists")
    by_text: dict[str, Filled] = {}
    for chosen in product(*(words[name] for name in lists)):
        if len(set(zip(lists, chosen, strict=True))) == len(slots):
            filled = _fill_slots(template, dict(zip(slots, chosen, strict=True)))
            by_text.setdefault(filled.text, filled)
    options = [filled for text, filled in by_text.items() if text not in taken]
    if len(options) < count:
        message = f"{template!r} gives only {len(options)} distinct prompts, {count} are needed"
        raise TemplateError("too_few_prompts", message, f"add words to {', '.join(lists) or 'it by a [SLOT]'}")
    return _pick(options, count, seed)


def word_list(slot: str, words: Mapping[str, Sequence[str]]) -> str:
    """The list a slot draws from: its own name, or without `_A`, `_B`, … the name it shares with its twins."""
    if slot in words:
        return slot
    twin = TWIN.fullmatch(slot)
    if twin and twin[1] in words:
        return twin[1]
    have = ", ".join(sorted(words)) or "none"
    raise TemplateError("unknown_slot", f"no words for the slot [{slot}]", f"add it under words: (there are {have})")


def _fill_slots(template: str, values: Mapping[str, str]) -> Filled:
    marks = list(SLOT.finditer(template))
    start, end = (marks[0].start(), marks[-1].end()) if marks else (0, len(template))

    def fill(part: str) -> str:
        return SLOT.sub(lambda mark: values[mark[1]], part)

    return Filled(fill(template), fill(template[start:end]), dict(values))


def _pick(options: list[Filled], count: int, seed: int) -> list[Filled]:
    rank = {item.text: hashlib.sha256(f"{seed}\n{item.text}".encode()).digest() for item in options}
    options = sorted(options, key=lambda item: rank[item.text])
    places: dict[str, list[int]] = {}
    for place, item in enumerate(options):
        for word in item.words.values():
            places.setdefault(word, []).append(place)
    uses: list[float] = [0] * len(options)  # of an option's words, in what was picked so far
    picked: list[Filled] = []
    for _ in range(count):
        best = uses.index(min(uses))
        picked.append(options[best])
        for word in options[best].words.values():
            for place in places[word]:
                uses[place] += 1
        uses[best] = inf
    return picked


def placeholders(template: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in PLACEHOLDER.findall(template)))


def fill_placeholders(template: str, values: Mapping[str, str]) -> str:
    """Each {{name}} replaced once; what a value contains is never filled again."""
    for name in placeholders(template):
        if name not in values:
            have = ", ".join(f"{{{{{known}}}}}" for known in sorted(values))
            raise TemplateError("unknown_slot", f"nothing to fill {{{{{name}}}}} with", f"use {have}")
    return PLACEHOLDER.sub(lambda mark: values[mark[1].strip()], template)
