"""What a page needs to know of a matchup, and of the rules of its run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from django.db.models import QuerySet

from generation.models import Run, Sample
from generation.suite import Judging
from judging.models import Matchup, Seat

_COLUMNS_OF = {
    "run": ("code", "format", "judging_state", "scores_changed_at"),
    "seat": tuple(field.name for field in Seat._meta.concrete_fields),
    "seat__epoch": ("number", "seed", "checked_at"),
    "prompt": ("text", "category"),
    **dict.fromkeys(("left", "right"), ("label", "disqualified")),
    **dict.fromkeys(("left_sample", "right_sample"), ("drawing", "state", "verdict", "held", "excluded_reason")),
}
RELATED = tuple(_COLUMNS_OF)
COLUMNS = [field.name for field in Matchup._meta.concrete_fields]
COLUMNS += [f"{table}__{column}" for table, columns in _COLUMNS_OF.items() for column in columns]


@dataclass(frozen=True)
class Rules:
    """What a run's frozen configuration says about judging."""

    judging: Judging
    categories: dict[str, str]

    @property
    def repeats(self) -> float:
        # A judge who was told the names would recognise the pair.
        return 0.0 if self.judging.reveal == "after_vote" else self.judging.repeats


@lru_cache(maxsize=64)
def rules_of(run_code: str) -> Rules:
    """The rules of a run; they are frozen, and so may be kept in memory."""
    config = Run.objects.values_list("config", flat=True).get(code=run_code)
    categories = {row["key"]: row["label"] for row in config.get("categories", [])}
    return Rules(Judging(**config.get("judging", {})), categories)


def with_everything() -> QuerySet[Matchup]:
    """Matchups with all that a page, a vote and a schedule need, in one query, and without the columns they do not."""
    return Matchup.objects.select_related(*RELATED).only(*COLUMNS)


def is_showable(matchup: Matchup) -> bool:
    return all(
        sample is not None
        and sample.state == Sample.State.DRAWN
        and sample.verdict == Sample.Verdict.VALID
        and not sample.held
        and not sample.excluded_reason
        and not entrant.disqualified
        for sample, entrant in ((matchup.left_sample, matchup.left), (matchup.right_sample, matchup.right))
    )
