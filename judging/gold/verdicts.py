"""When somebody has failed the attention checks: by a number that is allowed, or by a likelihood."""

from __future__ import annotations

from math import exp, inf, log

from generation.suites.studies.gold import Gold

HONEST_ERROR = 0.02  # of answers to checks that a careful judge gets wrong: slips of the hand
# Clickers by their share of wrong answers, “both bad” apart: of two keys, and of all four.
CLICKERS = (1 / 2, 2 / 3)
MOST_ODDS = 40.0  # then an honest judge ever fails 4 times in 1,000, exactly counted over any number of checks
VERDICTS = {"better": "passed", "worse": "failed", "tie": "failed", "fail": "unclear"}


def verdict_of(choice: str) -> str:
    """“Both bad” is neither: the intact drawing may be a bad one."""
    return VERDICTS[choice]


def log_odds(passed: int, failed: int) -> float:
    """How much likelier these answers are for somebody who clicks than for somebody who looks, as a natural logarithm."""
    ratios = [passed * log((1 - wrong) / (1 - HONEST_ERROR)) + failed * log(wrong / HONEST_ERROR) for wrong in CLICKERS]
    highest = max(ratios)
    return highest + log(sum(exp(ratio - highest) for ratio in ratios) / len(ratios))


def has_failed(rule: Gold, *, passed: int, failed: int) -> bool:
    if rule.allowed is not None:
        return failed > rule.allowed
    return failed > 0 and log_odds(passed, failed) >= log(MOST_ODDS)


def least_failures(rule: Gold, answered: int) -> float:
    """How many of so many answers must be wrong to fail; infinity where none would do."""
    wrong = (n for n in range(1, answered + 1) if has_failed(rule, passed=answered - n, failed=n))
    return next(wrong, inf)
