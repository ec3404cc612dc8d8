"""The judge's last answer, which undo would take back, and the font marks of the vote that was last taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Case, CharField, F, OuterRef, QuerySet, Subquery, Value, When
from django.utils.translation import gettext_lazy as _

from benchsite.lib.database.prepared import CompiledQuery
from judging.gold.answering import is_told
from judging.models import GoldAnswer, Kind, Matchup, Seat, Vote
from judging.rules import rules_of

SKIP = "skip"
# The key that was pressed at a check, by the sides that were shown.
PRESSED = Case(
    When(choice__in=("tie", "fail"), then=F("choice")),
    When(choice="better", gold__better=F("matchup__left_sample"), then=Value("left")),
    When(choice="worse", gold__worse=F("matchup__left_sample"), then=Value("left")),
    default=Value("right"),
    output_field=CharField(),
)
WORDS = {
    "left": "voted left",
    "right": "voted right",
    "tie": "voted both good",
    "fail": "voted both bad",
    SKIP: "skipped",
}
# What the judge is told of the last answer, and of the one before it; on a phone left is the top drawing.
SENTENCES = {
    "left": _("Voted left on the last pair."),
    "right": _("Voted right on the last pair."),
    "tie": _("Voted both good on the last pair."),
    "fail": _("Voted both bad on the last pair."),
    SKIP: _("Skipped the last pair."),
}
BEFORE = {
    "left": _("Before it you voted left."),
    "right": _("Before it you voted right."),
    "tie": _("Before it you voted both good."),
    "fail": _("Before it you voted both bad."),
    SKIP: _("Before it you skipped a pair."),
}
SENTENCES_STACKED = {"left": _("Voted top on the last pair."), "right": _("Voted bottom on the last pair.")}
BEFORE_STACKED = {"left": _("Before it you voted top."), "right": _("Before it you voted bottom.")}


@dataclass(frozen=True)
class LastAnswer:
    """What undo would take back, if anything, and the fonts that the pair on the screen was marked with (bits)."""

    code: str = ""
    outcome: str = ""
    left_breaks: int = 0
    right_breaks: int = 0

    @property
    def sentence(self) -> str:
        return str(SENTENCES.get(self.outcome, ""))

    @property
    def stacked(self) -> str:
        """The sentence where the drawings stand one above the other; empty where it is the same."""
        return str(SENTENCES_STACKED.get(self.outcome, ""))

    @property
    def marks(self) -> dict[str, list[int]]:
        bits = {"left": self.left_breaks, "right": self.right_breaks}
        return {side: [font for font in (1, 2, 3) if value >> font - 1 & 1] for side, value in bits.items()}

    def for_script(self) -> dict[str, str]:
        """For the page's script."""
        return {"said": self.sentence, "stacked": self.stacked}

    def for_script_after(self, sentence: str) -> dict[str, str]:
        """What was done instead of a vote, and which answer undo would now take back."""

        def joined(texts: Mapping[str, object]) -> str:
            return f"{sentence} {texts[self.outcome]}" if self.outcome in texts else ""

        return {"said": joined(BEFORE) or sentence, "stacked": joined(BEFORE_STACKED)}


def last_answer(seat: Seat, current: Matchup | None) -> LastAnswer:
    """In one statement. Where names are shown after each vote, only a skip can be taken back; so after a check that was told."""
    of_check = current is not None and current.kind == Kind.GOLD
    row = NEWEST[of_check].rows(seat.pk, current.pk if current else 0)[0]
    code, outcome, voted_at, skipped, skipped_at, left_breaks, right_breaks, *check = row
    stands = rules_of(seat.run.code).judging.reveal == "after_vote"
    if check[0] and (voted_at is None or check[2] > voted_at):
        code, outcome, voted_at = check
        stands = is_told(seat)
    if skipped and (voted_at is None or skipped_at > voted_at):
        code, outcome = skipped, SKIP
    elif stands:
        code = outcome = None
    return LastAnswer(code or "", outcome or "", left_breaks or 0, right_breaks or 0)


def _newest(seat: int, current: int, *, answers: type[Vote | GoldAnswer]) -> QuerySet[Seat, tuple[Any, ...]]:
    """Of the seat: the newest vote, skip, marks on the current pair by these answers, and check."""
    votes = Vote.objects.standing().filter(seat=OuterRef("pk")).order_by("-id")
    skips = Matchup.objects.filter(seat=OuterRef("pk"), state=Matchup.State.SKIPPED).order_by("-skipped_at")
    checks = GoldAnswer.objects.standing().filter(seat=OuterRef("pk")).order_by("-id")
    marked: QuerySet[Any] = answers._default_manager.filter(matchup=current).order_by("-id")
    return Seat.objects.values_list(
        *(_first(votes, name) for name in ("matchup__code", "outcome", "voted_at")),
        *(_first(skips, name) for name in ("code", "skipped_at")),
        *(_first(marked, name) for name in ("left_breaks", "right_breaks")),
        *(_first(checks.annotate(key=PRESSED), name) for name in ("matchup__code", "key", "answered_at")),
    ).filter(pk=seat)


# By whether the current pair is a check, whose marks are in its answer.
NEWEST = {
    of_check: CompiledQuery(partial(_newest, answers=GoldAnswer if of_check else Vote), int, int)
    for of_check in (False, True)
}


def _first(rows: QuerySet[Any], name: str) -> Subquery:
    return Subquery(rows.values(name)[:1])
