"""Admin lists of attention checks, to read."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from benchsite.lib.fact_admin import RunFactAdmin, filled
from judging.models import GoldAnswer, GoldPair, GoldSetting


@admin.register(GoldPair)
class GoldPairAdmin(RunFactAdmin):
    list_display = ("code", "run_link", "prompt", "made_by", "made_at", "retired_at")
    list_filter = (filled("retired_at", "retired"), "run")
    list_select_related = ("run", "prompt", "made_by")
    raw_id_fields = ("better", "worse")


@admin.register(GoldAnswer)
class GoldAnswerAdmin(RunFactAdmin):
    list_display = ("answered_at", "run_link", "seat", "gold", "choice", "response_ms", "withdrawn_at")
    list_filter = ("choice", "run")
    list_select_related = ("run", "seat", "gold")

    def get_queryset(self, request: HttpRequest) -> QuerySet[GoldAnswer]:
        return super().get_queryset(request).defer("run__config", "seat__plan", "gold__damaged")


@admin.register(GoldSetting)
class GoldSettingAdmin(RunFactAdmin):
    list_display = ("run_link", "rule", "changed_at")
    list_select_related = ("run",)
