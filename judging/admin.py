"""Judging in the admin: facts are read here, never edited or deleted."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from judging.models import Epoch, Invitation, JudgeTally, Matchup, PromptTally, Report, Seat, Vote


class ReadOnlyAdmin(admin.ModelAdmin):
    """What happened is looked at; what may be done about it is an action on the site's own pages."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Vote)
class VoteAdmin(ReadOnlyAdmin):
    list_display = ["id", "run", "seat", "outcome", "voted_at", "response_ms", "withdrawn_at"]
    list_filter = ["outcome", "unblind", "imported"]
    list_select_related = ["run", "seat"]
    search_fields = ["seat__pseudonym", "run__code"]


@admin.register(Matchup)
class MatchupAdmin(ReadOnlyAdmin):
    list_display = ["code", "run", "seat", "order", "kind", "state", "category", "left", "right"]
    list_filter = ["kind", "state"]
    list_select_related = ["run", "seat", "left", "right"]
    search_fields = ["code", "seat__pseudonym", "run__code"]


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    list_display = ["pseudonym", "judge", "run", "voted", "quota", "weight", "excluded_reason"]
    list_filter = ["weight"]
    list_select_related = ["run", "judge"]
    search_fields = ["pseudonym", "judge__username", "run__code"]
    exclude = ["plan"]


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ["label", "run", "state", "uses", "max_uses", "quota", "expires_at"]
    list_select_related = ["run"]
    search_fields = ["label", "run__code"]


@admin.register(Report)
class ReportAdmin(ReadOnlyAdmin):
    list_display = ["reason", "side", "matchup", "note", "created_at", "decision", "decided_by"]
    list_filter = ["reason", "decision"]
    list_select_related = ["matchup", "decided_by"]


@admin.register(Epoch)
class EpochAdmin(ReadOnlyAdmin):
    list_display = ["run", "number", "created_at", "checked_at"]
    list_select_related = ["run"]
    exclude = ["table"]


@admin.register(JudgeTally)
class JudgeTallyAdmin(ReadOnlyAdmin):
    list_display = ["run", "seat", "category", "left", "right", "outcome", "is_repeat", "votes"]
    list_select_related = ["run", "seat", "left", "right"]


@admin.register(PromptTally)
class PromptTallyAdmin(ReadOnlyAdmin):
    list_display = ["run", "prompt", "left", "right", "outcome", "is_repeat", "votes"]
    list_select_related = ["run", "prompt", "left", "right"]
