"""Words that the sentences of every protocol share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

from benchsite.lib.text import markdown_cell
from benchsite.templatetags.wording import thousands
from ranking.results import AnswersResult, EntrantRow, ScoreRow, VerdictResult, VerdictsResult

if TYPE_CHECKING:  # files are read without Django, and say what is wrong in these words
    from generation.models import Entrant

LISTED = 4  # names a sentence can hold
ALPHA_WORDS = (
    (0.8, "strong agreement"),
    (0.667, "good agreement"),
    (0.4, "moderate agreement, usual for taste"),
    (0.2, "weak agreement"),
    (0.0, "hardly more than chance"),
    (-2.0, "less than chance"),
)


def labels_of(entrants: Iterable[Entrant]) -> dict[str, str]:
    return {entrant.name: entrant.label for entrant in entrants}


def numbers_of(entrants: Iterable[Entrant]) -> dict[str, int]:
    """Each entrant's place in the order of entry, which gives its colour and marker."""
    return {entrant.name: place for place, entrant in enumerate(sorted(entrants, key=lambda one: one.pk))}


def label(name: str, labels: Mapping[str, str]) -> str:
    return labels.get(name, name)


def named(row: EntrantRow, labels: Mapping[str, str]) -> str:
    return label(row["entrant"], labels)


def joined(rows: Iterable[EntrantRow], labels: Mapping[str, str]) -> str:
    names = [named(row, labels) for row in rows]
    if len(names) > LISTED:
        return f"{', '.join(names[: LISTED - 1])} and {len(names) - LISTED + 1} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def with_labels(sentence: str, labels: Mapping[str, str]) -> str:
    """A sentence of the statistics, which know entrants by name alone, with their labels; the longest names first."""
    names = "|".join(re.escape(name) for name in sorted(labels, key=len, reverse=True))
    return re.sub(rf"(?<![\w/.-])(?:{names})(?![\w/-])", lambda name: labels[name[0]], sentence) if names else sentence


def counted(n: int, noun: str) -> str:
    """1 vote, 2 votes."""
    return f"{thousands(n)} {noun}{'' if n == 1 else 's'}"


