"""What was done to a run, and who was told of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q, TextChoices
from django.utils.timezone import now

from generation.models.runs import Run


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
        CLOSE_CALLS = "close_calls"
        PRICES_NOT_LISTED = "prices_not_listed"

        PUBLISH_RUN = "publish_run"
        UNPUBLISH_RUN = "unpublish_run"
        ARCHIVE_RUN = "archive_run"
        MOVE_RUN = "move_run"
        CREATE_TEAM = "create_team"
        ADD_MEMBER = "add_member"
        REMOVE_MEMBER = "remove_member"
        FREEZE_RUN = "freeze_run"
        THAW_RUN = "thaw_run"

        EXCLUDE_SAMPLES = "exclude_samples"
        RESTORE_SAMPLES = "restore_samples"
        MARK_OFFENSIVE = "mark_offensive"
        MARK_IDENTITY_LEAK = "mark_identity_leak"
        CLEAR_IDENTITY_LEAK = "clear_identity_leak"
        DISQUALIFY_ENTRANTS = "disqualify_entrants"
        APPROVE_ENTRANTS = "approve_entrants"
        DESCRIBE_MODEL = "describe_model"

        ASK_REREAD = "ask_reread"
        REREAD_RUN = "reread_run"
        RECOUNT_RUN = "recount_run"
        ASK_BACKEND = "ask_backend"
        USE_BACKEND = "use_backend"
        MEASURE_FAILED = "measure_failed"

        IMPORT_RUN = "import_run"
        IMPORT_SAMPLES = "import_samples"
        IMPORT_PROGRAMS = "import_programs"
        IMPORT_VOTES = "import votes"
        IMPORT_GRADES = "import grades"

        ADD_MODEL_JUDGE = "add model judge"
        IMPORT_MODEL_VOTES = "import model votes"

        OPEN_JUDGING = "open judging"
        PAUSE_JUDGING = "pause judging"
        CLOSE_JUDGING = "close judging"
        ADAPTIVE_PAIRS = "adaptive pairs"
        BALANCED_PAIRS = "balanced pairs"
        PICK_PAIRS = "pick pairs"
        END_PICKED_PAIRS = "end picked pairs"
        SET_GOLD = "set checks"
        MAKE_GOLD = "make checks"
        RETIRE_GOLD = "retire check"
        INVITE = "invite"
        WRITE_STUDY = "write study"
        OPEN_STUDY = "open study"
        PAUSE_STUDY = "pause study"
        CLOSE_STUDY = "close study"
        MERGE_ARENA = "merge arena"
        PART_ARENA = "part arena"
        ERASE_PARTICIPANT = "erase participant"
        RETURN_PARTICIPANTS = "return participants"
        REVOKE_INVITATION = "revoke invitation"
        MAKE_RESET_LINK = "make reset link"
        CONFIRM_RESET_LINK = "confirm reset link"

        WEIGH_JUDGE = "weigh judge"
        SET_JUDGE_ASIDE = "set judge aside"
        LET_JUDGE_IN = "let judge in"
        REPORT_EXCLUDED = "report excluded"
        REPORT_DISMISSED = "report dismissed"

        SET_COUNTING = "set counting"
        PUBLISH_LEADERBOARD = "publish leaderboard"
        PUBLISH_DATASET = "publish dataset"
        SIMULATE_JUDGES = "simulate judges"
        SIMULATE_GRADES = "simulate grades"
        CREATE_ANALYST_TOKEN = "create analyst token"  # noqa: S105
        REVOKE_ANALYST_TOKEN = "revoke analyst token"  # noqa: S105
        CREATE_WEBHOOK = "create webhook"
        DISABLE_WEBHOOK = "disable webhook"

        LINK_LOGIN = "link login"
        UNLINK_LOGIN = "unlink login"
        CREATE_ACCOUNT = "create account"
        GIVE_ROLE = "give role"
        TAKE_ROLE = "take role"
        EMERGENCY_LOGIN = "emergency login"
        ENROL_SECOND_FACTOR = "enrol second factor"
        USE_RECOVERY_CODE = "use recovery code"
        NEW_RECOVERY_CODES = "new recovery codes"
        REMOVE_SECOND_FACTOR = "remove second factor"
        SECOND_FACTOR_LOCKED = "second factor locked"

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
