"""What a model judge can be asked: to compare two drawings, or to grade one. Each kind belongs to one judging room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from generation.formats.base import Format
from generation.models import Prompt, Run

Facts = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """`room` is where people do the same; `format` reads the answers; `things` are what a judge is asked about.

    - `choose(run, wanted, seed, family, asked)` gives the facts of questions about up to `wanted` things (see
      `generation.runs.loaded.drawings_in`; `prompt` is the judged run's), people's first; none of those whose facts were
      `asked`, and with a `family` none with a drawing by its models. Each thing takes `orders` questions.
    - `question(run, prompt)` is what goes with the pictures: what people read, and nothing of the drawings.
    - `page` and `import_page` are curators', `board` is where its judges are compared with people: names of pages.
    - `section` of config/model_judges.yaml holds what a judge is told; empty for its head.
    """

    room: str
    format: Format
    in_words: Callable[[Facts], str]  # an answer in words
    things: str
    orders: int
    section: str
    refusal: str  # where people do no such thing
    lede: str  # of its page
    board: str
    page: str
    import_page: str
    choose: Callable[..., list[Facts]]
    question: Callable[[Run, Prompt], str]

    def is_asked_in(self, run: Run) -> bool:
        return any(entry.judging_room == self.room for entry in run.judged_by)

    def judges(self, run: Run) -> QuerySet[Run]:
        """The run's judges of this kind, the oldest first."""
        return run.model_judges.filter(format=self.format.name).order_by("pk")


def with_reference(question: str, prompt: Prompt) -> str:
    """People see the picture that went with a prompt, so a model judge is shown it, too."""
    return (
        f"{question}\n\nThe last picture is the reference that went with the prompt." if _has_one(prompt) else question
    )


def reference_facts(prompt: Prompt) -> Facts:
    return {"reference": prompt.key} if _has_one(prompt) else {}


def _has_one(prompt: Prompt) -> bool:
    return bool(prompt.facts.get("has_image"))
