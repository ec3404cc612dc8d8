"""Admin lists of fits and what follows from them: computed once, read here, never edited."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchsite.lib.fact_admin import FactAdmin, RunFactAdmin, link, listing
from generation.models import Run
from judging.admin import JudgedRunAdmin
from ranking.archive.members import members_of
from ranking.models import AnalystToken, Counting, Delivery, Fit, Publication, PushedVote, Standing, Webhook

admin.site.unregister(Run)


@admin.register(Run)
class RankedRunAdmin(JudgedRunAdmin):
    def further(self, run: Run) -> list[SafeString]:
        own = [member for member in members_of(run.protocols) if not member.always]
        lists = [listing(f"{m.table._meta.label_lower.replace('.', '_')}", m.kind, run__id__exact=run.pk) for m in own]
        return [*super().further(run), *lists, listing("ranking_fit", "fits", run__id__exact=run.pk)]


@admin.register(Fit)
class FitAdmin(RunFactAdmin):
    list_display = ("code", "run_link", "protocol", "kind", "votes", "read_at", "created_at", "see")
    list_filter = ("protocol", "kind", "run")
    search_fields = ("code", "run__title", "run__label")
    date_hierarchy = "created_at"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Fit]:
        return super().get_queryset(request).defer("run__config", "result")

    @admin.display
    def see(self, fit: Fit) -> SafeString:
        votes = listing("judging_vote", "votes", run__id__exact=fit.run_id)
        return format_html("{} · {}", listing("ranking_standing", "standings", fit__id__exact=fit.pk), votes)


class FitFactAdmin(FactAdmin):
    run_path = "fit__run"
    """Rows that belong to a fit."""

    list_select_related: ClassVar[tuple[str, ...]] = ("fit__run",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Standing]:
        return super().get_queryset(request).defer("fit__result", "fit__run__config")

    @admin.display(description="fit")
    def fit_link(self, row: Standing | Publication) -> SafeString | str:
        return link(row.fit)

    @admin.display(description="run")
    def run_link(self, row: Standing | Publication) -> SafeString | str:
        return link(row.fit.run)


@admin.register(Standing)
class StandingAdmin(FitFactAdmin):
    list_display = ("fit_link", "run_link", "scope", "entrant", "rank", "score", "low", "high", "n")
    list_filter = ("scope", "fit__run")
    list_select_related = ("fit__run", "entrant")
    search_fields = ("fit__code", "entrant__label")


@admin.register(Publication)
class PublicationAdmin(FitFactAdmin):
    list_display = ("title", "at", "by", "fit_link", "run_link", "note")
    list_filter = ("fit__run",)
    list_select_related = ("fit__run", "by")
    search_fields = ("title", "note")


@admin.register(Counting)
class CountingAdmin(RunFactAdmin):
    list_display = ("run_link", "ties", "fails")


@admin.register(AnalystToken)
class AnalystTokenAdmin(FactAdmin):
    run_path, person_path = "run", "created_by"
    list_display = (
        "label",
        "hint",
        "role",
        "run",
        "created_by",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    list_filter = ("role",)
    list_select_related = ("created_by", "run")
    search_fields = ("label",)
    exclude = ("digest",)


@admin.register(PushedVote)
class PushedVoteAdmin(RunFactAdmin):
    list_display = ("key", "run_link", "vote")
    list_select_related = ("run", "vote")
    search_fields = ("key",)


@admin.register(Webhook)
class WebhookAdmin(RunFactAdmin):
    """Without its address, whose end may be a secret of the receiver's; curators see it on the run's page of webhooks."""

    list_display = (
        "code",
        "run_link",
        "kinds",
        "failures",
        "created_by",
        "created_at",
        "disabled_at",
        "disabled_reason",
    )
    list_select_related = ("run", "created_by")
    exclude = ("url",)


@admin.register(Delivery)
class DeliveryAdmin(FactAdmin):
    run_path = "webhook__run"
    list_display = ("code", "webhook", "kind", "created_at", "tries", "next_at", "sent_at", "status", "error")
    list_select_related = ("webhook",)
    list_filter = ("kind",)
    search_fields = ("code", "webhook__code")
