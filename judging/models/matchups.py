"""Pairs of drawings as judges were shown them, and reports about them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from generation.models import CodeField, Entrant, Prompt, Run, Sample
from judging.models.seats import Epoch, Seat


class Kind(models.TextChoices):
    """Why an item was shown; repeats and picked pairs never enter a rating, and a check with a known answer is no vote at all."""

    REGULAR = "regular", "regular"
    SHARED = "shared", "shared"
    REPEAT = "repeat", "repeat"
    GOLD = "gold", "check"
    PICKED = "picked", "picked"


class Matchup(models.Model):
    """Two samples of one prompt, as one judge was or will be shown them.

    - queued: next in line; open: on the judge's screen, at most one; voted; skipped; void: reported or no longer showable.
    - Imported votes have matchups too; where the file names no prompt or attempt, there is none here.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        OPEN = "open", "open"
        VOTED = "voted", "voted"
        SKIPPED = "skipped", "skipped"
        VOID = "void", "void"

    code = CodeField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="matchups")
    # Indexes that begin with the seat are below; one more would be written three times a vote.
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="matchups", db_index=False)
    epoch = models.ForeignKey(Epoch, models.RESTRICT, null=True, blank=True, related_name="+")
    order = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.REGULAR)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    prompt = models.ForeignKey(Prompt, models.RESTRICT, null=True, blank=True, related_name="+")
    category = models.CharField(max_length=80, blank=True)
    left = models.ForeignKey(Entrant, models.RESTRICT, related_name="+")
    right = models.ForeignKey(Entrant, models.RESTRICT, related_name="+")
    left_sample = models.ForeignKey(Sample, models.RESTRICT, null=True, blank=True, related_name="+")
    right_sample = models.ForeignKey(Sample, models.RESTRICT, null=True, blank=True, related_name="+")
    key = models.CharField(max_length=32, blank=True, help_text="The two drawings, whatever their sides.")
    repeat_of = models.OneToOneField("self", models.RESTRICT, null=True, blank=True, related_name="repeat")
    gold = models.ForeignKey("judging.GoldPair", models.RESTRICT, null=True, blank=True, related_name="matchups")
    created_at = models.DateTimeField(default=now)
    opened_at = models.DateTimeField(null=True, blank=True)
    skipped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["order"]
        constraints = [
            models.UniqueConstraint(fields=["seat"], condition=Q(state="open"), name="judging_matchup_one_open"),
            models.UniqueConstraint(fields=["seat", "order"], name="judging_matchup_order_once_a_judge"),
            models.UniqueConstraint(
                fields=["seat", "key"],
                condition=~Q(kind="repeat") & ~Q(key=""),
                name="judging_matchup_drawings_meet_once",
            ),
            models.CheckConstraint(
                condition=Q(kind="gold", gold__isnull=False) | (~Q(kind="gold") & Q(gold=None)),
                name="judging_matchup_gold_of_a_pair",
            ),
            models.CheckConstraint(condition=~Q(left=F("right")), name="judging_matchup_two_entrants"),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "open", "voted", "skipped", "void"]),
                name="judging_matchup_known_state",
            ),
            models.CheckConstraint(
                condition=Q(state="skipped", skipped_at__isnull=False) | (~Q(state="skipped") & Q(skipped_at=None)),
                name="judging_matchup_skipped_at_a_time",
            ),
        ]
        indexes = [
            # For the matchups in line. SQLite uses no partial index where values are bound, so this one is whole.
            models.Index(fields=["seat", "state", "order"], name="judging_matchup_in_line"),
            # For the question whether two drawings have met before this judge.
            models.Index(fields=["seat", "key"], name="judging_matchup_met"),
            # For how many people a picked pair was shown to.
            models.Index(fields=["run", "key"], condition=Q(kind="picked"), name="judging_matchup_picked"),
        ]

    def __str__(self) -> str:
        return f"matchup {self.code}"


class Report(models.Model):
    """A judge's word that a drawing should not be judged; a curator decides."""

    class Reason(models.TextChoices):
        BROKEN = "broken", _("broken: it does not show properly")
        SIGNED = "signed", _("signed: it says who drew it")
        OFFENSIVE = "offensive", _("offensive")

    class Side(models.TextChoices):
        LEFT = "left", _("left")
        RIGHT = "right", _("right")
        BOTH = "both", _("both")

    matchup = models.ForeignKey(Matchup, models.RESTRICT, related_name="reports")
    side = models.CharField(max_length=5, choices=Side.choices)
    reason = models.CharField(max_length=10, choices=Reason.choices)
    note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=now)
    decision = models.CharField(max_length=60, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.reason} on {self.matchup_id}"
