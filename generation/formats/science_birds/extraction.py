"""Reads the `drop_block` calls out of an answer, as text: nothing in an answer is ever executed.

- The code is the **last** fence of backticks with no backtick inside.
- In it every literal `drop_block('b..', n)` counts, in order, inside comments and strings too. As in the competition's own
  extraction, only names of 1s and 3s are calls: one of another block loses that block alone, `b33` or a missing number the level.
- Everything else is ignored, and flagged for a curator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Case-sensitive, either quote, blanks only after the comma, ASCII digits or none.
CALL = re.compile(r"""drop_block\(['"](b[13][13])['"], *([0-9]*)\)""")
RUN = re.compile("`+")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MAX_CALLS = 100_000  # a level holds 320 blocks at most, so anything longer is lost by conversion anyway


@dataclass(frozen=True)
class Drop:
    """One literal call: the block's name, and its centre column (None where it has no digits, or too many to be a column)."""

    kind: str
    x: int | None


@dataclass(frozen=True)
class Code:
    """The drops found in the last clean fence, how many clean fences there were, and what a curator may look at."""

    drops: tuple[Drop, ...]
    fences: int
    flags: tuple[str, ...]


def read_code(text: str) -> Code:
    fences = list(clean_fences(text))
    if not fences:
        return Code((), 0, ())
    body = fences[-1]
    drops = tuple(read_drops(body))
    return Code(drops, len(fences), tuple(flags_of(body, len(drops))))


def clean_fences(text: str) -> Iterator[str]:
    """Contents of the fences without a backtick inside, in the order they close; one pass over the backticks.

    A run of three or more backticks opens a fence, and a run at least as long closes it, so a fence that is shown
    inside a longer one is still found, and the prose between two fences is never taken for one.
    """
    opened: list[tuple[int, int]] = []  # (length of the run, where its content starts)
    clean = False
    for run in RUN.finditer(text):
        length = run.end() - run.start()
        if opened and length >= max(3, opened[-1][0]):
            start = opened.pop()[1]
            if clean:
                yield text[start : run.start()]
            clean = False
        elif length >= 3:
            opened.append((length, run.end()))
            clean = True
        else:
            clean = False


def read_drops(body: str) -> Iterator[Drop]:
    for number, match in enumerate(CALL.finditer(body)):
        if number == MAX_CALLS:
            return
        digits = match[2].lstrip("0") or match[2][:1]
        yield Drop(match[1], int(digits) if 0 < len(digits) <= 6 else None)


def flags_of(body: str, calls: int) -> Iterator[str]:
    if CONTROL.search(body):
        yield "control_character"
    _, _, code = body.partition("\n")  # the first line is the info string
    rest = CALL.sub("", code)
    if "drop_block(" in rest:
        yield "non_literal_argument"
    if any(other_statement(line) for line in rest.splitlines()):
        yield "non_drop_block_statements"
    if calls >= MAX_CALLS:
        yield "too_many_calls"


def other_statement(line: str) -> bool:
    code = line.partition("#")[0].strip(" \t;")
    return bool(code) and not code.startswith("drop_block(")
