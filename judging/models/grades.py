"""Drawings to grade, and their grades."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from generation.models import CodeField, Run, Sample
from judging.models.matchups import Kind, Report
from judging.models.seats import Seat, new_seed


class GradeSheet(models.Model):
    """A judge's list of drawings to grade in one run, and how far it has come.

    `steps` is raised by every change, so that of two requests at once only one takes effect, and an undo happens once.
    """

    seat = models.OneToOneField(Seat, models.CASCADE, related_name="sheet")
    seed = models.BigIntegerField(default=new_seed)
    items = models.PositiveIntegerField(default=0)
    graded = models.PositiveIntegerField(default=0, help_text="Drawings graded on every dimension.")
    steps = models.PositiveIntegerField(default=0)
    last_graded_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"grades of {self.seat}"


class GradeItem(models.Model):
    """One drawing on a judge's list. Its code stands for the drawing on that judge's pages and nowhere else."""

    code = CodeField()
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="grade_items")
    sample = models.ForeignKey(Sample, models.RESTRICT, related_name="+")
    stage = models.CharField(max_length=80)
    order = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.REGULAR)
    note = models.CharField(max_length=500, blank=True)
    graded_at = models.DateTimeField(null=True, blank=True, help_text="When the last of its dimensions got a grade.")
    reason = models.CharField(
        max_length=10, choices=Report.Reason.choices, blank=True, help_text="Why it was reported."
    )
    reported_at = models.DateTimeField(null=True, blank=True)
    decision = models.CharField(max_length=60, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["order"]
        constraints = [
            models.UniqueConstraint(fields=["seat", "order"], name="judging_gradeitem_order_once_a_judge"),
            models.UniqueConstraint(fields=["seat", "sample"], name="judging_gradeitem_drawing_once_a_judge"),
        ]
        indexes = [
            # For the next drawing in line, of the few that are not graded.
            models.Index(
                fields=["seat", "order"],
                condition=Q(graded_at__isnull=True, reported_at__isnull=True),
                name="judging_gradeitem_in_line",
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.code}"


class GradeQuerySet(models.QuerySet["Grade"]):
    def standing(self) -> GradeQuerySet:
        return self.filter(withdrawn_at=None)

    def rated(self) -> GradeQuerySet:
        """Standing, and given by somebody who could not know the names."""
        return self.standing().filter(kept_out=False)


class Grade(models.Model):
    """What one judge gave one drawing on one dimension. Never edited: a change withdraws it and adds another."""

    MOMENT = "graded_at"

    run = models.ForeignKey(Run, models.CASCADE, related_name="grades")
    seat = models.ForeignKey(Seat, models.RESTRICT, related_name="grades")
    sample = models.ForeignKey(Sample, models.RESTRICT, related_name="grades")
    dimension = models.CharField(max_length=80)
    value = models.FloatField()
    replaces = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")
    kept_out = models.BooleanField(
        default=False, help_text="The judge could know the names of this run's drawings: it counts in no rating."
    )
    imported = models.BooleanField(default=False)
    graded_at = models.DateTimeField(default=now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = GradeQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["sample", "seat", "dimension"],
                condition=Q(withdrawn_at__isnull=True),
                name="judging_grade_one_standing",
            ),
            models.CheckConstraint(condition=Q(value__gte=0, value__lte=10), name="judging_grade_on_scale"),
        ]
        indexes = [
            # For undo: own grades, the newest first.
            models.Index(F("seat").asc(), F("id").desc(), name="judging_grade_of_judge"),
            # For a run's leaderboard, and for exports in order.
            models.Index(fields=["run", "graded_at"], name="judging_grade_by_time"),
            models.Index(fields=["run"], condition=Q(kept_out=True), name="judging_grade_kept_out"),
            models.Index(fields=["run"], condition=Q(imported=True), name="judging_grade_imported"),
        ]

    def __str__(self) -> str:
        return f"{self.value:g} for {self.dimension}"
