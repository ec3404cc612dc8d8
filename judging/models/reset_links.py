"""Links with which a judge can choose a new password: who made one, and whether the judge says that it was asked for."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.timezone import now


class ResetLinkQuerySet(models.QuerySet["ResetLink"]):
    def waiting(self) -> ResetLinkQuerySet:
        """Used, and not confirmed by the judge."""
        return self.filter(used_at__isnull=False, confirmed_at=None)


class ResetLink(models.Model):
    """A new password for a judge, by a curator's link or by a superuser: what is judged after it is marked until confirmed.

    Whoever made the link could have used it. `used_at` is when the password was set.
    """

    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="reset_links")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    made_at = models.DateTimeField(default=now)
    used_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    objects = ResetLinkQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(confirmed_at=None) | Q(used_at__isnull=False), name="judging_resetlink_used_then_confirmed"
            )
        ]
        indexes = [
            # For the few that wait: every fit asks for those of its judges.
            models.Index(
                fields=["judge"],
                condition=Q(used_at__isnull=False, confirmed_at__isnull=True),
                name="judging_resetlink_waiting",
            )
        ]

    def __str__(self) -> str:
        return f"new password for {self.judge}"
