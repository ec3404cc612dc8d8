"""What follows from votes, grades and measures: fits, computed once and never edited."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.utils.timezone import now

from generation.models import CodeField, Entrant, Run
from judging.models import Vote


class Counting(models.Model):
    """How a curator wants a run's ties and fails to count; a run without a row counts both as half a win."""

    class Share(models.TextChoices):
        HALF = "half", "half a win for each"
        DROP = "drop", "not counted"

    run = models.OneToOneField(Run, models.CASCADE, related_name="counting")
    ties = models.CharField(max_length=4, choices=Share.choices, default=Share.HALF)
    fails = models.CharField(max_length=4, choices=Share.choices, default=Share.HALF)

    def __str__(self) -> str:
        return f"ties {self.ties}, fails {self.fails}"


class FitQuerySet(models.QuerySet["Fit"]):
    def newest(self, run: Run, protocol: str, *, kind: str = "") -> Fit | None:
        fits = self.filter(run=run, protocol=protocol, until=None, **({"kind": kind} if kind else {}))
        return fits.order_by("-read_at", "-id").first()

    def newest_of(self, runs: Iterable[Run]) -> dict[tuple[int, str], Fit]:
        """The newest fit of each of these runs by each protocol, in one query."""
        latest = Window(
            RowNumber(), partition_by=[F("run"), F("protocol")], order_by=[F("read_at").desc(), F("id").desc()]
        )
        places = (
            self.filter(run__in=runs, until=None).annotate(place=latest).filter(place=1).values_list("id", flat=True)
        )
        return {(fit.run_id, fit.protocol): fit for fit in self.filter(pk__in=list(places))}


class Fit(models.Model):
    """One leaderboard of one run by one protocol, with the choices behind it; computed once, never edited.

    - fast: from tallies, within seconds of a vote; full: from every vote, with agreement and consistency.
    - `read_at` is when its votes were read: a run whose scores changed later has a newer leaderboard to come. It alone is put
      right where the clock was set back since.
    """

    class Kind(models.TextChoices):
        FAST = "fast", "fast"
        FULL = "full", "full"

    code = CodeField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="fits")
    protocol = models.CharField(max_length=20)
    kind = models.CharField(max_length=4, choices=Kind.choices, default=Kind.FULL)
    settings = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    votes = models.PositiveIntegerField(default=0, help_text="Votes, grades or samples it rests on.")
    until = models.DateTimeField(
        null=True, blank=True, help_text="A past leaderboard: the votes standing at this time."
    )
    read_at = models.DateTimeField()
    created_at = models.DateTimeField(default=now)

    objects = FitQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=["fast", "full"]), name="ranking_fit_known_kind")
        ]
        indexes = [
            # For the page's newest fit.
            models.Index(fields=["run", "protocol", "kind", "-read_at"], name="ranking_fit_newest")
        ]

    def __str__(self) -> str:
        return f"{self.protocol} fit {self.code}"


class Standing(models.Model):
    """One entrant's place in one scope (overall, a category) of a fit."""

    fit = models.ForeignKey(Fit, models.CASCADE, related_name="standings")
    scope = models.CharField(max_length=120, help_text="`overall`, or `category:` and its key.")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="standings")
    score = models.FloatField(null=True, blank=True, help_text="A rating (Elo), or points.")
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    rank = models.PositiveIntegerField(null=True, blank=True)
    rank_low = models.PositiveIntegerField(null=True, blank=True)
    rank_high = models.PositiveIntegerField(null=True, blank=True)
    n = models.PositiveIntegerField(default=0, help_text="Votes, grades or samples behind it.")

    class Meta:
        ordering = ["rank", "id"]
        constraints = [models.UniqueConstraint(fields=["fit", "scope", "entrant"], name="ranking_standing_once")]

    def __str__(self) -> str:
        return f"{self.entrant} in {self.scope}"


class Publication(models.Model):
    """A fit frozen under a link of its own, that shows the same numbers for ever."""

    code = CodeField()
    fit = models.ForeignKey(Fit, models.CASCADE, related_name="publications")
    title = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.title


class AnalystToken(models.Model):
    """Opens the API to a program: to every run or to one, for reading or more. Only the hash of the token is kept."""

    class Role(models.TextChoices):
        READ = "read", "read"
        PUSH = "push", "read, and push drawings and votes"
        CURATE = "curate", "all that a curator does to runs"

    code = CodeField()
    label = models.CharField(max_length=120, help_text="Who uses it, or what for.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=12, editable=False, help_text="Its first letters, to tell two apart.")
    role = models.CharField(max_length=6, choices=Role.choices, default=Role.READ)
    run = models.ForeignKey(
        Run, models.CASCADE, null=True, blank=True, related_name="tokens", help_text="The only run that it opens."
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # Requests in the minute that began at `minute`, for the limit.
    minute = models.DateTimeField(null=True, blank=True, editable=False)
    requests = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(role__in=["read", "push", "curate"]), name="ranking_token_known_role"
            ),
            # What writes is forgotten sooner or later; it stops by itself.
            models.CheckConstraint(
                condition=models.Q(role="read") | models.Q(expires_at__isnull=False),
                name="ranking_token_writes_for_a_time",
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= now()


class PushedVote(models.Model):
    """A vote that a program pushed under an id of its own: pushed again, it is the same vote."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="pushed_votes")
    key = models.CharField(max_length=100, help_text="The program's id of the vote.")
    digest = models.CharField(max_length=64, editable=False, help_text="Of the vote as it was pushed.")
    vote = models.OneToOneField(Vote, models.CASCADE, related_name="pushed")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="ranking_pushed_vote_once")]

    def __str__(self) -> str:
        return self.key


class Webhook(models.Model):
    """An address that is told of one run. Its secret is made from the site's key and stored nowhere."""

    code = CodeField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    kinds = models.JSONField(default=list, help_text="What it is told of: run, votes, fits.")
    failures = models.PositiveIntegerField(default=0, help_text="Tries in a row that failed.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"webhook {self.code}"


class Delivery(models.Model):
    """One piece of news for one webhook: planned once, sent at least once, and only then marked."""

    code = CodeField()
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    key = models.CharField(max_length=60, help_text="What it tells of, so that it is told once.")
    kind = models.CharField(max_length=30)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=now)
    tries = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(default=now)
    sent_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveIntegerField(null=True, blank=True, help_text="The HTTP status of the last try.")
    error = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["webhook", "key"], name="ranking_delivery_once")]
        indexes = [
            # For the worker; only what is not sent yet.
            models.Index(fields=["next_at"], condition=models.Q(sent_at__isnull=True), name="ranking_delivery_due")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.code}"
