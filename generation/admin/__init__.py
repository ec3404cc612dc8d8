"""Admin lists for curators: runs, samples, entrants, models and prompts, to read and to act on with a reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchsite.lib.fact_admin import Action, FactAdmin, RunFactAdmin, Verb, filled, listing, reasoned, row_of
from benchsite.lib.text import visible
from benchsite.templatetags.wording import dollars
from generation.admin import records as record_admin
from generation.models import Entrant, LanguageModel, Prompt, ReferencePicture, Run, Sample
from generation.runs import curating, publishing
from generation.runs.errors import RunError

THUMB_CHARACTERS = 4000  # of a text drawing in a list; the sample's own page has it whole
FLAGS = ("identity_leak", "leak_marked", "offensive", "truncated", "refusal", "non_ascii", "served_by_other_model")
REFUSED = (RunError,)


def thumbnail(sample: Sample) -> SafeString | str:
    """The drawing as it cannot act: text as escaped text, anything else as a picture from its own sandboxed address."""
    if not sample.drawing:
        return "–"
    if sample.run.drawing_format.shown_as == "text":
        return format_html('<pre class="thumb" dir="ltr">{}</pre>', sample.drawing[:THUMB_CHARACTERS])
    address = reverse("generation:picture", args=[sample.code])
    return format_html('<img class="thumb" src="{}" alt="The drawing" loading="lazy">', address)


@admin.register(Run)
class RunAdmin(FactAdmin):
    run_path = ""
    list_display = (
        "name",
        "suite",
        "format",
        "drawing_state",
        "judging",
        "shown",
        "spent",
        "more",
    )
    list_filter = (
        "visibility",
        filled("frozen_at", "frozen"),
        "drawing_state",
        "judging_state",
        "suite",
        "format",
        "is_demo",
    )
    search_fields = ("code", "title", "label", "suite")
    date_hierarchy = "created_at"
    readonly_fields = ("more", "spent")
    actions: Sequence[Action] = (
        reasoned(publishing.publish_runs, label="Publish: show to everybody", done="Published: {count}."),
        reasoned(publishing.unpublish_runs, label="Unpublish: show to curators only", done="Private now: {count}."),
        reasoned(publishing.freeze_runs, label="Freeze: the leaderboard is final", done="Frozen: {count}."),
        reasoned(publishing.thaw_runs, label="Thaw: may change again", done="Thawed: {count}."),
        reasoned(publishing.archive_runs, label="Archive: put away, nothing is deleted", done="Archived: {count}."),
        reasoned(
            curating.retry_runs,
            label="Retry what failed",
            done="{count} samples will be retried.",
            refused=REFUSED,
        ),
        reasoned(
            curating.ask_reread,
            label="Read all answers again",
            done="Queued for reading again: {count}.",
            refused=REFUSED,
        ),
    )

    @admin.display(description="run", ordering="title")
    def name(self, run: Run) -> str:
        return str(run)

    @admin.display(description="shown", ordering="visibility")
    def shown(self, run: Run) -> str:
        return f"{run.get_visibility_display()}, frozen" if run.frozen_at else run.get_visibility_display()

    @admin.display(ordering="judging_state")
    def judging(self, run: Run) -> str:
        return "none needed" if not run.judged_by else run.get_judging_state_display()

    @admin.display(ordering="spent_nano")
    def spent(self, run: Run) -> str:
        return dollars(run.spent_nano)

    @admin.display(description="see")
    def more(self, run: Run) -> SafeString:
        tables = {"sample": "samples", "entrant": "entrants", "prompt": "prompts", "event": "log"}
        lists = [listing(f"generation_{table}", word, run__id__exact=run.pk) for table, word in tables.items()]
        page = format_html('<a href="{}">page</a>', reverse("generation:run", args=[run.code]))
        return row_of(page, *lists, *self.further(run))

    def further(self, run: Run) -> list[SafeString]:
        """Links that later apps add."""
        return []


class FlagFilter(admin.SimpleListFilter):
    title = "flag"
    parameter_name = "flag"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(flag, flag.replace("_", " ")) for flag in FLAGS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Sample]) -> QuerySet[Sample]:
        # Both databases can search the list's text; only one can search the list.
        return queryset.filter(flags__icontains=f'"{self.value()}"') if self.value() in FLAGS else queryset


def sample_actions(around: Callable[[Verb], Verb] = lambda verb: verb) -> list[Action]:
    """What a curator does to drawings; a later app may have a verb followed by something of its own."""
    offered = {
        curating.exclude_samples: ("Exclude from judging and ranking", "Excluded: {count}."),
        curating.restore_samples: ("Restore", "Restored: {count}."),
        curating.mark_identity_leak: ("Hold: it says who drew it", "Held: {count}."),
        curating.clear_identity_leak: ("Release: it does not say who drew it", "Released: {count}."),
        curating.mark_offensive: ("Exclude as offensive", "Excluded: {count}."),
        curating.retry_samples: ("Draw again, where it failed", "To be drawn again: {count}."),
    }
    return [reasoned(around(verb), label=label, done=done, refused=REFUSED) for verb, (label, done) in offered.items()]


@admin.register(Sample)
class SampleAdmin(RunFactAdmin):
    list_display = (
        "code",
        "drawing_",
        "run_link",
        "prompt",
        "entrant",
        "attempt",
        "state",
        "verdict",
        "standing",
        "more",
    )
    list_filter = ("state", "verdict", "held", filled("excluded_reason", "excluded"), FlagFilter, "run")
    list_select_related = ("run", "prompt", "entrant", "model")
    search_fields = ("code", "prompt__text", "entrant__label", "model__model_id", "reason", "failure")
    readonly_fields = ("drawing_", "more", "answer_")
    fieldsets = (
        (None, {"fields": ("drawing_", "more", "run", "prompt", "entrant", "model", "attempt", "code")}),
        ("Curated", {"fields": ("held", "excluded_reason", "flags")}),
        ("Read", {"fields": ("verdict", "reason", "detail", "facts", "format_version", "answer_")}),
        ("Drawn", {"fields": ("state", "claims", "failure", "failure_detail", "drawn_at", "finish_reason")}),
    )
    actions = sample_actions()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Sample]:
        return (
            super().get_queryset(request).defer("run__config", "raw", "answer", "earlier_answers", "questions", "facts")
        )

    @admin.display(description="drawing")
    def drawing_(self, sample: Sample) -> SafeString | str:
        return thumbnail(sample)

    @admin.display(description="answer")
    def answer_(self, sample: Sample) -> SafeString:
        return format_html('<pre class="thumb" dir="ltr">{}</pre>', visible(sample.answer, newlines=True))

    @admin.display(description="curated")
    def standing(self, sample: Sample) -> str:
        notes = [f"excluded: {sample.excluded_reason}"] if sample.excluded_reason else []
        return "; ".join([*notes, *(["held"] if sample.held else []), *sample.flags]) or "–"

    @admin.display(description="see")
    def more(self, sample: Sample) -> SafeString:
        tables = {"providercall": "calls", "measurement": "measures", "reading": "earlier readings"}
        lists = [listing(f"generation_{table}", word, sample__id__exact=sample.pk) for table, word in tables.items()]
        page = format_html('<a href="{}">page</a>', reverse("generation:sample", args=[sample.code]))
        return row_of(page, *lists, *self.further(sample))

    def further(self, sample: Sample) -> list[SafeString]:
        """Links that later apps add."""
        return []


@admin.register(Entrant)
class EntrantAdmin(RunFactAdmin):
    list_display = (
        "label",
        "name",
        "run_link",
        "team",
        "baseline",
        "approved",
        "disqualified",
        "prompt_length",
        "samples",
    )
    list_filter = ("approved", filled("disqualified", "disqualified"), "baseline", "is_demo", "run")
    search_fields = ("code", "name", "label", "team")
    actions = (
        reasoned(curating.approve_entrants, label="Approve", done="Approved: {count}.", refused=REFUSED),
        reasoned(curating.disqualify_entrants, label="Disqualify", done="Disqualified: {count}.", refused=REFUSED),
    )

    @admin.display(description="see")
    def samples(self, entrant: Entrant) -> SafeString:
        return listing("generation_sample", "samples", entrant__id__exact=entrant.pk)


@admin.register(LanguageModel)
class LanguageModelAdmin(RunFactAdmin):
    list_display = ("label", "model_id", "run_link", "provider", "refused_reason", "failures_in_row", "open_until")
    list_filter = ("provider", filled("refused_reason", "refused"), "run")
    search_fields = ("model_id", "label")


@admin.register(Prompt)
class PromptAdmin(RunFactAdmin):
    list_display = ("text", "category", "subject", "run_link", "samples")
    list_filter = ("category", "run")
    search_fields = ("code", "key", "text", "subject")

    @admin.display(description="see")
    def samples(self, prompt: Prompt) -> SafeString:
        return listing("generation_sample", "samples", prompt__id__exact=prompt.pk)


@admin.register(ReferencePicture)
class ReferencePictureAdmin(FactAdmin):
    """Which prompts have one, and how large it is; the picture itself is on the prompt's page."""

    run_path = "prompt__run"
    list_display = ("prompt", "kilobytes")
    list_filter = ("prompt__run",)
    list_select_related = ("prompt",)
    exclude = ("address",)
    readonly_fields = ("kilobytes",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReferencePicture]:
        return super().get_queryset(request).annotate(characters=Length("address")).defer("address")

    @admin.display(description="size")
    def kilobytes(self, picture: Any) -> str:
        return f"{picture.characters * 3 / 4000:,.0f} kB"  # four characters of base64 stand for three bytes


__all__ = ["EntrantAdmin", "RunAdmin", "SampleAdmin", "record_admin", "thumbnail"]
