"""Money: exact, and never more than the bound says."""

from __future__ import annotations

from decimal import Decimal

import pytest

from generation.money import Price, cost_of_tokens, nano, price_of, price_of_nano, prompt_size, upper_bound_nano


@pytest.mark.parametrize(("usd", "expected"), [(0.00123, 1_230_000), (0, 0), (Decimal("1e-10"), 1), (2, 2 * 10**9)])
def test_dollars_become_nano_dollars_exactly(usd, expected):
    assert nano(usd) == expected


def test_price_in_the_database_is_the_price_of_the_list():
    assert price_of_nano(150_000_000, 600_000_000) == price_of("0.15", 0.6)
    assert price_of_nano(None, 1) is None
    assert price_of(float("nan"), 1) is None


def test_cost_never_exceeds_the_bound():
    price = Price(Decimal("2.5"), Decimal(10))
    messages = [{"role": "user", "content": "Draw a 🐈 in ASCII art"}]

    bound = upper_bound_nano(prompt_size(messages), 1000, price)

    assert cost_of_tokens(12, 1000, price) < bound
    assert prompt_size(messages) == 24 + 16
    assert bound == 40 * 2_500 + 1000 * 10_000
    assert upper_bound_nano(10, 10, None) is None
