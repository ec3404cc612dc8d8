"""When somebody has failed: exact chances of an honest judge and of clickers, over all orders of answers."""

from __future__ import annotations

import pytest

from benchmarks.numbers.checks import checks_table, ever_failed
from generation.suites.studies.gold import Gold
from judging.gold.verdicts import HONEST_ERROR, has_failed, least_failures

RULE = Gold()


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


def test_by_default_clickers_are_found_at_30_pairs():
    """The target: 0.95 of random clickers at 0.01 of honest judges. With a check in every fifth pair it is missed."""
    failed = {(row["judge"], row["every"]): row["failed"] for row in checks_table()}

    assert failed["left or right at random", RULE.every] >= 0.95
    assert failed["any of four keys at random", RULE.every] >= 0.95
    assert max(failed["honest, 1% slips", RULE.every], failed["honest, 2% slips", RULE.every]) <= 0.01
    assert failed["left or right at random", 5] < 0.95
