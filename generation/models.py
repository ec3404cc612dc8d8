"""What is asked, of whom, and what they drew.

Money is whole nano-dollars (1 USD = 10⁹), so that both databases add and compare it exactly.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q, TextChoices  # `models.` would be a run's models within Run
from django.utils.timezone import now

from generation.codes import new_code
from generation.formats import format_to_show
from generation.formats.base import Format
from generation.protocols import Protocol, is_measured, judged_by

NANO = 1_000_000_000
# Flags that a curator gave; reading the answer again keeps them.
LEAK_MARKED = "leak_marked"
OFFENSIVE = "offensive"
# Our reader makes another drawing of the answer than the archive that it came in.
ARCHIVE_DIFFERS = "archive_differs"
# The reason for no drawing where a run was taken to another site before it ended; there it never will.
UNFINISHED = "unfinished"


class CodeField(models.CharField):
    """A random public id."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 12, "default": new_code, "unique": True, "editable": False, **options})


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: object) -> RunQuerySet:
        """Curators see every run; everybody sees the published ones."""
        if getattr(user, "is_staff", False):
            return self
        return self.filter(visibility=Run.Visibility.PUBLISHED)


class Run(models.Model):
    """A frozen copy of a suite's YAML, and the state of drawing, judging and showing it."""

    class Drawing(TextChoices):
        OPEN = "open", "drawing"
        PAUSED = "paused", "paused"
        CANCELLED = "cancelled", "cancelled"

    class Judging(TextChoices):
        NOT_OPEN = "not_open", "not open yet"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    class Visibility(TextChoices):
        PRIVATE = "private", "private"
        PUBLISHED = "published", "published"
        ARCHIVED = "archived", "archived"

    code = CodeField()
    suite = models.SlugField(max_length=60)
    title = models.CharField(max_length=200)
    label = models.CharField(max_length=60, blank=True, help_text="Tells two runs of one suite apart: midterm, final.")
    format = models.CharField(max_length=40)
    protocols = models.JSONField(default=list)
    config = models.JSONField(help_text="The suite as it was when the run started.")
    digest = models.CharField(max_length=64)
    is_demo = models.BooleanField(default=False)
    start_key = models.CharField(
        max_length=64, null=True, blank=True, unique=True, editable=False, help_text="A form pressed twice starts once."
    )
    drawing_state = models.CharField(max_length=10, choices=Drawing.choices, default=Drawing.OPEN)
    paused_reason = models.TextField(blank=True)
    judging_state = models.CharField(max_length=10, choices=Judging.choices, default=Judging.NOT_OPEN)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE)
    concurrency = models.PositiveIntegerField(default=8)
    measure_backend = models.CharField(max_length=40, default="builtin")
    budget_nano = models.BigIntegerField(null=True, blank=True)
    spent_nano = models.BigIntegerField(default=0)
    reserved_nano = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    finished_at = models.DateTimeField(null=True, blank=True)
    frozen_at = models.DateTimeField(null=True, blank=True, help_text="Its leaderboard is final until it is thawed.")
    names_shown_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Judging was opened again then: drawings up to this time were shown with names.",
    )
    # Moved by whatever changes a ranking (a vote, an undo, an exclusion); a fit older than this is stale.
    scores_changed_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(spent_nano__gte=0, reserved_nano__gte=0), name="generation_run_money_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} · {self.label}" if self.label else self.title

    @property
    def judged_by(self) -> list[Protocol]:
        """The protocols by which people judge it."""
        return judged_by(self)

    @property
    def is_measured(self) -> bool:
        """Whether a formula scores its answers."""
        return is_measured(self)

    @property
    def held_drawings(self) -> int:
        """Drawings that sign themselves and wait for a curator's decision."""
        return self.samples.filter(held=True).count()

    @property
    def drawing_format(self) -> Format:
        """How drawings are shown; stands in for a format that is no longer installed."""
        return format_to_show(self.format)

    @property
    def entrant_word(self) -> str:
        """What its pages call an entrant."""
        return "program" if self.config.get("programs") else "model"


