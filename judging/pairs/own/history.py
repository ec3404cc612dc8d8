"""The judge's own answers, the newest first: votes and skips with their drawings, in as many statements for any number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Page, Paginator
from django.db.models import Count, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from generation.models import Run
from judging.gold.answering import is_told
from judging.models import GoldAnswer, Kind, Matchup, Outcome, Seat, Vote
from judging.pairs.matchups import is_damaged, is_showable, samples_of, with_drawings
from judging.pairs.own.answers import PRESSED, SKIP
from judging.pairs.pages import Shown, shown

ON_A_PAGE = 24
CHOICES = {"left": "Left", "right": "Right", "tie": "Both good", "fail": "Both bad", SKIP: "Skipped"}
FRAMED = {"left": ("left",), "right": ("right",), "tie": ("left", "right")}


@dataclass(frozen=True)
class Answer:
    """One answer as the page shows it; `pair` is None where a drawing was taken out since."""

    matchup: Matchup
    outcome: str
    at: datetime
    pair: Shown | None
    is_final: bool = False  # an answered check that the judge was told of

    @property
    def words(self) -> str:
        return "Skipped" if self.outcome == SKIP else Outcome(self.outcome).label.capitalize()

    @property
    def framed(self) -> tuple[str, ...]:
        return FRAMED.get(self.outcome, ())

    @property
    def names(self) -> dict[str, str]:
        left, right = (
            "a damaged copy" if is_damaged(self.matchup, sample) else sample.entrant.label
            for sample in samples_of(self.matchup)
        )
        return {"left": left, "right": right}


def own_answers(seat: Seat, *, choice: str = "", words: str = "") -> QuerySet[Matchup]:
    vote = Vote.objects.standing().filter(matchup=OuterRef("pk"))
    answered = with_drawings().filter(seat=seat, state__in=[Matchup.State.VOTED, Matchup.State.SKIPPED])
    check = GoldAnswer.objects.standing().filter(matchup=OuterRef("pk")).annotate(pressed=PRESSED)
    answered = answered.annotate(
        outcome=Coalesce(Subquery(vote.values("outcome")[:1]), Subquery(check.values("pressed")[:1]), Value(SKIP)),
        answered_at=Coalesce(
            "skipped_at", Subquery(vote.values("voted_at")[:1]), Subquery(check.values("answered_at")[:1])
        ),
    )
    if choice in CHOICES:
        answered = answered.filter(outcome=choice)
    if words:
        answered = answered.filter(prompt__text__icontains=words)
    return answered.order_by("-answered_at", "-order")


def page_of_answers(seat: Seat, run: Run, *, choice: str, words: str, number: str | None) -> tuple[Page, list[Answer]]:
    page = Paginator(own_answers(seat, choice=choice, words=words), ON_A_PAGE).get_page(number)
    feedback = is_told(seat)
    return page, [_answer(matchup, run, feedback=feedback) for matchup in page]


def _answer(matchup: Matchup, run: Run, *, feedback: bool) -> Answer:
    matchup.run = run
    is_final = feedback and matchup.kind == Kind.GOLD and matchup.state == Matchup.State.VOTED
    pair = shown(matchup) if is_showable(matchup) else None
    return Answer(matchup, matchup.outcome, matchup.answered_at, pair, is_final)  # type: ignore[attr-defined]


def counts_by_choice(seat: Seat) -> dict[str, int]:
    """Answers to checks count here like votes: what is missing from the judge's own list would tell which they were."""
    votes = Counter(dict(seat.votes.standing().order_by().values_list("outcome").annotate(Count("id"))))
    checks = seat.gold_answers.standing().annotate(pressed=PRESSED).order_by()
    votes.update(dict(checks.values_list("pressed").annotate(Count("id"))))
    skipped = seat.matchups.filter(state=Matchup.State.SKIPPED).count()
    return {choice: votes[choice] for choice in Outcome.values} | {SKIP: skipped}
