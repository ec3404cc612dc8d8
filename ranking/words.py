"""Words that the sentences of every protocol share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchsite.templatetags.wording import thousands
from generation.models import Entrant
from ranking.results import EntrantRow

LISTED = 4  # names a sentence can hold
ALPHA_WORDS = (
    (0.8, "strong agreement"),
    (0.667, "good agreement"),
    (0.4, "moderate agreement, usual for taste"),
    (0.2, "weak agreement"),
    (-2.0, "hardly more than chance"),
)


def labels_of(entrants: Iterable[Entrant]) -> dict[str, str]:
    return {entrant.name: entrant.label for entrant in entrants}


def label(name: str, labels: Mapping[str, str]) -> str:
    return labels.get(name, name)


def named(row: EntrantRow, labels: Mapping[str, str]) -> str:
    return label(row["entrant"], labels)


def joined(rows: Iterable[EntrantRow], labels: Mapping[str, str]) -> str:
    names = [named(row, labels) for row in rows]
    if len(names) > LISTED:
        return f"{', '.join(names[: LISTED - 1])} and {len(names) - LISTED + 1} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def counted(n: int, noun: str) -> str:
    """1 vote, 2 votes."""
    return f"{thousands(n)} {noun}{'' if n == 1 else 's'}"


def number_word(n: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[n] if n < len(words) else str(n)


def rank_words(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