def number_word(n: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[n] if n < len(words) else str(n)


def steadiness(variances: Iterable[tuple[float | None, str]], *, digits: int = 4, asked: str = "prompt") -> str:
    """Who is steadiest, as far as attempts differ at all; empty where every variance would be shown as 0."""
    known = [(variance, name) for variance, name in variances if variance is not None]
    if not known or round(max(known)[0], digits) == 0:
        return ""
    return f"{min(known)[1]} is steadiest" if len(known) > 1 else f"How much attempts at one {asked} differ"


def missing_sentence(answers: AnswersResult | None) -> str:
    """What a headline must add where answers are missing; fits of earlier releases do not know."""
    if not answers or not (answers["missing"] or answers["waiting"]):
        return ""
    of = f"of {counted(answers['expected'], 'answer')}"
    coming = f"{thousands(answers['waiting'])} {of} {'is' if answers['waiting'] == 1 else 'are'} still to come."
    if not answers["missing"]:
        return coming
    missing = f"{thousands(answers['missing'])} {of} {'is' if answers['missing'] == 1 else 'are'} missing."
    return f"{missing} {thousands(answers['waiting'])} more are still to come." if answers["waiting"] else missing


def with_missing(sentence: str, answers: AnswersResult | None) -> str:
    return f"{sentence} {missing_sentence(answers)}".strip()


GAP_WORDS = {
    "settled": "ahead",
    "ahead": "ahead (may still change)",
    "tied": "practically equal",
    "undecided": "not separated yet",
    "apart": "never compared",
}


VERDICT_WORDS = {
    "settled": "{upper} is ahead of {lower}{gap}. The lead is settled: this stays valid however often it is checked.",
    "ahead": "{upper} is ahead of {lower}{gap}. This may still change.",
    "tied": "The two are practically equal{gap}.",
    "undecided": "The two are not separated yet{gap}.",
    "apart": "The two have never been compared, not even through others.",
}

EXACT = 6  # digits of a gap that are not rounding
ALONE = "By itself this interval excludes 0, but a verdict must hold for all pairs at once."


STAND_WORDS = {  # of the upper, of the lower
    "settled": ("ahead, settled", "behind, settled"),
    "ahead": ("ahead (may still change)", "behind (may still change)"),
    "tied": ("practically equal",) * 2,
    "undecided": ("not separated yet",) * 2,
    "apart": ("never compared",) * 2,
}


def stand_words(pair: VerdictResult, name: str) -> str:
    """How one of the two stands to the other."""
    return STAND_WORDS[pair["state"]][0 if pair["upper"] == name else 1]


def pair_of(verdicts: VerdictsResult | None, one: str, other: str) -> VerdictResult | None:
    pairs = verdicts["pairs"] if verdicts else []
    return next((pair for pair in pairs if {pair["upper"], pair["lower"]} == {one, other}), None)


def notes_section(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Markdown lines: what is to be known of entrants beside their scores, such as a proxy or drawings made elsewhere."""
    lines = [f"- {markdown_cell(name)}: {markdown_cell(note)}" for name, note in notes]
    return ["## Notes", "", *lines, ""] if lines else []


def signed(value: float, digits: int) -> str:
    """A number with its sign, unless it rounds to nothing; a minus as wide as the plus."""
    sign = "+" if round(value, digits) > 0 else ""
    return f"{sign}{decimals(value, digits)}"


def decimals(value: float, digits: int) -> str:
    """A number with a true minus sign, and no sign at all where it rounds to nothing."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def verdict_words(pair: VerdictResult, labels: Mapping[str, str], *, digits: int) -> str:
    """The verdict on two entrants, with their gap and its interval."""
    low, high = (None if bound is None else signed(bound, digits) for bound in (pair["low"], pair["high"]))
    both = f"{low} to {high}" if low and high else f"{low} or more" if low else f"{high} or less" if high else ""
    # Of a gap without a bound on one side, any one figure would rest on an assumption.
    figure = (
        f"{gap_words(pair['gap'], digits)} (95% interval {both})"
        if low and high
        else f"the 95% interval of the gap is {both}"
    )
    gap = f": {figure if both else gap_words(pair['gap'], digits)}"
    upper, lower = label(pair["upper"], labels), label(pair["lower"], labels)
    words = VERDICT_WORDS[pair["state"]].format(upper=upper, lower=lower, gap=gap)
    above, below = (pair["low"] or 0.0) > 0, (pair["high"] or 0.0) < 0
    return f"{words} {ALONE}" if pair["state"] == "undecided" and (above or below) else words


def gap_words(gap: float, digits: int) -> str:
    if not round(gap, EXACT):
        return "they score the same"
    least = 10**-digits
    amount = f"{gap:.{digits}f}" if round(gap, digits) else f"less than {least:.{digits}f}"
    return f"the gap is {amount} point{'' if amount.endswith(' 1') or amount == '1' else 's'}"


def gap_lines(verdicts: VerdictsResult, names: Sequence[str], *, digits: int) -> list[str]:
    """Neighbours in this order of names with their difference and verdict, as a table of Markdown; JSON has all pairs."""
    neighbours = [{*pair} for pair in pairwise(names)]
    lines = ["| First | Second | Difference | 95% interval | Verdict |", "|---|---|---:|---|---|"]
    for pair in verdicts["pairs"]:
        if {pair["upper"], pair["lower"]} not in neighbours:
            continue
        ends = f"{markdown_cell(pair['upper'])} | {markdown_cell(pair['lower'])}"
        low, high = pair["low"], pair["high"]
        bounds = (
            "–"
            if low is None or high is None or not isfinite(low + high)
            else f"{signed(low, digits)} to {signed(high, digits)}"
        )
        lines.append(f"| {ends} | {pair['gap']:.{digits}f} | {bounds} | {GAP_WORDS[pair['state']]} |")
    return lines


def chasing_words(rows: Sequence[ScoreRow], labels: Mapping[str, str], verdicts: VerdictsResult | None) -> str:
    """Who is not behind the first, in the words of the verdicts; empty where it is ahead of all that score less."""
    first, near = rows[0]["entrant"], [row for row in rows if row["rank"] != 1 and row["rank_low"] == 1]
    if not near:
        return ""
    states = {
        end: pair["state"]
        for pair in (verdicts or {"pairs": []})["pairs"]
        for end in (pair["upper"], pair["lower"])
        if first in (pair["upper"], pair["lower"])
    }
    equal = [row for row in near if states.get(row["entrant"]) == "tied"]
    others = [row for row in near if row not in equal]

    def who(rows: Sequence[ScoreRow]) -> str:
        return named(rows[0], labels) if len(rows) == 1 else f"{number_word(len(rows))} others"

    words = [f"practically equal to {who(equal)}"] if equal else []
    words += [f"not separated from {who(others)} yet"] if others else []
    return " and ".join(words)


def rank_words(low: int | None, high: int | None) -> str:
    return str(low) if low == high else f"{low}–{high}"
