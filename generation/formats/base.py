"""What a format is: how one answer is read, shown and measured.

A format is data-free code. It knows no suite, no database and no network, and it never raises on a model's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


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


class Format(Protocol):
    """One module in this package ends with an object of this shape, named `FORMAT`."""

    name: str
    shown_as: Literal["text", "image"]
    version: int  # raised when extraction rules change, so that old readings can be told apart
    measure_backends: tuple[str, ...]  # first is the default; most formats have just ("builtin",)

    def extract(self, answer: Answer) -> Extraction: ...

    def measure(self, drawing: str, answer: Answer, *, backend: str) -> dict[str, Any]:
        """JSON-able numbers about a valid drawing; deterministic, and the same on every machine."""
        ...

    def measure_invalid(self, answer: Answer, extraction: Extraction, *, backend: str) -> dict[str, Any]:
        """What an automatic score says about an answer with no drawing (zeros, partial credit); {} where nothing."""
        ...

    def render(self, drawing: str, *, variant: str = "") -> Picture | None:
        """The picture of a drawing; None for formats shown as text. `variant` names another view, such as `after`."""
        ...
