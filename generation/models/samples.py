"""Answers: first a job, then a drawing with its measurements."""

from __future__ import annotations

from hashlib import sha256

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, TextChoices
from django.utils.timezone import now

from benchsite.version import VERSION
from generation.formats.raster import VERSION as PIXELS
from generation.models.entrants import Entrant, LanguageModel, Prompt
from generation.models.fields import CodeField
from generation.models.runs import Run

# Flags that a curator gave; reading the answer again keeps them.
LEAK_MARKED = "leak_marked"
OFFENSIVE = "offensive"
# Our reader makes another drawing of the answer than the archive that it came in.
ARCHIVE_DIFFERS = "archive_differs"
# The reason for no drawing where a run was taken to another site before it ended; there it never will.
UNFINISHED = "unfinished"


class SampleQuerySet(models.QuerySet["Sample"]):
    def claimable(self) -> SampleQuerySet:
        """Due now, in a run that draws, of a model that is served."""
        return self.filter(
            Q(model__open_until=None) | Q(model__open_until__lte=now()),
            state=Sample.State.PENDING,
            next_at__lte=now(),
            run__drawing_state=Run.Drawing.OPEN,
            run__setting_up=False,
            model__refused_reason="",
        )

    def unended(self) -> SampleQuerySet:
        return self.filter(state__in=[Sample.State.PENDING, Sample.State.ASKING])

    def unmeasured(self, backend: str) -> SampleQuerySet:
        return self.filter(~Exists(Measurement.objects.filter(sample=OuterRef("pk"), backend=backend)))

    def judgeable(self) -> SampleQuerySet:
        """Valid drawings that no curator withheld, of entrants that still compete."""
        return self.filter(
            state=Sample.State.DRAWN,
            verdict=Sample.Verdict.VALID,
            held=False,
            excluded_reason="",
            entrant__disqualified="",
        )

    def excluded(self) -> SampleQuerySet:
        """Taken out by a curator: no vote on one of them counts."""
        return self.exclude(excluded_reason="")

    def in_order(self) -> SampleQuerySet:
        """By prompt, entrant, model and attempt: the same on every site that has the run, which the order of ids is not."""
        return self.order_by("prompt__position", "entrant_id", "model_id", "attempt")

    def progress(self) -> dict[str, int]:
        """How many samples there are in each state, every state named."""
        counts = dict(self.order_by().values_list("state").annotate(Count("id")))
        return {state: counts.get(state, 0) for state in Sample.State.values}


class Sample(models.Model):
    """First a job, then a drawing.

    - pending: to be asked at `next_at`; asking: one worker holds it under `token` until `lease_until`.
    - drawn: an answer is stored, once and for good; failed and cancelled: it never will be, unless retried.
    """

    class State(TextChoices):
        PENDING = "pending", "waiting"
        ASKING = "asking", "asking"
        DRAWN = "drawn", "drawn"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    class Verdict(TextChoices):
        NONE = "", "not read"
        VALID = "valid", "valid"
        INVALID = "invalid", "invalid"

    run = models.ForeignKey(Run, models.CASCADE, related_name="samples")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="samples")
    model = models.ForeignKey(LanguageModel, models.CASCADE, related_name="samples")
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="samples")
    attempt = models.PositiveIntegerField()
    code = CodeField()

    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    next_at = models.DateTimeField(default=now)
    token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    claims = models.PositiveIntegerField(default=0)
    failure = models.CharField(max_length=60, blank=True, help_text="The last error's code.")
    failure_detail = models.TextField(blank=True)

    raw = models.BinaryField(null=True, blank=True, help_text="The answer's own bytes, for audit.")
    answer = models.TextField(blank=True, help_text="The answer as text that both databases can hold.")
    earlier_answers = models.JSONField(default=list, blank=True, help_text="A program's answers before the last turn.")
    questions = models.JSONField(
        default=list,
        blank=True,
        help_text="What a Python program asked: messages, and how each answer ended. The last may still be unanswered.",
    )
    finish_reason = models.CharField(max_length=40, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    drawn_at = models.DateTimeField(null=True, blank=True)
    imported = models.BooleanField(default=False)

    verdict = models.CharField(max_length=10, choices=Verdict.choices, default=Verdict.NONE, blank=True)
    reason = models.CharField(max_length=60, blank=True)
    detail = models.TextField(blank=True)
    flags = models.JSONField(default=list, blank=True)
    facts = models.JSONField(default=dict, blank=True)
    drawing = models.TextField(blank=True)
    format_version = models.PositiveIntegerField(default=0)
    held = models.BooleanField(default=False, help_text="Signs itself: kept from judges until a curator decides.")
    excluded_reason = models.CharField(max_length=300, blank=True)

    objects = SampleQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "entrant", "model", "prompt", "attempt"], name="generation_sample_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "asking", "drawn", "failed", "cancelled"]),
                name="generation_sample_known_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="drawn") | Q(drawn_at__isnull=False), name="generation_sample_drawn_has_time"
            ),
            models.CheckConstraint(
                condition=~Q(state="asking") | Q(token__isnull=False, lease_until__isnull=False),
                name="generation_sample_asking_has_lease",
            ),
        ]
        indexes = [
            # For the crew's search for due work, and the sweeper's count of it.
            models.Index(fields=["run", "state", "next_at", "id"], name="generation_sample_due"),
            # For the sweeper's search for lapsed leases; only a sample that is being asked has one.
            models.Index(
                fields=["lease_until"], condition=Q(lease_until__isnull=False), name="generation_sample_leases"
            ),
            # For the run page's counts of each model by state.
            models.Index(fields=["run", "model", "state"], name="generation_sample_progress"),
            # For the strip of newest drawings.
            models.Index(fields=["run", "drawn_at"], name="generation_sample_newest"),
        ]

    def __str__(self) -> str:
        return f"sample {self.code}"

    @property
    def picture_key(self) -> str:
        """Names the pixels of this drawing: another drawing, or another way to draw it, has another key."""
        return sha256(f"{self.run.format}:{PIXELS}:{VERSION}:{self.drawing}".encode("utf-8", "replace")).hexdigest()[
            :20
        ]


class Measurement(models.Model):
    """What an automatic score says about one sample, by one backend; two backends never mix in a leaderboard."""

    sample = models.ForeignKey(Sample, models.CASCADE, related_name="measurements")
    backend = models.CharField(max_length=40)
    values = models.JSONField(default=dict)
    format_version = models.PositiveIntegerField(default=0)
    measured_at = models.DateTimeField(default=now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sample", "backend"], name="generation_measurement_once_a_backend")
        ]

    def __str__(self) -> str:
        return f"{self.backend} on {self.sample_id}"


class Reading(models.Model):
    """An extraction that a later rule replaced, kept."""

    sample = models.ForeignKey(Sample, models.CASCADE, related_name="readings")
    format_version = models.PositiveIntegerField()
    verdict = models.CharField(max_length=10)
    reason = models.CharField(max_length=60, blank=True)
    detail = models.TextField(blank=True)
    flags = models.JSONField(default=list)
    facts = models.JSONField(default=dict)
    drawing = models.TextField(blank=True)
    replaced_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["-replaced_at"]

    def __str__(self) -> str:
        return f"version {self.format_version} of {self.sample_id}"
