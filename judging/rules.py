"""The rules of a run: what its frozen configuration says about judging."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache

from django.db.models import Q

from benchsite.lib.languages.choosing import page_code
from generation.models import Prompt, Run
from generation.suites.studies.gold import Gold
from generation.suites.suite import Judging


@dataclass(frozen=True)
class Rules:
    """A run's judging settings, and its categories' labels by key."""

    judging: Judging
    categories: dict[str, str]
    pictured: dict[int, str] = field(default_factory=dict)  # codes of prompts with a reference picture, by primary key
    translated: dict[int, dict[str, str]] = field(default_factory=dict)  # prompts' texts by language, by primary key

    @property
    def repeats(self) -> float:
        # A judge who was told the names would recognise the pair.
        return 0.0 if self.judging.reveal == "after_vote" else self.judging.repeats

    def prompt_text(self, prompt: Prompt) -> str:
        """In the language of the page, where the suite has it."""
        texts = self.translated.get(prompt.pk)
        return texts.get(page_code(), prompt.text) if texts else prompt.text

    def label(self, category: str) -> str:
        return self.categories.get(category, category)

    def in_order(self, present: Collection[str]) -> list[tuple[str, str]]:
        """(key, label) of the categories that are present, in the suite's order; the others come last."""
        order = [key for key in self.categories if key in present]
        order += [key for key in present if key not in self.categories]
        return [(key, self.label(key) or key or "no category") for key in order]


@lru_cache(maxsize=256)
def rules_of(run_code: str) -> Rules:
    """The rules of a run; they are frozen, and so may be kept in memory."""
    config = Run.objects.values_list("config", flat=True).get(code=run_code)
    categories = {row["key"]: row["label"] for row in config.get("categories", [])}
    rare = Q(picture__isnull=False) | Q(facts__has_key="texts")
    prompts = list(Prompt.objects.filter(rare, run__code=run_code).values_list("pk", "code", "picture", "facts__texts"))
    pictured = {pk: code for pk, code, picture, _ in prompts if picture is not None}
    translated = {pk: texts for pk, _, _, texts in prompts if texts}
    judging = dict(config.get("judging", {}))
    if judging.get("gold"):
        judging["gold"] = Gold(**judging["gold"])
    return Rules(Judging(**judging), categories, pictured, translated)
