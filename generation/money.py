"""Money in integer nano-dollars: what a provider says a call cost, what our price table says, and the most it can cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

NANO = 10**9
MILLION = 10**6
# Chat templates wrap each message in a few tokens of their own.
TOKENS_AROUND_A_MESSAGE = 16
# What most models count for a picture of at most 2048 × 2048 pixels, and what the one that bills most would: eight tiles.
TOKENS_OF_AN_IMAGE, BILLED_FOR_AN_IMAGE = 8192, 49_152


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens in and out, as price lists quote them, and dollars per request and per picture in it."""

    input: Decimal
    output: Decimal
    request: Decimal = Decimal(0)
    image: Decimal = Decimal(0)

    def with_images(self, count: int) -> Price:
        """The price of a request that carries so many pictures."""
        return replace(self, request=self.request + count * self.image, image=Decimal(0))


Amount = float | str | Decimal | None


def price_of(price_in: Amount, price_out: Amount, request: Amount = None, image: Amount = None) -> Price | None:
    """A price from dollars per million tokens, per request and per picture; None unless the first two are sane."""
    into, out = decimal_of(price_in), decimal_of(price_out)
    if into is None or out is None:
        return None
    return Price(into, out, decimal_of(request) or Decimal(0), decimal_of(image) or Decimal(0))


def price_of_nano(*nano_dollars: int | None) -> Price | None:
    """The same from whole nano-dollars, as the database keeps them."""
    return price_of(*(None if amount is None else Decimal(amount) / NANO for amount in nano_dollars))


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


def prompt_size(messages: Iterable[Mapping[str, Any]], *, image: int = TOKENS_OF_AN_IMAGE) -> int:
    """The most tokens a prompt can be: a token is at least one UTF-8 byte, and each message has a frame.

    `image` is what a picture counts for: in a model's window, or on a bill (`BILLED_FOR_AN_IMAGE`).
    """
    return sum(
        len(str(m["content"]).encode("utf-8", "replace")) + TOKENS_AROUND_A_MESSAGE + image * len(m.get("images", ()))
        for m in messages
    )


def upper_bound_nano(prompt_size: int, max_tokens: int, price: Price | None) -> int | None:
    """The most one call can cost, in nano-dollars: every prompt byte a token, and all of `max_tokens` used.

    `prompt_size` is what the function of that name gives. None where there is no price to go by.
    """
    return cost_of_tokens(prompt_size, max_tokens, price)
