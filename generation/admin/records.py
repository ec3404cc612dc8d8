"""Admin lists of what was written down along the way: calls, measures, earlier readings, the log and its notices."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from benchsite.lib.fact_admin import FactAdmin, RunFactAdmin, filled, link
from benchsite.templatetags.wording import dollars
from generation.models import Event, Measurement, Notice, ProviderCall, Reading, Team
from generation.templatetags.curation import words


@admin.register(ProviderCall)
class ProviderCallAdmin(RunFactAdmin):
    list_display = (
        "started_at",
        "run_link",
        "sample_link",
        "outcome",
        "status",
        "error",
        "cost",
        "latency_ms",
        "served_by",
    )
    list_filter = ("outcome", "error", "served_by", "run")
    list_select_related = ("run", "sample")
    search_fields = ("token", "generation_id", "sample__code", "error")
    date_hierarchy = "started_at"
    readonly_fields = ("cost",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ProviderCall]:
        return super().get_queryset(request).defer("run__config", "sample__raw", "sample__answer", "sample__drawing")

    @admin.display(description="sample")
    def sample_link(self, call: ProviderCall) -> SafeString | str:
        return link(call.sample, call.sample.code)

    @admin.display(ordering="cost_nano")
    def cost(self, call: ProviderCall) -> str:
        return dollars(call.cost_nano)


class SampleFactAdmin(FactAdmin):
    run_path = "sample__run"
    """Rows that belong to a sample."""

    list_select_related = ("sample",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("sample__raw", "sample__answer", "sample__drawing")

    @admin.display(description="sample")
    def sample_link(self, row: Any) -> SafeString | str:
        return link(row.sample, row.sample.code)


@admin.register(Measurement)
class MeasurementAdmin(SampleFactAdmin):
    list_display = ("sample_link", "backend", "values", "format_version", "measured_at")
    list_filter = ("backend", "format_version", "sample__run")
    search_fields = ("sample__code",)


@admin.register(Reading)
class ReadingAdmin(SampleFactAdmin):
    list_display = ("sample_link", "format_version", "verdict", "reason", "flags", "replaced_at")
    list_filter = ("verdict", "format_version", "sample__run")
    search_fields = ("sample__code", "reason")


@admin.register(Event)
class EventAdmin(RunFactAdmin):
    person_path = "actor"
    list_display = ("at", "actor", "did", "subject", "reason", "run_link")
    list_filter = ("verb", "run", ("actor", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("run", "actor")
    search_fields = ("subject", "reason", "actor__username")
    date_hierarchy = "at"

    @admin.display(description="did", ordering="verb")
    def did(self, event: Event) -> str:
        return words(event.verb)


@admin.register(Notice)
class NoticeAdmin(FactAdmin):
    run_path, person_path = "event__run", "event__actor"
    list_display = ("event", "channel", "tries", "sent_at", "error")
    list_filter = ("channel", filled("sent_at", "sent"))
    list_select_related = ("event",)


@admin.register(Team)
class TeamAdmin(FactAdmin):
    """To read; superusers change teams on the page of teams."""

    list_display = ("name", "created_at")
    search_fields = ("name",)
    exclude = ("members",)

    def rows_for(self, user: Any) -> Q:
        return Q() if user.is_superuser else Q(members=user)
