"""Judges in a run, and the stretches of it in which they judge the same drawings."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from generation.models import Run
from judging.models.invitations import Invitation


def new_seed() -> int:
    return secrets.randbelow(2**31)


class Epoch(models.Model):
    """A stretch of a run with the same eligible samples; made once, never changed. Balance is promised within one."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="epochs")
    number = models.PositiveIntegerField()
    seed = models.BigIntegerField(default=new_seed)
    table = models.JSONField(help_text="The eligible drawings, as judging.table.Table.")
    fingerprint = models.CharField(max_length=64)
    checked_at = models.DateTimeField(default=now, help_text="When the samples were last compared with the table.")
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="judging_epoch_number_once_a_run")]

    def __str__(self) -> str:
        return f"epoch {self.number}"


class Seat(models.Model):
    """A judge in a run: the place in the schedule, progress, and the judge's weight in the ranking.

    `version` is raised by every change of the place or the progress, so that of two requests at once only one takes effect.
    A seat without a judge holds votes that were imported; `is_unknown` marks the one whose votes name nobody.
    """

    class Panel(models.TextChoices):
        """Whose board the votes are on. Of the open arena they are a crowd's, and weigh nothing in the judges' until merged."""

        JUDGES = "", "judges"
        ARENA = "arena", "open arena"

    # Why a seat of the arena weighs what it does on the judges' board, unless somebody took it out of both.
    APART, MERGED = "In the open arena: counted apart.", "In the open arena: merged, by reliability."

    run = models.ForeignKey(Run, models.CASCADE, related_name="seats")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="seats")
    pseudonym = models.CharField(max_length=120)
    is_unknown = models.BooleanField(default=False)
    is_simulated = models.BooleanField(default=False, help_text="Votes come from `simulate_judges`, not from a person.")
    panel = models.CharField(max_length=10, choices=Panel.choices, default=Panel.JUDGES, blank=True)
    invitation = models.ForeignKey(Invitation, models.SET_NULL, null=True, blank=True, related_name="seats")
    quota = models.PositiveIntegerField(null=True, blank=True)
    weight = models.FloatField(
        default=1.0, help_text="How much a vote of this judge counts, 0 to 1; 0 keeps the votes out of the ranking."
    )
    excluded_reason = models.CharField(max_length=300, blank=True)
    joined_at = models.DateTimeField(default=now)
    ended_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When a participant's part in a study ended; nothing is voted on or undone after.",
    )

    epoch = models.ForeignKey(Epoch, models.RESTRICT, null=True, blank=True, related_name="seats")
    plan = models.JSONField(default=dict, blank=True, help_text="The order of things in this epoch; never changed.")
    seed = models.BigIntegerField(null=True, blank=True, help_text="Of the plan; names it where it is kept in memory.")
    owed = models.JSONField(default=list, blank=True, help_text="Questions that gaps left owed, and how often.")
    served = models.PositiveIntegerField(default=0, help_text="Items so far in this epoch.")
    regular = models.PositiveIntegerField(default=0, help_text="Next number in the judge's own plan.")
    shared = models.PositiveIntegerField(default=0, help_text="Next number in the shared sequence.")
    repeats = models.PositiveIntegerField(default=0)
    last_pair = models.JSONField(null=True, blank=True)

    made = models.PositiveIntegerField(default=0, help_text="Matchups ever made; the next one's order.")
    void = models.PositiveIntegerField(default=0, help_text="Matchups that need no vote: void, skipped, or checks.")
    voted = models.PositiveIntegerField(default=0, help_text="Standing votes.")
    gold_rule = models.JSONField(
        null=True, blank=True, help_text="The rule of attention checks that the judge began with; none without it."
    )
    gold_shown = models.PositiveIntegerField(default=0, help_text="Checks that are in line or answered.")
    gold_answered = models.PositiveIntegerField(default=0, help_text="Standing answers to checks; no votes.")
    gold_passed = models.PositiveIntegerField(default=0)
    gold_failed = models.PositiveIntegerField(default=0)
    last_vote_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["run"], condition=~Q(panel=""), name="judging_seat_in_the_arena")]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "judge"], condition=Q(judge__isnull=False), name="judging_seat_judge_once_a_run"
            ),
            models.UniqueConstraint(fields=["run", "pseudonym"], name="judging_seat_pseudonym_once_a_run"),
            models.CheckConstraint(
                condition=Q(gold_answered__lte=F("gold_shown"), gold_answered__gte=F("gold_passed") + F("gold_failed")),
                name="judging_seat_gold_adds_up",
            ),
            models.CheckConstraint(
                condition=Q(weight=1) | (Q(weight__gte=0, weight__lt=1) & ~Q(excluded_reason="")),
                name="judging_seat_exclusion_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym
