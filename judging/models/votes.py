"""Votes on pairs of drawings."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from generation.models import Run
from judging.models.matchups import Kind, Matchup
from judging.models.seats import Seat


class Outcome(models.TextChoices):
    LEFT = "left", "left is better"
    RIGHT = "right", "right is better"
    TIE = "tie", "both good"
    FAIL = "fail", "both bad"


class VoteQuerySet(models.QuerySet["Vote"]):
    def standing(self) -> VoteQuerySet:
        """Not taken back by the judge; some may be on drawings that a curator excluded since."""
        return self.filter(withdrawn_at=None)

    def rated(self) -> VoteQuerySet:
        """Standing, and cast by somebody who could not know the names: what the tallies count."""
        return self.standing().filter(kept_out=False)

    def counting(self, run: Run) -> VoteQuerySet:
        """The rated votes of a run on drawings that no curator excluded, repeats included."""
        excluded = run.samples.excluded().order_by().values("id")
        on_excluded = Q(matchup__left_sample__in=excluded) | Q(matchup__right_sample__in=excluded)
        return self.rated().filter(run=run).exclude(on_excluded)

    def without_repeats(self) -> VoteQuerySet:
        return self.exclude(matchup__kind=Kind.REPEAT)


class Vote(models.Model):
    """What one judge said about one matchup. Never edited, only withdrawn."""

    MOMENT = "voted_at"

    matchup = models.ForeignKey(Matchup, models.RESTRICT, related_name="votes")
    # Indexes that begin with the run and with the seat are below.
    run = models.ForeignKey(Run, models.CASCADE, related_name="votes", db_index=False)
    seat = models.ForeignKey(Seat, models.RESTRICT, related_name="votes", db_index=False)
    outcome = models.CharField(max_length=5, choices=Outcome.choices)
    voted_at = models.DateTimeField(default=now)
    response_ms = models.PositiveIntegerField(null=True, blank=True)
    unblind = models.BooleanField(
        default=False, help_text="Names were shown after each vote of this run, or could be known before this one."
    )
    kept_out = models.BooleanField(
        default=False,
        help_text="It counts in no rating: the judge could know the names of this run's drawings, or a curator picked the pair.",
    )
    imported = models.BooleanField(default=False)
    # Bit n - 1 is set where the judge marked "breaks in font n".
    left_breaks = models.PositiveSmallIntegerField(default=0)
    right_breaks = models.PositiveSmallIntegerField(default=0)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = VoteQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["matchup"], condition=Q(withdrawn_at__isnull=True), name="judging_vote_one_standing"
            ),
            models.CheckConstraint(
                condition=Q(outcome__in=["left", "right", "tie", "fail"]), name="judging_vote_known_outcome"
            ),
            models.CheckConstraint(
                condition=Q(left_breaks__lte=7, right_breaks__lte=7), name="judging_vote_three_fonts"
            ),
        ]
        indexes = [
            # For undo and the judge's history: own votes, the newest first.
            models.Index(F("seat").asc(), F("id").desc(), name="judging_vote_of_judge"),
            # For votes per hour on the curator's page, and for exports in order.
            models.Index(fields=["run", "voted_at"], name="judging_vote_by_time"),
            # For the number of votes kept out, which every fit states.
            models.Index(fields=["run"], condition=Q(kept_out=True), name="judging_vote_kept_out"),
            models.Index(fields=["run"], condition=Q(imported=True), name="judging_vote_imported"),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} on {self.matchup_id}"
