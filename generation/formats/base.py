"""What a format is: how one answer is read, shown and measured.

A format is data-free code. It knows no suite, no database and no network, and it never raises on a model's text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any, Literal

from generation.formats.raster.text import draw_text, png_of
from generation.formats.raster.vector import RASTERISER

NOTHING: Mapping[str, Any] = MappingProxyType({})
Progress = Callable[[int, int], None]  # told how much is done, and of how much


class FormatError(Exception):
    """A format that is unknown, unfinished or cannot be loaded; the message says which, and the way out."""


class BackendMissing(RuntimeError):
    """A measuring backend was asked for that is not installed here; the message says what to install."""


@dataclass(frozen=True)
class Answer:
    """One raw answer and what the provider said about it."""

    text: str
    finish_reason: str = ""
    completion_tokens: int | None = None
    max_tokens: int | None = None
    prompt_facts: Mapping[str, Any] = field(default_factory=dict)  # the prompt's own facts, such as the target letter
    options: Mapping[str, Any] = field(default_factory=dict)  # the suite's `format_options`


@dataclass(frozen=True)
class Extraction:
    """What was found in an answer: a drawing, or the reason there is none.

    - `drawing` is the canonical text a judge is shown (or that `render` draws from); None when invalid.
    - `reason` is a stable code such as `no_code_block`; `detail` is a sentence for a curator.
    - `flags` are codes a curator can filter on; a flagged drawing is still valid.
    - `facts` is JSON-able: what the reading found on its way (ladder stage, repairs, counts).
    """

    drawing: str | None
    reason: str = ""
    detail: str = ""
    flags: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        return self.drawing is not None


@dataclass(frozen=True)
class Picture:
    """A drawing as bytes a browser can show inside `<img>`."""

    media_type: str
    body: bytes


@dataclass(frozen=True)
class View:
    """One picture of a drawing on its page. A view with a `title` stays closed until it is asked for."""

    variant: str  # as `render` takes it
    caption: str
    title: str = ""
    alt: str = ""  # what the alternative text says beyond the subject


@dataclass(frozen=True)
class Part:
    """One part of a score: the most it can give, what it gave, and why not more (empty where it gave all)."""

    label: str
    most: float
    points: float
    why: str

    @property
    def lost(self) -> float:
        return self.most - self.points


@dataclass(frozen=True)
class Explanation:
    """Why a drawing has its score, for its page in the gallery; every field but the first two may stay empty.

    - `sentence` follows the name of who drew it; `data` is what the page's JSON says.
    - `views` replace the one picture; `parts` are the rows of a table; `note` stands below.
    - `guesses` are what a classifier took the drawing for, with its chances, and `asked` the right one.
    """

    sentence: str
    data: Mapping[str, Any]
    views: tuple[View, ...] = ()
    parts: tuple[Part, ...] = ()
    guesses: tuple[tuple[str, float], ...] = ()
    asked: str = ""
    note: str = ""


@dataclass(frozen=True)
class ScorePart:
    """A measure that counts towards the score with this weight; a leaderboard stacks them into a bar."""

    key: str
    label: str
    weight: float


@dataclass(frozen=True)
class DemoAnswer:
    """What a demo player says. `fence` is the word after the opening of its code block; None for text without one."""

    text: str
    fence: str | None = ""


class Format(ABC):
    """One kind of answer. A module ends with an object of a class derived from this one, named `FORMAT`.

    Required are `name`, `shown_as`, `example`, `extract`, and `render` where drawings are images. The rest has defaults.
    """

    name: str
    shown_as: Literal["text", "image"]
    example: str  # an answer that `extract` accepts
    label: str = ""  # its name on pages, where `name` in words is not one: "ASCII art"
    version: int = 1  # raised when extraction rules change, so that old readings can be told apart
    measure_backends: tuple[str, ...] = ("builtin",)  # the first is quick enough to measure while drawing
    backend_names: Mapping[str, str] = NOTHING  # words for a backend whose name alone says little
    shown_in_fonts: bool = False  # text: judges see it in three fonts and can mark those in which it breaks
    variants: Mapping[str, str] = NOTHING  # still pictures besides the first, and words for each
    score_parts: tuple[ScorePart, ...] = ()
    stages: Mapping[str, str] = NOTHING  # the measure `stage`: its values in order, and words for each
    judge_page: str = ""  # of answers of model judges: what their pages are called
    asks_again: int = 0  # times that a model is asked again whose answer has no drawing in it
    asked_by: str = (
        ""  # a pattern that a request for it matches, in lower case: for a demo player that is told no format
    )
    scoring: str = ""  # a way of scoring of its own under the automatic protocol, such as `competition`

    def answer_schema(self, facts: Mapping[str, Any]) -> dict[str, Any] | None:
        """The JSON schema of an answer to the question with these facts, where answers are JSON."""
        return None

    @abstractmethod
    def extract(self, answer: Answer) -> Extraction:
        """The drawing in an answer, or the reason there is none; never raises, and takes linear time."""

    def backend_name(self, backend: str) -> str:
        """A backend in words, with its name."""
        words = self.backend_names.get(backend)
        return f"{words} ({backend})" if words else backend

    def default_backend(self) -> str:
        """What measures a new run."""
        return self.measure_backends[0]

    def fetch_backend(self, backend: str, *, revision: str, progress: Progress) -> str:
        """Fetches what a backend needs from its publisher; returns what to say. Raises BackendMissing where it cannot."""
        raise BackendMissing(f"{self.name} has nothing to fetch for {backend!r}.")

    def measure(self, drawing: str, answer: Answer, *, backend: str) -> dict[str, Any]:
        """JSON-able numbers about a valid drawing; deterministic, and the same on every machine."""
        return {}

    def measure_invalid(self, answer: Answer, extraction: Extraction, *, backend: str) -> dict[str, Any]:
        """What an automatic score says about an answer with no drawing (zeros, partial credit); {} where nothing."""
        return {}

    def render(self, drawing: str, *, variant: str = "") -> Picture | None:
        """The picture of a drawing; None for formats shown as text. `variant` names another view, such as `after`."""
        return None

    def png(self, drawing: str, *, side: int, variant: str = "") -> bytes | None:
        """The drawing as a square of pixels on white, the same on every machine; None where there is no picture.

        Raises `CannotDraw` where it takes more time or memory than a drawing may.
        """
        if self.shown_as == "text":
            return png_of(draw_text(drawing, side=side))
        picture = self.render(drawing, variant=variant)
        return RASTERISER.png(picture.body, side=side) if picture else None

    def score(self, values: Mapping[str, Any]) -> float | None:
        """The one number, from 0 to 1, that measured values give a drawing."""
        score = values.get("score")
        return float(score) if isinstance(score, int | float) else None

    def describe(self, values: Mapping[str, Any]) -> str:
        """The few words under a drawing in a gallery."""
        score = self.score(values)
        return "" if score is None else f"score {score:.2f}"

    def describe_more(self, values: Mapping[str, Any]) -> str:
        """A second line under a drawing, where a gallery has room for one."""
        return ""

    def explain(
        self, values: Mapping[str, Any], *, extraction: Extraction, prompt_facts: Mapping[str, Any]
    ) -> Explanation | None:
        """Why a drawing has its score; None where there is nothing to explain."""
        return None

    def missing(self) -> str:
        """What has to be installed before drawings can be measured here, as a sentence; empty where nothing has to."""
        return ""

    def xml(self, drawing: str) -> str:
        """The drawing as a file for the program it was made for."""
        raise NotImplementedError(f"{self.name} writes no XML.")

    @property
    def title(self) -> str:
        return self.label or self.name.replace("_", " ").capitalize()

    @property
    def has_xml(self) -> bool:
        return type(self).xml is not Format.xml

    def damage(self, drawing: str, *, random: Random) -> str | None:
        """The drawing spoiled so far that nobody could prefer it, differently each time, still as safe to show.

        None where that cannot be done: the drawing is too small, or the format has no such way.
        """
        return None

    def demo_answer(self, turns: Sequence[str], *, skill: float, random: Random) -> DemoAnswer:
        """What a demo player of this skill, from 0 to 1, answers; `turns` are the messages so far, the prompt last."""
        return DemoAnswer(spoil(self.example, skill, random), fence=None)


def spoil(text: str, skill: float, random: Random) -> str:
    """The text as a player of this skill would give it back: the weaker, the more words and lines go missing."""
    lost = (1 - skill) * 0.3
    lines = [" ".join(word for word in line.split(" ") if random.random() >= lost) for line in text.split("\n")]
    return "\n".join(line for line in lines if random.random() >= lost)
