"""Attention checks: pairs with a known answer, and what judges answered. Apart from votes, and in no rating."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from generation.models import CodeField, Prompt, Run, Sample
from judging.models.matchups import Matchup
from judging.models.seats import Seat
from judging.models.votes import Outcome


class GoldPair(models.Model):
    """Two drawings of one prompt, one of which anybody would prefer. The known answer is a drawing, never a side.

    `damaged` is what is shown instead of the worse drawing, where the site made the pair; empty where a curator chose both.
    """

    code = CodeField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="gold_pairs")
    prompt = models.ForeignKey(Prompt, models.RESTRICT, related_name="+")
    better = models.ForeignKey(Sample, models.RESTRICT, related_name="+")
    worse = models.ForeignKey(Sample, models.RESTRICT, related_name="+")
    damaged = models.TextField(blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    made_at = models.DateTimeField(default=now)
    retired_at = models.DateTimeField(null=True, blank=True, help_text="Shown to nobody any more; its answers stay.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=~Q(better=F("worse")), name="judging_goldpair_two_drawings"),
            models.UniqueConstraint(
                fields=["better", "worse"],
                condition=Q(damaged="", retired_at__isnull=True),
                name="judging_goldpair_chosen_once",
            ),
        ]
        indexes = [models.Index(fields=["run"], condition=Q(retired_at__isnull=True), name="judging_goldpair_in_use")]

    def __str__(self) -> str:
        return f"check {self.code}"


class GoldSetting(models.Model):
    """The rule of checks for judges of a run, where a curator set another than its suite's; null where none shall come."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="gold_setting")
    rule = models.JSONField(null=True, blank=True, help_text="generation.suites.studies.gold.Gold")
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"checks of {self.run}"


class GoldAnswerQuerySet(models.QuerySet["GoldAnswer"]):
    def standing(self) -> GoldAnswerQuerySet:
        """Not taken back by the judge."""
        return self.filter(withdrawn_at=None)


class GoldAnswer(models.Model):
    """What one judge answered to one check, by drawing. Never edited, only withdrawn."""

    class Choice(models.TextChoices):
        BETTER = "better", "the better drawing"
        WORSE = "worse", "the worse drawing"
        TIE = "tie", "both good"
        FAIL = "fail", "both bad"

    matchup = models.ForeignKey(Matchup, models.RESTRICT, related_name="gold_answers")
    gold = models.ForeignKey(GoldPair, models.RESTRICT, related_name="answers")
    run = models.ForeignKey(Run, models.CASCADE, related_name="gold_answers")
    seat = models.ForeignKey(Seat, models.RESTRICT, related_name="gold_answers")
    choice = models.CharField(max_length=10, choices=Choice.choices)
    answered_at = models.DateTimeField(default=now)
    response_ms = models.PositiveIntegerField(null=True, blank=True)
    left_breaks = models.PositiveSmallIntegerField(default=0)
    right_breaks = models.PositiveSmallIntegerField(default=0)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = GoldAnswerQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["matchup"], condition=Q(withdrawn_at__isnull=True), name="judging_goldanswer_one_standing"
            ),
            models.CheckConstraint(
                condition=Q(choice__in=["better", "worse", "tie", "fail"]), name="judging_goldanswer_known_choice"
            ),
            models.CheckConstraint(
                condition=Q(left_breaks__lte=7, right_breaks__lte=7), name="judging_goldanswer_three_fonts"
            ),
        ]
        indexes = [models.Index(F("seat").asc(), F("id").desc(), name="judging_goldanswer_of_judge")]

    def __str__(self) -> str:
        return f"{self.choice} of {self.gold_id}"

    @property
    def outcome(self) -> str:
        """The key that was pressed, by the sides that the judge saw."""
        return outcome_of(self.choice, better_is_left=self.matchup.left_sample_id == self.gold.better_id)

    def get_outcome_display(self) -> str:
        return str(Outcome(self.outcome).label)


def outcome_of(choice: str, *, better_is_left: bool) -> str:
    if choice in ("tie", "fail"):
        return choice
    return "left" if (choice == "better") == better_is_left else "right"


def choice_of(outcome: str, *, better_is_left: bool) -> str:
    if outcome in ("tie", "fail"):
        return outcome
    return "better" if (outcome == "left") == better_is_left else "worse"
