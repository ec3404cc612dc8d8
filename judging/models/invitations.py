"""Invitations to judge."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from generation.models import Run


def new_token() -> str:
    return secrets.token_urlsafe(24)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def usable(self) -> InvitationQuerySet:
        return self.filter(revoked_at=None, expires_at__gt=now(), uses__lt=F("max_uses"))


class Invitation(models.Model):
    """A link that lets somebody become a judge of one run; the only way to sign up."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="invitations")
    token = models.CharField(max_length=40, default=new_token, unique=True, editable=False)
    label = models.CharField(max_length=120, blank=True)
    quota = models.PositiveIntegerField(null=True, blank=True)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(uses__lte=F("max_uses")), name="judging_invitation_not_overused")
        ]

    def __str__(self) -> str:
        return self.label or f"invitation {self.pk}"

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        if self.uses >= self.max_uses:
            return "used"
        return "expired" if self.expires_at <= now() else "open"
