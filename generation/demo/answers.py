"""A question in, a player's whole answer out: what kind of drawing is asked for, and how this player wraps it."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from random import Random
from typing import Any

from generation.demo import ascii_art, letters, pixels, svg_art
from generation.demo.players import Player

REFUSALS = (
    "I'm sorry, but I would rather not draw that today.",
    "I can't help with drawing this. Would you like a poem about it instead?",
)
CHATTER = "Sure! Here is my drawing:"


@dataclass(frozen=True)
class Asked:
    """The parts of a chat request that a player looks at."""

    model: str
    texts: tuple[str, ...]  # all messages, in order
    users: tuple[str, ...]  # those of the user
    temperature: float
    max_tokens: int | None
    seed: int | None

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.model, *self.texts]).encode()).hexdigest()[:16]

    def random(self, player: Player) -> Random:
        """At temperature 0, or with a seed, the same question always gets the same answer."""
        if self.seed is None and self.temperature > 0:
            return Random(secrets.randbits(64))
        return Random(f"{player.name} {self.digest} {self.seed}")


def read_question(body: dict[str, Any]) -> Asked:
    """Raises KeyError, TypeError or ValueError on anything that is not a chat request."""
    messages = body["messages"]
    if not isinstance(messages, list) or not messages or not isinstance(body["model"], str):
        raise ValueError("a chat request has a model and messages")
    texts = tuple(str(message["content"]) for message in messages)
    limit, seed = body.get("max_tokens"), body.get("seed")
    return Asked(
        model=body["model"],
        texts=texts,
        users=tuple(str(m["content"]) for m in messages if m["role"] == "user"),
        temperature=float(body.get("temperature", 1.0)),
        max_tokens=int(limit) if limit is not None else None,
        seed=int(seed) if seed is not None else None,
    )


def answer_to(player: Player, asked: Asked, random: Random) -> str:
    if random.random() < player.refusal:
        return random.choice(REFUSALS)
    if is_plan(asked):
        return letters.plan(asked.users)
    body, info = drawing_for(player, asked, random)
    if random.random() < player.no_fence:
        return body
    fenced = f"```{info}\n{body}\n```"
    return f"{CHATTER}\n\n{fenced}" if random.random() > player.skill + 0.4 else fenced


def is_plan(asked: Asked) -> bool:
    """The first turn of a block program may ask to think before any code."""
    told = "\n".join(asked.texts).lower()
    return "blocks" in told and "letter" in told and "drop_block" not in told


def drawing_for(player: Player, asked: Asked, random: Random) -> tuple[str, str]:
    """The drawing, and the word its fence opens with."""
    told = "\n".join(asked.texts)
    last = asked.users[-1] if asked.users else ""
    lower = told.lower()
    if "drop_block" in lower or "b31" in lower:
        return letters.draw(asked.users, player.skill, random), ""
    if "pixel" in lower and "grid" in lower:
        return pixels.draw(last, player.skill, random), "json"
    if "svg" in lower and "ascii" not in lower:
        return svg_art.draw(last, player.skill, random), "svg"
    return ascii_art.draw(last, player.skill, random), ""
