"""Standings that are public while people judge."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import now

from generation.models import Run


class PublicState(models.Model):
    """What everybody but curators sees of a run's standings while people judge it; never edited. See docs/judging.md.

    `upto` is the newest judgement that it may contain: undoing one of these does not bring its drawings back.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="public_states")
    protocol = models.CharField(max_length=20)
    number = models.PositiveIntegerField()
    standings = models.JSONField(help_text="Entrant, rank, score, low and high, blurred; the best first.")
    votes = models.PositiveIntegerField(help_text="What the scores rest on.")
    simulated = models.PositiveIntegerField(default=0, help_text="Judges among them that are no people.")
    imported = models.PositiveIntegerField(default=0, help_text="Votes or grades among them that came from a file.")
    upto = models.BigIntegerField()
    read_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "protocol", "number"], name="judging_publicstate_number_once")
        ]

    def __str__(self) -> str:
        return f"public state {self.number}"
