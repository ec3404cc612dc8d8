"""When somebody has failed: exact chances of an honest judge and of clickers, over all orders of answers."""

from __future__ import annotations

from collections import Counter

import pytest

from generation.suites.studies.gold import Gold
from judging.gold.verdicts import HONEST_ERROR, has_failed, least_failures

RULE = Gold()


def ever_failed(*, wrong, checks, unclear=0.0):
    """The chance to have failed at some time, for a judge with this share of wrong and of unclear answers."""
    going, failed = Counter({(0, 0): 1.0}), 0.0
    for _ in range(checks):
        after: Counter[tuple[int, int]] = Counter()
        for (right, bad), chance in going.items():
            after[right, bad] += chance * unclear
            after[right + 1, bad] += chance * (1 - unclear - wrong)
            if has_failed(RULE, passed=right, failed=bad + 1):
                failed += chance * wrong
            else:
                after[right, bad + 1] += chance * wrong
        going = after
    return failed


@pytest.mark.parametrize("checks", [6, 20, 100])
def test_an_honest_judge_ever_fails_1_time_in_200_at_most(checks):
    assert ever_failed(wrong=HONEST_ERROR, checks=checks) <= 0.005


def test_clickers_fail_sooner_or_later():
    assert ever_failed(wrong=1 / 2, checks=6) > 0.8
    assert ever_failed(wrong=1 / 2, checks=10) > 0.95
    assert ever_failed(wrong=1 / 2, unclear=1 / 4, checks=10) > 0.97


def test_one_slip_fails_nobody_and_a_number_that_is_allowed_goes_before():
    assert [least_failures(RULE, n) for n in (1, 3, 5, 10)] == [float("inf"), 2, 2, 3]
    assert not has_failed(Gold(allowed=1), passed=0, failed=1)
    assert has_failed(Gold(allowed=1), passed=50, failed=2)
