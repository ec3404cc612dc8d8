"""What an account logs in with besides its password: a login at the provider, an authenticator app, recovery codes."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.timezone import now


class Identity(models.Model):
    """Somebody at the identity provider, by issuer and subject; an e-mail address identifies nobody."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)
    email = models.CharField(max_length=320, blank=True)
    # Roles that a login at the provider gave, and that a later one takes away; what was given here is not among them.
    roles = models.JSONField(default=list, blank=True)
    linked_at = models.DateTimeField(default=now)
    last_login_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="accounts_identity_once"),
            models.UniqueConstraint(fields=["user", "issuer"], name="accounts_identity_one_an_account"),
            models.CheckConstraint(condition=~models.Q(subject=""), name="accounts_identity_has_a_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class Authenticator(models.Model):
    """The authenticator app of a curator or superuser. Its secret is sealed with the site's secret key."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="authenticator")
    sealed_secret = models.CharField(max_length=300)
    enrolled_at = models.DateTimeField(default=now)
    last_step = models.BigIntegerField(default=0)  # of 30 seconds: a code that was used opens nothing again
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"authenticator of {self.user}"


class RecoveryCode(models.Model):
    """A code on paper, for a lost phone; only its hash is here."""

    authenticator = models.ForeignKey(Authenticator, models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["authenticator", "digest"], name="accounts_recovery_code_once")]

    def __str__(self) -> str:
        return f"recovery code of {self.authenticator.user}"
