"""Which question of which category a regular item asks for: a function of the plan and of the item's number alone."""

from __future__ import annotations

from math import gcd, lcm

from judging.pairs.schedule.plans import Plan


def visits_at(plan: Plan, category: int, number: int) -> int:
    """How often the word asks for a category (a row of `plan.questions`) before regular item `number`.

    The word is entered anew, one class further, after every lcm(pairs, word) items, at a moment when all counts stand even;
    so no category sticks to a pair.
    """
    start, words, rest = _word_at(plan, number)
    met = plan.met[category]
    return words * met[len(plan.word)] + met[start + rest] - met[start]


def _word_at(plan: Plan, number: int) -> tuple[int, int, int]:
    """Where the word was entered, how many whole words lie behind, and the letters since."""
    length, cycle = len(plan.word), plan.cycle
    block, inside = divmod(number, lcm(cycle, length))
    words, rest = divmod(inside, length)
    return plan.starts[block % len(plan.starts)], block * lcm(cycle, length) // length + words, rest


def category_at(plan: Plan, number: int) -> int:
    """The category that regular item `number` asks for."""
    start, _, rest = _word_at(plan, number)
    return plan.word[(start + rest) % len(plan.word)]


def row_at(plan: Plan, category: int, number: int) -> list[tuple[int, int]]:
    """A category's questions in the order in which they are asked from item `number` on, each with how often it was before.

    A row of questions is shifted by one whenever its own cycle closes, when all counts stand even; so no question sticks to
    a pair.
    """
    row = plan.questions[category]
    visits, shift = _entry(plan, category, number)
    rounds, done = divmod(visits, len(row))
    return [(row[(visits + shift + step) % len(row)], rounds + (step >= len(row) - done)) for step in range(len(row))]


def _entry(plan: Plan, category: int, number: int) -> tuple[int, int]:
    """Where a category's row is entered at item `number`: how often it was asked before, and by how much it is shifted."""
    size, weight = len(plan.questions[category]), plan.met[category][len(plan.word)]
    shift = number // (plan.cycle * len(plan.word)) // (size // gcd(plan.cycle * weight, size))
    return visits_at(plan, category, number), shift


def question_at(plan: Plan, number: int) -> int:
    """The question that regular item `number` asks for."""
    category = category_at(plan, number)
    row = plan.questions[category]
    visits, shift = _entry(plan, category, number)
    return row[(visits + shift) % len(row)]
