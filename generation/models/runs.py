"""A run: a suite's frozen copy and its state."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q, TextChoices  # `models.` would be a run's models within Run
from django.utils.timezone import now

from benchsite.lib.access import within_teams
from generation.formats import INTERNAL, format_to_show
from generation.formats.base import Format
from generation.models.fields import CodeField
from generation.models.teams import Team
from generation.protocols import Protocol, is_measured, judged_by


class RunQuerySet(models.QuerySet["Run"]):
    def of_drawings(self) -> RunQuerySet:
        """Without model judges, which are no runs to the reader of a list."""
        return self.filter(judged_run=None)

    def curated_by(self, user: Any) -> RunQuerySet:
        """Those of the curator's teams, and those of no team; every run for superusers."""
        return self.filter(within_teams(user))

    def visible_to(self, user: Any) -> RunQuerySet:
        """Curators see the runs they work on; everybody sees the published ones."""
        published = Q(visibility=Run.Visibility.PUBLISHED)
        if not user.is_staff:
            return self.filter(published)
        return self.of_drawings().filter(published | within_teams(user) if not user.is_superuser else Q())

    def listed_for(self, user: Any) -> RunQuerySet:
        """The same without archived ones and without their suites, which lists need nothing of."""
        return self.visible_to(user).exclude(visibility=Run.Visibility.ARCHIVED).defer("config")


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
    config = models.JSONField(help_text="The suite as it was when the run started, without its reference pictures.")
    has_programs = models.BooleanField(default=False, help_text="Its entrants are prompt programs, not models.")
    digest = models.CharField(max_length=64)
    is_demo = models.BooleanField(default=False)
    start_key = models.CharField(
        max_length=64, null=True, blank=True, unique=True, editable=False, help_text="A form pressed twice starts once."
    )
    drawing_state = models.CharField(max_length=10, choices=Drawing.choices, default=Drawing.OPEN)
    paused_reason = models.TextField(blank=True)
    judging_state = models.CharField(max_length=10, choices=Judging.choices, default=Judging.NOT_OPEN)
    adaptive_pairs = models.BooleanField(
        default=False, help_text="Judges are shown pairs whose order is undecided more often than others."
    )
    was_adaptive = models.BooleanField(
        default=False,
        help_text="Judges were shown such pairs at some time. What they saw tells who is close to whom, so that no "
        "standings are shown before judging is closed, even if pairs are balanced again.",
    )
    picked_share = models.FloatField(
        default=0.0,
        help_text="How much of a judge's schedule goes to pairs that a curator picked; they feed no rating.",
    )
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE)
    setting_up = models.BooleanField(
        default=False,
        editable=False,
        help_text="A worker is still writing its samples; nothing is drawn until they are all there.",
    )
    concurrency = models.PositiveIntegerField(default=8)
    measure_backend = models.CharField(max_length=40, default="builtin")
    budget_nano = models.BigIntegerField(null=True, blank=True)
    uploaded = models.BooleanField(
        default=False, help_text="Its suite or a model of it was sent by a curator, so that it always has a budget."
    )
    spent_nano = models.BigIntegerField(default=0)
    reserved_nano = models.BigIntegerField(default=0)
    judged_run = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="model_judges",
        help_text="Its one model judges the drawings of that run: its samples are answers about them, and no drawings.",
    )
    team = models.ForeignKey(
        Team,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="runs",
        help_text="Only its members work on this run; without one, every curator does.",
    )
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
            models.CheckConstraint(
                condition=Q(uploaded=False) | Q(budget_nano__isnull=False), name="generation_run_uploaded_has_budget"
            ),
            # No board, page or list that shows runs can come upon what a model judge said, and it has a hard budget.
            models.CheckConstraint(
                condition=Q(judged_run=None)
                | (
                    Q(format__in=sorted(INTERNAL), judging_state="not_open", budget_nano__isnull=False)
                    & ~Q(visibility="published")
                ),
                name="generation_run_model_judge_has_no_board",
            ),
            models.CheckConstraint(
                condition=Q(picked_share__gte=0, picked_share__lte=0.5), name="generation_run_picked_share_up_to_half"
            ),
            models.CheckConstraint(
                condition=Q(adaptive_pairs=False) | Q(was_adaptive=True), name="generation_run_adaptive_is_remembered"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} · {self.label}" if self.label else self.title

    def is_curated_by(self, user: Any) -> bool:
        """Whether the user is a curator, and of this run's team if it has one."""
        if not user.is_staff:
            return False
        return user.is_superuser or self.team_id is None or self.team_id in _teams_of(user)

    @property
    def judged_by(self) -> list[Protocol]:
        """The protocols by which people judge it."""
        return judged_by(self)

    @property
    def is_measured(self) -> bool:
        """Whether a formula scores its answers."""
        return is_measured(self)

    @property
    def measured_by(self) -> str:
        """What measures its drawings, in words."""
        return self.drawing_format.backend_name(self.measure_backend)

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
        return "program" if self.has_programs else "model"


def _teams_of(user: Any) -> set[int]:
    """Asked once a request: the user lives as long."""
    if not hasattr(user, "team_ids"):
        user.team_ids = set(user.teams.values_list("pk", flat=True))
    return user.team_ids
