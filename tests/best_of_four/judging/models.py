"""What judges picked."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import now

from generation.models import Run, Sample
from judging.models import Seat


class Pick(models.Model):
    """The best of the drawings that a judge was shown for one prompt."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="picks")
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="picks")
    sample = models.ForeignKey(Sample, models.CASCADE, related_name="+")
    picked_at = models.DateTimeField(default=now)

    class Meta:
        app_label = "best_of_four"

    def __str__(self) -> str:
        return f"pick by {self.seat}"
