"""A question in, a player's whole answer out: what its format draws, and how this player wraps it."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import dataclass
from random import Random
from typing import Any

from generation.demo.judges import HABITS, grade_picture, judge_pictures
from generation.demo.players import Player
from generation.formats import DEFAULT_FORMAT, INTERNAL, format_names, get_format
from generation.formats.base import Format
from generation.formats.grade_sheet import FORMAT as GRADE_SHEET

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
    pictures: tuple[str, ...] = ()  # data addresses, in order
    format: str = ""  # named by the site alone, and to demo players only

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.model, *self.texts, *self.pictures]).encode()).hexdigest()[:16]

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
    texts = tuple(_text_of(message["content"]) for message in messages)
    limit, seed = body.get("max_tokens"), body.get("seed")
    return Asked(
        model=body["model"],
        texts=texts,
        users=tuple(_text_of(m["content"]) for m in messages if m["role"] == "user"),
        temperature=float(body.get("temperature", 1.0)),
        max_tokens=int(limit) if limit is not None else None,
        seed=int(seed) if seed is not None else None,
        pictures=tuple(picture for message in messages for picture in _pictures_of(message["content"])),
        format=str(body.get("format", "")),
    )


def _text_of(content: Any) -> str:
    """The words of a message; a demo player takes pictures, and does not look at them. A demo judge does."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if part["type"] == "text")
    return str(content)


def _pictures_of(content: Any) -> list[str]:
    if not isinstance(content, list):
        return []
    return [str(part["image_url"]["url"]) for part in content if part["type"] == "image_url"]


def answer_to(player: Player, asked: Asked, random: Random) -> str:
    habits = HABITS.get(player.name)
    if habits is not None and asked.pictures:
        if asked.format == GRADE_SHEET.name:
            return grade_picture(habits, asked.pictures[0], asked.users[-1], random)
        return judge_pictures(habits, asked.pictures[:2], random)
    if random.random() < player.refusal:
        return random.choice(REFUSALS)
    answer = format_of(asked).demo_answer(asked.users or ("",), skill=player.skill, random=random)
    if answer.fence is None or random.random() < player.no_fence:
        return answer.text
    fenced = f"```{answer.fence}\n{answer.text}\n```"
    return f"{CHATTER}\n\n{fenced}" if random.random() > player.skill + 0.4 else fenced


def format_of(asked: Asked) -> Format:
    """What the request names; a request that names nothing, such as one by hand, is guessed at from its words."""
    if asked.format in (*format_names(), *INTERNAL):
        return get_format(asked.format)
    return guess_format("\n".join(asked.texts).lower())


def guess_format(words: str) -> Format:
    """The last that knows its own request: packages' formats come before those of the site, and these from the most particular on."""
    formats = map(get_format, reversed(format_names()))
    return next(
        (form for form in formats if form.asked_by and re.search(form.asked_by, words)), get_format(DEFAULT_FORMAT)
    )
