"""Prompt programs: whether one qualifies, and what it says about a target."""

from __future__ import annotations

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
    characters = {character for turn in entry.turns for character in turn}
    bad = sorted(c for c in characters if c not in "\n\t" and unicodedata.category(c) in REFUSED)
    if bad:
        reasons.append(f"Characters that are not allowed: {', '.join(f'U+{ord(c):04X}' for c in bad[:10])}.")
    return reasons


def fill_turns(program: ProgramEntry, prompt: PromptEntry) -> tuple[str, ...]:
    """The program's turns about one prompt's target (its fact `target`, else its subject)."""
    target = str(prompt.facts.get(TARGET) or prompt.subject or prompt.text)
    return tuple(fill_placeholders(turn, {TARGET: target}) for turn in program.turns)
