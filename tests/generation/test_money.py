"""Money: exact, and never more than the bound says."""

from __future__ import annotations

from decimal import Decimal

import pytest

from generation.money import (
    BILLED_FOR_AN_IMAGE,
    Price,
    cost_of_tokens,
    nano,
    price_of,
    price_of_nano,
    prompt_size,
    upper_bound_nano,
)


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


def test_a_call_is_bounded_with_its_price_by_request_and_by_picture():
    price = price_of(1, 2, "0.005", 0.001)
    assert price == price_of_nano(10**9, 2 * 10**9, 5_000_000, 1_000_000)
    plain, pictured = upper_bound_nano(0, 0, price), upper_bound_nano(0, 0, price.with_images(2))

    assert (plain, pictured) == (5_000_000, 7_000_000)


def test_a_picture_counts_for_more_on_a_bill_than_in_a_window():
    messages = [{"content": "", "images": ("data:",)}]

    assert prompt_size(messages, image=BILLED_FOR_AN_IMAGE) > 48_169, "eight tiles of the model that bills most"
    assert prompt_size(messages) < 10_000
