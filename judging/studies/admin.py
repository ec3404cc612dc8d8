"""Admin lists of studies, to read. The source of a version is left out: it holds the codes that participants are paid by."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from benchsite.lib.fact_admin import FactAdmin, RunFactAdmin
from judging.models import Participation, StepRecord, Study, StudyAnswer, StudyVersion


@admin.register(Study)
class StudyAdmin(RunFactAdmin):
    list_display = ("name", "run_link", "state", "created_by", "created_at")
    list_filter = ("state", "run")
    list_select_related = ("run", "created_by")
    search_fields = ("name", "code")


@admin.register(StudyVersion)
class StudyVersionAdmin(FactAdmin):
    run_path = "study__run"
    list_display = ("number", "study", "written_by", "written_at")
    list_filter = ("study",)
    list_select_related = ("study", "written_by")
    exclude = ("source", "content")


@admin.register(Participation)
class ParticipationAdmin(FactAdmin):
    run_path = "study__run"
    list_display = ("code", "study", "outcome", "external_id", "name", "consent_version", "started_at", "ended_at")
    list_filter = ("outcome", "study")
    list_select_related = ("study",)
    search_fields = ("code", "external_id", "name")
    exclude = ("receipt", "completion_code")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("study", "version", "seat").defer("seat__plan")


@admin.register(StepRecord)
class StepRecordAdmin(FactAdmin):
    run_path = "participation__study__run"
    list_display = ("step", "participation", "tries", "entered_at", "passed_at")
    list_filter = ("step",)
    list_select_related = ("participation",)


@admin.register(StudyAnswer)
class StudyAnswerAdmin(FactAdmin):
    run_path = "participation__study__run"
    list_display = ("question", "participation", "step", "value", "answered_at", "replaced_at")
    list_filter = ("step",)
    list_select_related = ("participation",)
    search_fields = ("question",)
