"""Votes counted, by judge and by prompt."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from generation.models import Entrant, Prompt, Run
from judging.models.seats import Seat
from judging.models.votes import Outcome


class JudgeTally(models.Model):
    """Rated votes counted by judge, category and entrants, sides as shown; repeats apart.

    Kept in the vote's own transaction by `judging.pairs.tallies`; equal to a GROUP BY of the rated votes at every commit.
    """

    # The constraint's index begins with the run.
    run = models.ForeignKey(Run, models.CASCADE, related_name="judge_tallies", db_index=False)
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="tallies")
    category = models.CharField(max_length=80, blank=True)
    left = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    right = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    outcome = models.CharField(max_length=5, choices=Outcome.choices)
    is_repeat = models.BooleanField(default=False)
    votes = models.IntegerField(default=0)

    class Meta:
        verbose_name_plural = "judge tallies"
        constraints = [
            models.UniqueConstraint(
                fields=["run", "seat", "category", "left", "right", "outcome", "is_repeat"],
                name="judging_judgetally_once",
            ),
            models.CheckConstraint(condition=Q(votes__gte=0), name="judging_judgetally_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.votes} × {self.outcome}"


class PromptTally(models.Model):
    """Rated votes counted by prompt, judge's activity and entrants, sides as shown; repeats apart.

    Votes without a prompt are left out. Very active judges weigh less a vote, so counts are kept by the class of activity.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="prompt_tallies", db_index=False)
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="+")
    left = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    right = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    outcome = models.CharField(max_length=5, choices=Outcome.choices)
    is_repeat = models.BooleanField(default=False)
    activity = models.SmallIntegerField(
        default=0,
        help_text="Class of the judge: 2 to its power is the largest such number within the judge's votes; "
        "-1 is an unknown judge.",
    )
    votes = models.IntegerField(default=0)

    class Meta:
        verbose_name_plural = "prompt tallies"
        constraints = [
            models.UniqueConstraint(
                fields=["run", "prompt", "left", "right", "outcome", "is_repeat", "activity"],
                name="judging_prompttally_once",
            ),
            models.CheckConstraint(condition=Q(votes__gte=0), name="judging_prompttally_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.votes} × {self.outcome}"
