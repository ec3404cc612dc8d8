"""Requests to providers, and what they cost."""

from __future__ import annotations

from django.db import models
from django.db.models import Q, TextChoices
from django.utils.timezone import now

from generation.models.runs import Run
from generation.models.samples import Sample


class ProviderCall(models.Model):
    """One question to a provider, written down before it is sent; where a part of it is refused, it is sent again without it."""

    class Outcome(TextChoices):
        OPEN = "open", "in flight"
        ANSWERED = "answered", "answered"
        RETRY = "retry", "to be retried"
        REFUSED = "refused", "refused"
        UNKNOWN = "unknown", "unknown"

    sample = models.ForeignKey(Sample, models.CASCADE, related_name="calls")
    run = models.ForeignKey(Run, models.CASCADE, related_name="calls")
    token = models.UUIDField(unique=True)
    turn = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(default=now)
    worker = models.CharField(max_length=100, blank=True, help_text="Who asked: a machine and a process.")
    seen_at = models.DateTimeField(null=True, blank=True, help_text="When its worker last said that it waits for it.")
    lease_until = models.DateTimeField(help_text="After this nobody waits for it any more.")
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.OPEN)
    status = models.PositiveIntegerField(null=True, blank=True, help_text="The HTTP status.")
    error = models.CharField(max_length=60, blank=True)
    detail = models.TextField(blank=True)
    reserved_nano = models.BigIntegerField(default=0)
    cost_nano = models.BigIntegerField(null=True, blank=True, help_text="Empty while unknown; never guessed.")
    cost_checks = models.PositiveIntegerField(default=0, help_text="How often the provider was asked for the cost.")
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    reasoning_tokens = models.PositiveIntegerField(null=True, blank=True, help_text="Part of completion_tokens.")
    cached_tokens = models.PositiveIntegerField(null=True, blank=True, help_text="Part of prompt_tokens.")
    own_key_nano = models.BigIntegerField(
        null=True, blank=True, help_text="The part of cost_nano that was charged to our own key behind a router."
    )
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    generation_id = models.CharField(max_length=200, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    served_by = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=100, blank=True, help_text="The provider's system_fingerprint.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome="open") | Q(ended_at__isnull=False), name="generation_providercall_ended_has_time"
            ),
        ]
        indexes = [
            # For the run page's money and errors.
            models.Index(fields=["run", "outcome"], name="generation_call_outcomes"),
            # For the sweeper's search for calls nobody waits for any more.
            models.Index(fields=["outcome", "lease_until"], name="generation_call_leases"),
        ]

    def __str__(self) -> str:
        return f"call {self.token}"
