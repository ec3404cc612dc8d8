"""Who plays: names, skills, prices and habits. A skill of 1 draws what it means to; 0 scribbles."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Player:
    """One `demo/…` model. Prices are dollars per million tokens; rates are shares of all calls."""

    name: str
    skill: float
    price_in: Decimal
    price_out: Decimal
    seconds: tuple[float, float]
    no_fence: float
    refusal: float
    busy: float  # answers 429 with a Retry-After

    def cost_nano(self, prompt_tokens: int, completion_tokens: int) -> int:
        return int((prompt_tokens * self.price_in + completion_tokens * self.price_out) * 1000)


def _player(name: str, skill: float, prices: tuple[str, str], seconds: tuple[float, float], *rates: float) -> Player:
    return Player(f"demo/{name}", skill, Decimal(prices[0]), Decimal(prices[1]), seconds, *rates)


PLAYERS = {
    player.name: player
    for player in (
        _player("master", 1.0, ("3", "15"), (0.15, 0.4), 0.0, 0.0, 0.01),
        _player("journeyman", 0.8, ("1", "5"), (0.1, 0.3), 0.01, 0.0, 0.01),
        _player("apprentice", 0.55, ("0.5", "2"), (0.08, 0.25), 0.03, 0.01, 0.02),
        _player("beginner", 0.3, ("0.1", "0.4"), (0.05, 0.2), 0.06, 0.02, 0.02),
        _player("scribbler", 0.1, ("0.05", "0.1"), (0.05, 0.12), 0.10, 0.03, 0.03),
    )
}
