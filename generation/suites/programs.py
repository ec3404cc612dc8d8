"""Prompt programs: whether one qualifies, and what it says about a target."""

from __future__ import annotations

import ast
import unicodedata

from generation.suites.prompts import fill_placeholders, placeholders
from generation.suites.suite import ProgramEntry, ProgramRules, PromptEntry

TARGET = "target"
# Control, format (bidi and other invisible marks), private, surrogate and unassigned characters could hide instructions.
REFUSED = ("Cc", "Cf", "Co", "Cs", "Cn")


def check_program(entry: ProgramEntry, rules: ProgramRules) -> list[str]:
    """Why a program does not qualify, in sentences; an empty list when it does."""
    if entry.runs_elsewhere:
        return []  # what it asks is its own affair; its answers are marked as imported
    if entry.python:
        return _check_python(entry, rules)
    reasons = []
    if not entry.turns or any(not turn.strip() for turn in entry.turns):
        reasons.append("There is a blank turn, or no turn at all.")
    if len(entry.turns) > rules.max_turns:
        reasons.append(f"It has {len(entry.turns)} turns; at most {rules.max_turns} are allowed.")
    if entry.length > rules.max_characters:
        reasons.append(f"Its turns have {entry.length} characters; at most {rules.max_characters} are allowed.")
    names = {name for turn in entry.turns for name in placeholders(turn)}
    if TARGET not in names:
        reasons.append("No turn has the placeholder {{target}}.")
    reasons.extend(f"The placeholder {{{{{name}}}}} is unknown." for name in sorted(names - {TARGET}))
    return reasons + _hidden_characters("".join(entry.turns))


def _check_python(entry: ProgramEntry, rules: ProgramRules) -> list[str]:
    """Whether it can be run at all; what it does is read by a curator, and limited by the sandbox."""
    reasons = []
    if entry.length > rules.max_characters:
        reasons.append(f"Its source has {entry.length} characters; at most {rules.max_characters} are allowed.")
    try:
        body = ast.parse(entry.python).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reasons.append(f"It is not Python: {error}.")
    else:
        runs = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "run"]
        if not runs or len(runs[-1].args.args) != 2:
            reasons.append("It has no function run(target, ask).")
    return reasons + _hidden_characters(entry.python)


def _hidden_characters(text: str) -> list[str]:
    bad = sorted(c for c in set(text) if c not in "\n\t" and unicodedata.category(c) in REFUSED)
    if not bad:
        return []
    return [f"Characters that are not allowed: {', '.join(f'U+{ord(c):04X}' for c in bad[:10])}."]


def fill_turns(program: ProgramEntry, prompt: PromptEntry) -> tuple[str, ...]:
    """The program's turns about one prompt's target (its fact `target`, else its subject)."""
    target = str(prompt.facts.get(TARGET) or prompt.subject or prompt.text)
    return tuple(fill_placeholders(turn, {TARGET: target}) for turn in program.turns)
