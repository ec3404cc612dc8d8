"""Money in integer nano-dollars: what a provider says a call cost, what our price table says, and the most it can cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

NANO = 10**9
MILLION = 10**6
# Chat templates wrap each message in a few tokens of their own.
TOKENS_AROUND_A_MESSAGE = 16
# What most models count for a picture of at most 2048 × 2048 pixels; a few small models are billed for tens of thousands.
TOKENS_OF_AN_IMAGE = 8192


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens in and out, as price lists quote them, and dollars per request."""

    input: Decimal
    output: Decimal
    request: Decimal = Decimal(0)


def price_of(price_in: float | str | Decimal | None, price_out: float | str | Decimal | None) -> Price | None:
    """A price from two numbers in dollars per million tokens; None unless both are sane."""
    into, out = decimal_of(price_in), decimal_of(price_out)
    return None if into is None or out is None else Price(into, out)


def price_of_nano(price_in_nano: int | None, price_out_nano: int | None) -> Price | None:
    """The same from whole nano-dollars per million tokens, as the database keeps them."""
    if price_in_nano is None or price_out_nano is None:
        return None
    return Price(Decimal(price_in_nano) / NANO, Decimal(price_out_nano) / NANO)


def decimal_of(value: Any) -> Decimal | None:
    """A finite, non-negative number; None for everything else (booleans, NaN, negatives, words)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and 0 <= number < 10**12 else None


def nano(usd: Any) -> int | None:
    """Dollars as integer nano-dollars, rounded up; None where it is not a number a bill could hold."""
    if isinstance(usd, str):
        return None  # a cost in words is not believed, even where it reads as a number
    number = decimal_of(usd)
    return None if number is None or number > 10**6 else int((number * NANO).to_integral_value(ROUND_CEILING))


def cost_of_tokens(prompt_tokens: int | None, completion_tokens: int | None, price: Price | None) -> int | None:
    """Nano-dollars of a call by token counts (ints) and a `Price`; None where any of them is unknown."""
    if price is None or prompt_tokens is None or completion_tokens is None:
        return None
    dollars = (prompt_tokens * price.input + completion_tokens * price.output) / MILLION + price.request
    return nano(dollars)


def prompt_size(messages: Iterable[Mapping[str, Any]]) -> int:
    """The most tokens a prompt can be: a token is at least one UTF-8 byte, and each message has a frame."""
    return sum(
        len(str(m["content"]).encode("utf-8", "replace"))
        + TOKENS_AROUND_A_MESSAGE
        + TOKENS_OF_AN_IMAGE * len(m.get("images", ()))
        for m in messages
    )


def upper_bound_nano(prompt_size: int, max_tokens: int, price: Price | None) -> int | None:
    """The most one call can cost, in nano-dollars: every prompt byte a token, and all of `max_tokens` used.

    `prompt_size` is what the function of that name gives. None where there is no price to go by.
    """
    return cost_of_tokens(prompt_size, max_tokens, price)
