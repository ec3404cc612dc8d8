"""Pairs that a curator wants people to look at, whatever the balanced schedule says: they feed no rating."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from generation.models import CodeField, Run, Sample


class PickedPair(models.Model):
    """Two drawings of one prompt, in line for people. Where a model judge differs from people, it prefers `first`."""

    class Why(models.TextChoices):
        DIFFERS = "differs", "the model judge and people differ"
        HARD = "hard", "the model judge finds it hardest"

    code = CodeField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="picked_pairs")
    first = models.ForeignKey(Sample, models.RESTRICT, related_name="+")
    second = models.ForeignKey(Sample, models.RESTRICT, related_name="+")
    key = models.CharField(max_length=32, help_text="The two drawings, as a matchup's key.")
    why = models.CharField(max_length=10, choices=Why.choices)
    judge = models.CharField(max_length=240, help_text="The model judge's name in files and on boards.")
    wanted = models.PositiveIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(50)], help_text="How many people are asked."
    )
    picked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    picked_at = models.DateTimeField(default=now)
    ended_at = models.DateTimeField(null=True, blank=True, help_text="Shown to nobody new; its answers stay.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=~Q(first=F("second")), name="judging_pickedpair_two_drawings"),
            models.CheckConstraint(condition=Q(wanted__gte=1, wanted__lte=50), name="judging_pickedpair_few_people"),
            models.UniqueConstraint(
                fields=["run", "key"], condition=Q(ended_at__isnull=True), name="judging_pickedpair_once_in_line"
            ),
        ]

    def __str__(self) -> str:
        return f"picked pair {self.code}"
