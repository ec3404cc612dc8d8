"""What the newest fit says about each pair, for runs whose pairs are adaptive."""

from __future__ import annotations

from django.db import models

from generation.models import Run
from judging.models.seats import new_seed


class PairFocus(models.Model):
    """Written with every fit; `version` is another number each time, so that what was read once may be kept in memory."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="pair_focus")
    version = models.BigIntegerField(default=new_seed)
    votes = models.PositiveIntegerField(help_text="What the fit rests on.")
    pairs = models.JSONField(
        help_text="Two entrants, their votes, and how likely their order is wrong: null where it is decided."
    )
    read_at = models.DateTimeField(help_text="When the fit read its votes.")

    class Meta:
        verbose_name_plural = "pair focuses"

    def __str__(self) -> str:
        return f"focus after {self.votes} votes"
