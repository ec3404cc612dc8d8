"""Admin lists of judging: what was served and said, to read; judges and reports, to act on with a reason."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchsite.lib.fact_admin import FactAdmin, RunFactAdmin, filled, link, listing, reasoned
from generation.admin import REFUSED, RunAdmin, SampleAdmin, sample_actions, thumbnail
from generation.models import Run, Sample
from generation.protocols import judging_modules
from judging.curating import many
from judging.models import (
    Epoch,
    Invitation,
    JudgeTally,
    Matchup,
    PairFocus,
    PickedPair,
    PromptTally,
    PublicState,
    Report,
    ResetLink,
    Seat,
    Vote,
)

admin.site.unregister([Run, Sample])


@admin.register(Run)
class JudgedRunAdmin(RunAdmin):
    actions = (
        *RunAdmin.actions,
        reasoned(many.open_judging, label="Open judging", done="Judging is open: {count}.", refused=REFUSED),
        reasoned(many.pause_judging, label="Pause judging", done="Judging is paused: {count}."),
        reasoned(many.close_judging, label="Close judging", done="Judging is closed: {count}."),
    )

    def further(self, run: Run) -> list[SafeString]:
        tables = {"judging_seat": "judges", "judging_matchup": "matchups", "judging_vote": "votes"}
        invite = format_html('<a href="{}">invite judges</a>', reverse("judging:invitations", args=[run.code]))
        return [*(listing(table, word, run__id__exact=run.pk) for table, word in tables.items()), invite]


@admin.register(Sample)
class JudgedSampleAdmin(SampleAdmin):
    actions = sample_actions(around=many.with_new_epoch)

    def further(self, sample: Sample) -> list[SafeString]:
        sides = {"shown left": "left_sample__id__exact", "shown right": "right_sample__id__exact"}
        return [listing("judging_matchup", words, **{name: sample.pk}) for words, name in sides.items()]


@admin.register(Invitation)
class InvitationAdmin(RunFactAdmin):
    """The link itself is on the run's invitation page only: whoever has it can become a judge."""

    list_display = ("label_", "run_link", "state", "uses", "max_uses", "quota", "expires_at", "created_by")
    list_filter = ("run",)
    list_select_related = ("run", "created_by")
    search_fields = ("label",)
    exclude = ("token",)
    actions = (reasoned(many.revoke_invitations, label="Revoke: the link no longer works", done="Revoked: {count}."),)

    @admin.display(description="for", ordering="label")
    def label_(self, invitation: Invitation) -> str:
        return str(invitation)


@admin.register(ResetLink)
class ResetLinkAdmin(FactAdmin):
    person_path = "made_by"
    list_display = ("judge", "made_by", "made_at", "used_at", "confirmed_at")
    list_filter = (filled("used_at", "used"), filled("confirmed_at", "confirmed"))
    list_select_related = ("judge", "made_by")
    search_fields = ("judge__username", "made_by__username")


@admin.register(Epoch)
class EpochAdmin(RunFactAdmin):
    list_display = ("number", "run_link", "created_at", "checked_at")
    list_filter = ("run",)
    exclude = ("table",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Epoch]:
        return super().get_queryset(request).defer("run__config", "table")


@admin.register(PublicState)
class PublicStateAdmin(RunFactAdmin):
    list_display = ("number", "run_link", "protocol", "votes", "read_at")
    list_filter = ("protocol", "run")


@admin.register(PairFocus)
class PairFocusAdmin(RunFactAdmin):
    list_display = ("run_link", "votes", "read_at")
    list_filter = ("run",)


@admin.register(Seat)
class SeatAdmin(RunFactAdmin):
    list_display = ("judge_", "run_link", "voted", "quota", "weight", "excluded_reason", "last_vote_at", "see")
    list_filter = (filled("excluded_reason", "set aside or down-weighted"), "is_simulated", "run")
    list_select_related = ("run", "judge")
    search_fields = ("pseudonym", "judge__username", "excluded_reason")
    exclude = ("plan", "seed", "owed")
    actions = (
        reasoned(many.exclude_judges, label="Exclude from the ranking", done="Excluded: {count}.", refused=REFUSED),
        reasoned(many.halve_judges, label="Count half in the ranking", done="Halved: {count}.", refused=REFUSED),
        reasoned(many.restore_judges, label="Restore to the ranking", done="Restored: {count}.", refused=REFUSED),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Seat]:
        return super().get_queryset(request).defer("run__config", "plan")

    @admin.display(description="judge", ordering="pseudonym")
    def judge_(self, seat: Seat) -> str:
        return f"{seat.pseudonym} ({seat.judge})" if seat.judge else seat.pseudonym

    @admin.display
    def see(self, seat: Seat) -> SafeString:
        votes = listing("judging_vote", "votes", seat__id__exact=seat.pk)
        return format_html("{} · {}", votes, listing("judging_matchup", "matchups", seat__id__exact=seat.pk))