class LanguageModel(models.Model):
    """A language model as it is asked in one run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="models")
    model_id = models.CharField(max_length=200)
    label = models.CharField(max_length=200)
    provider = models.CharField(max_length=60)
    profile = models.JSONField(default=dict, help_text="The provider's profile, frozen; never a key.")
    note = models.CharField(max_length=300, blank=True)
    extra_prompt = models.TextField(blank=True)
    parameters = models.JSONField(default=dict)
    price_in_nano = models.BigIntegerField(null=True, blank=True, help_text="Nano-dollars for a million tokens in.")
    price_out_nano = models.BigIntegerField(null=True, blank=True, help_text="Nano-dollars for a million tokens out.")
    refused_reason = models.TextField(blank=True, help_text="Why the provider will never serve this model.")
    failures_in_row = models.PositiveIntegerField(default=0)
    open_until = models.DateTimeField(null=True, blank=True, help_text="The circuit breaker: not asked before this.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "model_id"], name="generation_languagemodel_once_a_run")]

    def __str__(self) -> str:
        return self.label


class Prompt(models.Model):
    """One thing to draw, in one run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="prompts")
    code = CodeField()
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    text = models.TextField()
    subject = models.CharField(max_length=200, blank=True)
    category = models.CharField(max_length=80)
    facts = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "key"], name="generation_prompt_key_once_a_run"),
            models.UniqueConstraint(fields=["run", "position"], name="generation_prompt_position_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.text


class Entrant(models.Model):
    """What is ranked: a language model, or a prompt program that is run on every model."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="entrants")
    code = CodeField()
    name = models.CharField(max_length=200)
    label = models.CharField(max_length=200)
    note = models.CharField(max_length=300, blank=True)
    model = models.ForeignKey(LanguageModel, models.CASCADE, null=True, blank=True, related_name="entrants")
    team = models.CharField(max_length=120, blank=True)
    turns = models.JSONField(default=list, blank=True, help_text="A program's prompts, in order; empty for a model.")
    baseline = models.BooleanField(default=False)
    approved = models.BooleanField(default=True)
    disqualified = models.TextField(blank=True, help_text="The reason; empty while the entrant competes.")
    is_demo = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="generation_entrant_once_a_run")]

    def __str__(self) -> str:
        return self.label

    @property
    def prompt_length(self) -> int:
        return sum(len(turn) for turn in self.turns)


class SampleQuerySet(models.QuerySet["Sample"]):
    def claimable(self) -> SampleQuerySet:
        """Due now, in a run that draws, of a model that is served."""
        return self.filter(
            Q(model__open_until=None) | Q(model__open_until__lte=now()),
            state=Sample.State.PENDING,
            next_at__lte=now(),
            run__drawing_state=Run.Drawing.OPEN,
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


class ProviderCall(models.Model):
    """One HTTP request, written down before it is sent."""

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
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    generation_id = models.CharField(max_length=200, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    served_by = models.CharField(max_length=200, blank=True)

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


class Event(models.Model):
    """Who did what to a run, when and why; only ever added to."""

    class Verb(TextChoices):
        """What was done. Values with spaces are older than the choices, and stay as they are stored."""

        START_RUN = "start_run"
        EXTEND_RUN = "extend_run"
        PAUSE_RUN = "pause_run"
        RESUME_RUN = "resume_run"
        CANCEL_RUN = "cancel_run"
        FINISH_RUN = "finish_run"
        RETRY_FAILED = "retry_failed"
        RETRY_SAMPLES = "retry_samples"
        PRICES_NOT_LISTED = "prices_not_listed"

        PUBLISH_RUN = "publish_run"
        UNPUBLISH_RUN = "unpublish_run"
        ARCHIVE_RUN = "archive_run"
        FREEZE_RUN = "freeze_run"
        THAW_RUN = "thaw_run"

        EXCLUDE_SAMPLES = "exclude_samples"
        RESTORE_SAMPLES = "restore_samples"
        MARK_OFFENSIVE = "mark_offensive"
        MARK_IDENTITY_LEAK = "mark_identity_leak"
        CLEAR_IDENTITY_LEAK = "clear_identity_leak"
        DISQUALIFY_ENTRANTS = "disqualify_entrants"
        APPROVE_ENTRANTS = "approve_entrants"

        ASK_REREAD = "ask_reread"
        REREAD_RUN = "reread_run"
        ASK_BACKEND = "ask_backend"
        USE_BACKEND = "use_backend"
        MEASURE_FAILED = "measure_failed"

        IMPORT_RUN = "import_run"
        IMPORT_SAMPLES = "import_samples"
        IMPORT_PROGRAMS = "import_programs"
        IMPORT_VOTES = "import votes"
        IMPORT_GRADES = "import grades"

        OPEN_JUDGING = "open judging"
        PAUSE_JUDGING = "pause judging"
        CLOSE_JUDGING = "close judging"
        INVITE = "invite"
        REVOKE_INVITATION = "revoke invitation"
        MAKE_RESET_LINK = "make reset link"

        WEIGH_JUDGE = "weigh judge"
        SET_JUDGE_ASIDE = "set judge aside"
        LET_JUDGE_IN = "let judge in"
        REPORT_EXCLUDED = "report excluded"
        REPORT_DISMISSED = "report dismissed"

        SET_COUNTING = "set counting"
        PUBLISH_LEADERBOARD = "publish leaderboard"
        SIMULATE_JUDGES = "simulate judges"
        SIMULATE_GRADES = "simulate grades"
        CREATE_ANALYST_TOKEN = "create analyst token"  # noqa: S105
        REVOKE_ANALYST_TOKEN = "revoke analyst token"  # noqa: S105

    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=200, blank=True)
    reason = models.TextField(blank=True)
    facts = models.JSONField(default=dict)
    at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["-at"]
        indexes = [
            models.Index(F("run").asc(), F("at").desc(), name="generation_event_newest"),
            # For the sweeper's search for news to send.
            models.Index(fields=["verb", "at"], name="generation_event_news"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject}".strip()


class Notice(models.Model):
    """Word of an event by one channel: an e-mail or a webhook. Sent at least once, and only then marked."""

    event = models.ForeignKey(Event, models.CASCADE, related_name="notices")
    channel = models.CharField(max_length=10, choices=[("email", "e-mail"), ("webhook", "webhook")])
    tries = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(default=now)
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["event", "channel"], name="generation_notice_once_a_channel")]
        indexes = [
            # For the sweeper; only what is not sent yet.
            models.Index(fields=["next_at"], condition=Q(sent_at__isnull=True), name="generation_notice_due")
        ]

    def __str__(self) -> str:
        return f"{self.channel} about {self.event_id}"
