"""Admin lists of grading: judges' sheets and grades, to read; reported drawings, to act on with a reason."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from benchsite.lib.fact_admin import FactAdmin, RunFactAdmin, filled, link, reasoned
from generation.admin import REFUSED
from judging.curating import many
from judging.models import Grade, GradeItem, GradeSheet


@admin.register(GradeSheet)
class GradeSheetAdmin(FactAdmin):
    run_path = "seat__run"
    list_display = ("seat", "items", "graded", "last_graded_at")
    list_filter = ("seat__run",)
    list_select_related = ("seat",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[GradeSheet]:
        return super().get_queryset(request).defer("seat__plan")


@admin.register(GradeItem)
class GradeItemAdmin(FactAdmin):
    run_path = "seat__run"
    list_display = ("code", "judge", "sample_link", "stage", "kind", "graded_at", "reason", "note", "decision")
    list_filter = ("kind", "stage", filled("reported_at", "reported"), "decision", "seat__run")
    list_select_related = ("seat", "sample")
    search_fields = ("code", "sample__code", "note")
    actions = (
        reasoned(many.exclude_graded, label="Exclude the drawings", done="Excluded: {count}.", refused=REFUSED),
        reasoned(many.dismiss_graded, label="Dismiss the reports", done="Dismissed: {count}."),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[GradeItem]:
        return super().get_queryset(request).defer("seat__plan", "sample__raw", "sample__answer", "sample__drawing")

    @admin.display(ordering="seat__pseudonym")
    def judge(self, item: GradeItem) -> SafeString | str:
        return link(item.seat, item.seat.pseudonym)

    @admin.display(description="sample")
    def sample_link(self, item: GradeItem) -> SafeString | str:
        return link(item.sample, item.sample.code)


@admin.register(Grade)
class GradeAdmin(RunFactAdmin):
    list_display = ("graded_at", "judge", "sample_link", "dimension", "value", "run_link", "withdrawn_at")
    list_filter = ("dimension", filled("withdrawn_at", "withdrawn"), "imported", "run")
    list_select_related = ("run", "seat", "sample")
    search_fields = ("sample__code", "seat__pseudonym")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Grade]:
        heavy = ("seat__plan", "sample__raw", "sample__answer", "sample__drawing")
        return super().get_queryset(request).defer("run__config", *heavy)

    judge = GradeItemAdmin.judge
    sample_link = GradeItemAdmin.sample_link