@admin.register(Matchup)
class MatchupAdmin(RunFactAdmin):
    list_display = ("code", "run_link", "judge", "prompt", "left_", "right_", "kind", "state", "see")
    list_filter = ("state", "kind", "category", "run")
    list_select_related = ("run", "seat", "prompt", "left", "right", "left_sample__run", "right_sample__run")
    search_fields = ("code", "prompt__text", "left__label", "right__label", "seat__pseudonym")
    ordering = ("-id",)
    readonly_fields = ("left_", "right_", "see")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Matchup]:
        heavy = ("config", "raw", "answer", "earlier_answers", "facts")
        samples = [f"{side}_sample__{name}" for side in ("left", "right") for name in heavy[1:]]
        configs = ["run__config", "left_sample__run__config", "right_sample__run__config"]
        return super().get_queryset(request).defer(*configs, *samples, "seat__plan")

    @admin.display(description="judge", ordering="seat__pseudonym")
    def judge(self, matchup: Matchup) -> SafeString | str:
        return link(matchup.seat, matchup.seat.pseudonym)

    @admin.display(description="left", ordering="left__label")
    def left_(self, matchup: Matchup) -> SafeString:
        return _side(matchup.left, matchup.left_sample)

    @admin.display(description="right", ordering="right__label")
    def right_(self, matchup: Matchup) -> SafeString:
        return _side(matchup.right, matchup.right_sample)

    @admin.display
    def see(self, matchup: Matchup) -> SafeString:
        return listing("judging_vote", "votes", matchup__id__exact=matchup.pk)


def _side(entrant: Any, sample: Sample | None) -> SafeString:
    if sample is None:
        return format_html("{}", entrant)
    return format_html("{}{}", link(sample, entrant), thumbnail(sample))


@admin.register(PickedPair)
class PickedPairAdmin(RunFactAdmin):
    list_display = ("code", "run_link", "why", "judge", "wanted", "picked_by", "picked_at", "ended_at")
    list_filter = ("why", filled("ended_at", "taken back"), "run")
    list_select_related = ("run", "picked_by")
    raw_id_fields = ("first", "second")


@admin.register(Vote)
class VoteAdmin(RunFactAdmin):
    list_display = (
        "voted_at",
        "judge",
        "outcome",
        "left",
        "right",
        "matchup_",
        "run_link",
        "response_ms",
        "withdrawn_at",
    )
    list_filter = ("outcome", filled("withdrawn_at", "withdrawn"), "unblind", "kept_out", "imported", "run")
    list_select_related = ("run", "seat", "matchup__left", "matchup__right")
    search_fields = ("matchup__code", "seat__pseudonym")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Vote]:
        return super().get_queryset(request).defer("run__config", "seat__plan")

    @admin.display(ordering="seat__pseudonym")
    def judge(self, vote: Vote) -> SafeString | str:
        return link(vote.seat, vote.seat.pseudonym)

    @admin.display
    def left(self, vote: Vote) -> str:
        return str(vote.matchup.left)

    @admin.display
    def right(self, vote: Vote) -> str:
        return str(vote.matchup.right)

    @admin.display(description="matchup")
    def matchup_(self, vote: Vote) -> SafeString | str:
        return link(vote.matchup, vote.matchup.code)


@admin.register(Report)
class ReportAdmin(FactAdmin):
    run_path = "matchup__run"
    list_display = (
        "created_at",
        "reason",
        "side",
        "note",
        "matchup_",
        "run_link",
        "decision",
        "decided_by",
        "decided_at",
    )
    list_filter = (filled("decided_at", "decided"), "reason", "decision", "matchup__run")
    list_select_related = ("matchup__run", "decided_by")
    search_fields = ("note", "matchup__code")
    actions = (
        reasoned(many.exclude_reported, label="Exclude the drawings", done="Excluded: {count}.", refused=REFUSED),
        reasoned(many.dismiss_reports, label="Dismiss", done="Dismissed: {count}."),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).defer("matchup__run__config")

    @admin.display(description="matchup")
    def matchup_(self, report: Report) -> SafeString | str:
        return link(report.matchup, report.matchup.code)

    @admin.display(description="run")
    def run_link(self, report: Report) -> SafeString | str:
        return link(report.matchup.run)


class TallyAdmin(RunFactAdmin):
    list_filter = ("outcome", "is_repeat", "run")
    list_select_related: ClassVar[tuple[str, ...]] = ("run", "left", "right")


@admin.register(JudgeTally)
class JudgeTallyAdmin(TallyAdmin):
    list_display = ("run_link", "seat", "category", "left", "right", "outcome", "is_repeat", "votes")
    list_select_related = ("run", "left", "right", "seat")

    def get_queryset(self, request: HttpRequest) -> QuerySet[JudgeTally]:
        return super().get_queryset(request).defer("run__config", "seat__plan")


@admin.register(PromptTally)
class PromptTallyAdmin(TallyAdmin):
    list_display = ("run_link", "prompt", "left", "right", "outcome", "is_repeat", "votes")
    list_select_related = ("run", "left", "right", "prompt")


judging_modules("admin")  # each registers the tables of its room
for room in ("gold", "studies"):
    import_module(f"judging.{room}.admin")
