"""The judge's last answer, which undo would take back, and the font marks of the vote that was last taken back."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import OuterRef, QuerySet, Subquery

from judging.models import Matchup, Seat, Vote
from judging.rules import rules_of

SKIP = "skip"
WORDS = {
    "left": "voted left",
    "right": "voted right",
    "tie": "voted both good",
    "fail": "voted both bad",
    SKIP: "skipped",
}


@dataclass(frozen=True)
class LastAnswer:
    """What undo would take back, if anything, and the fonts that the pair on the screen was marked with (bits)."""

    code: str = ""
    outcome: str = ""
    left_breaks: int = 0
    right_breaks: int = 0

    @property
    def sentence(self) -> str:
        return last_said(self.outcome) if self.outcome else ""

    @property
    def marks(self) -> dict[str, list[int]]:
        bits = {"left": self.left_breaks, "right": self.right_breaks}
        return {side: [font for font in (1, 2, 3) if value >> font - 1 & 1] for side, value in bits.items()}

    def after(self, sentence: str) -> str:
        """What was done instead of a vote, and which answer undo would now take back."""
        if not self.outcome:
            return sentence
        what = "skipped a pair" if self.outcome == SKIP else WORDS[self.outcome]
        return f"{sentence} Before it you {what}."


def last_said(outcome: str) -> str:
    words = WORDS[outcome].capitalize()
    return f"{words} the last pair." if outcome == SKIP else f"{words} on the last pair."


def last_answer(seat: Seat, current: Matchup | None) -> LastAnswer:
    """In one statement. Where names are shown after each vote, only a skip can be taken back."""
    votes = Vote.objects.standing().filter(seat=OuterRef("pk")).order_by("-id")
    skips = Matchup.objects.filter(seat=OuterRef("pk"), state=Matchup.State.SKIPPED).order_by("-skipped_at")
    marked = Vote.objects.filter(matchup=current).order_by("-id")
    row = Seat.objects.values_list(
        *(_first(votes, name) for name in ("matchup__code", "outcome", "voted_at")),
        *(_first(skips, name) for name in ("code", "skipped_at")),
        *(_first(marked, name) for name in ("left_breaks", "right_breaks")),
    ).get(pk=seat.pk)
    code, outcome, voted_at, skipped, skipped_at, left_breaks, right_breaks = row
    names_shown = rules_of(seat.run.code).judging.reveal == "after_vote"
    if skipped and (voted_at is None or skipped_at > voted_at):
        code, outcome = skipped, SKIP
    elif names_shown:
        code = outcome = None
    return LastAnswer(code or "", outcome or "", left_breaks or 0, right_breaks or 0)


def _first(rows: QuerySet[Vote] | QuerySet[Matchup], name: str) -> Subquery:
    return Subquery(rows.values(name)[:1])
