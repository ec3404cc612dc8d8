"""Studies: people who come from a link, what they agreed to and answered, and how each of them ended."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.crypto import salted_hmac
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from generation.models import CodeField, Run
from judging.models.seats import Seat

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that looks like another


def new_receipt() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(12))


def hashed_id(run_code: str, external_id: str) -> str:
    """What stays of an erased id: the site's key alone can tell that it comes again to the same run."""
    return salted_hmac("judging.participation", f"{run_code} {external_id}", algorithm="sha256").hexdigest()


class Study(models.Model):
    """A way into a run's judging for people without an account. What they meet is in its versions."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    code = CodeField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="studies")
    name = models.CharField(max_length=100)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    arena = models.BooleanField(default=False, help_text="Open to everybody; its votes are a crowd of their own.")
    merged_at = models.DateTimeField(null=True, blank=True, help_text="When the crowd was merged with the judges.")
    merged_reason = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "studies"
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="judging_study_name_once_a_run"),
            models.UniqueConstraint(fields=["run"], condition=Q(arena=True), name="judging_study_one_arena_a_run"),
            models.CheckConstraint(
                condition=Q(merged_at__isnull=True) | (Q(arena=True) & ~Q(merged_reason="")),
                name="judging_study_merged_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class StudyVersion(models.Model):
    """A study as it was written at one time; never edited. Who began with one stays with it."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    source = models.TextField(help_text="As the curator wrote it, in YAML.")
    content = models.JSONField(help_text="As it was read: generation.suites.studies.study.Study.")
    written_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    written_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="judging_studyversion_number_once")]

    def __str__(self) -> str:
        return f"version {self.number}"


class Participation(models.Model):
    """One person in one study. `external_id` is the platform's name for them; empty where they came by the shared link.

    - `receipt` is the person's own key to what is stored about them; `completion_code` is given once, to who is done.
    - The account has no password: it stands for the person in every rule about judges, and is closed with the participation.
    """

    class Outcome(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        REFUSED = "refused", _("refused consent")
        SCREENED_OUT = "screened_out", _("screened out")
        FAILED_GOLD = "failed_gold", _("failed the attention checks")
        TIMED_OUT = "timed_out", _("timed out")
        RETURNED = "returned", _("returned")
        NO_WORK_LEFT = "no_work_left", _("no work left")

    code = CodeField()
    study = models.ForeignKey(Study, models.CASCADE, related_name="participations")
    version = models.ForeignKey(StudyVersion, models.RESTRICT, related_name="participations")
    guest = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="participation"
    )
    seat = models.OneToOneField(Seat, models.CASCADE, null=True, blank=True, related_name="participation")
    external_id = models.CharField(max_length=80, blank=True)
    parameters = models.JSONField(default=dict, blank=True, help_text="What else the platform's link said.")
    address = models.CharField(
        max_length=32, blank=True, help_text="A hash of the address and hour it came from, with the site's key."
    )
    name = models.CharField(max_length=80, blank=True)
    language = models.CharField(max_length=10, blank=True, help_text="Of the pages, when it was last seen.")
    arm = models.CharField(max_length=60, blank=True, help_text="The condition that the participant is in.")
    platform_status = models.CharField(max_length=20, blank=True, help_text="Of the submission, as the platform says.")
    practice = models.JSONField(
        default=dict, blank=True, help_text="Its practice pairs by number, as they were chosen."
    )
    outcome = models.CharField(max_length=20, choices=Outcome.choices, default=Outcome.RUNNING)
    reason = models.CharField(max_length=300, blank=True)
    consent_version = models.CharField(max_length=40, blank=True)
    consented_at = models.DateTimeField(null=True, blank=True)
    receipt = models.CharField(max_length=16, default=new_receipt, unique=True)
    completion_code = models.CharField(max_length=16, null=True, blank=True, unique=True)
    started_at = models.DateTimeField(default=now)
    ended_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True, help_text="When all was deleted that says who it was.")
    erased_id = models.CharField(max_length=64, blank=True, help_text="A keyed hash of the id that was erased.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "external_id"], condition=~Q(external_id=""), name="judging_participation_once_an_id"
            ),
            models.UniqueConstraint(
                fields=["study", "erased_id"], condition=~Q(erased_id=""), name="judging_participation_once_erased"
            ),
            models.CheckConstraint(
                condition=(Q(outcome="done") & Q(completion_code__isnull=False))
                | (~Q(outcome="done") & Q(completion_code__isnull=True)),
                name="judging_participation_code_when_done",
            ),
            models.CheckConstraint(
                condition=(Q(outcome="running") & Q(ended_at__isnull=True))
                | (~Q(outcome="running") & Q(ended_at__isnull=False)),
                name="judging_participation_ends_once",
            ),
        ]
        indexes = [
            # For the places that are taken, and for those whose time is up.
            models.Index(fields=["study", "outcome", "started_at"], name="judging_participation_state"),
            # For how many came from one address within the hour.
            models.Index(fields=["address"], condition=~Q(address=""), name="judging_participation_address"),
        ]

    def __str__(self) -> str:
        return f"participant {self.code}"


class StepRecord(models.Model):
    """A step that a participant has come to: when, how often it was tried, and when it was passed."""

    participation = models.ForeignKey(Participation, models.CASCADE, related_name="steps")
    step = models.CharField(max_length=20)
    tries = models.PositiveIntegerField(default=0)
    entered_at = models.DateTimeField(default=now)
    passed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["participation", "step"], name="judging_steprecord_once")]

    def __str__(self) -> str:
        return self.step


class StudyAnswer(models.Model):
    """What a participant answered to one question. A changed answer is a new row; the old one is kept."""

    participation = models.ForeignKey(Participation, models.CASCADE, related_name="answers")
    step = models.CharField(max_length=20)
    question = models.CharField(max_length=60)
    value = models.JSONField(null=True)
    answered_at = models.DateTimeField(default=now)
    replaced_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["participation", "question"],
                condition=Q(replaced_at__isnull=True),
                name="judging_studyanswer_one_standing",
            )
        ]

    def __str__(self) -> str:
        return self.question
