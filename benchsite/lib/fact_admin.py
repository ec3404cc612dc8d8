"""What the admin pages of every app share: rows are facts that nobody edits there, and an action first asks why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchsite.lib.access import UserRequest, by_colleagues, of_colleagues, within_teams

LISTED = 20  # of the rows an action is about to touch


class FactAdmin(admin.ModelAdmin):
    """Lists and pages to read. Nobody adds, changes or deletes a row here, superusers included."""

    list_per_page = 50
    run_path: ClassVar[str | None] = None  # the way from a row to its run, if it belongs to one
    person_path: ClassVar[str | None] = None  # to who did it, for rows that have no run
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # counting a million votes by filter is not worth the wait

    def rows_for(self, user: Any) -> Q:
        """What a curator may see: rows of runs of the same teams, or of no run by people of them."""
        if self.run_path is None:
            return by_colleagues(user, self.person_path) if self.person_path else Q()
        if self.person_path is None:
            return within_teams(user, self.run_path)
        return of_colleagues(user, self.person_path, self.run_path)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(self.rows_for(request.user))

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Without the names of other teams' runs and studies."""
        of_teams = {"run": TeamFilter, "study": StudyFilter}
        named = [(name, of_teams.get(str(name).rpartition("__")[2])) for name in super().get_list_filter(request)]
        return [(name, shown) if shown else name for name, shown in named]

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> list[Any]:
        """The first column that is no link itself: a link inside a link cannot be reached by keyboard."""
        return next(([name] for name in list_display if not str(name).endswith("_link")), [])

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        """Django's own, with people by name only for those who may not open their accounts."""
        fieldsets = super().get_fieldsets(request, obj)
        if request.user.has_perm("auth.view_user"):
            return list(fieldsets)
        people = {field.name for field in self.opts.fields if field.related_model is get_user_model()}
        return [
            (title, {**options, "fields": [by_name(name) if name in people else name for name in options["fields"]]})
            for title, options in fieldsets
        ]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def by_name(field: str) -> Callable[[Model], str]:
    """A column that says whom a row names, without Django's link to the account."""

    def person(row: Model) -> str:
        return str(getattr(row, field) or "–")

    return admin.display(description=field.replace("_", " "))(person)


class TeamFilter(admin.RelatedFieldListFilter):
    """The runs that a curator's teams work on."""

    path = ""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[Any]:
        ordering = self.field_admin_ordering(field, request, model_admin)
        mine = within_teams(request.user, self.path)
        return field.get_choices(include_blank=False, ordering=ordering, limit_choices_to=mine)


class StudyFilter(TeamFilter):
    path = "run"


class RunFactAdmin(FactAdmin):
    """Rows that belong to a run; its frozen suite, which can be long, is deferred."""

    run_path = "run"
    list_select_related: ClassVar[tuple[str, ...]] = ("run",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("run__config")

    @admin.display(description="run", ordering="run")
    def run_link(self, row: Any) -> SafeString | str:
        return link(row.run)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label="Why", max_length=280, widget=forms.Textarea(attrs={"rows": 3, "cols": 60}), help_text="Kept in the log."
    )


class Verb(Protocol):
    """What an action calls: rows, who and why in; how many changed out."""

    __name__: str

    def __call__(self, rows: QuerySet[Any], /, *, by: User, reason: str) -> int: ...


Action = Callable[[Any, Any, QuerySet[Any]], HttpResponse | None]


def reasoned(verb: Verb, *, label: str, done: str, refused: tuple[type[Exception], ...] = ()) -> Action:
    """An admin action: a page that asks why, then the verb. `done` may use {count}; `refused` errors are shown."""

    def action(model_admin: admin.ModelAdmin, request: UserRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        form = ReasonForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            return _ask(model_admin, request, queryset, form, label, verb.__name__)
        try:
            count = verb(queryset, by=request.user, reason=form.cleaned_data["reason"])
        except refused as error:
            messages.error(request, str(error))
        else:
            level = messages.SUCCESS if count else messages.WARNING
            messages.add_message(request, level, done.format(count=count) if count else "Nothing changed.")
        return None

    action.__name__ = verb.__name__
    return admin.action(description=label)(action)


def _ask(
    model_admin: admin.ModelAdmin,
    request: HttpRequest,
    queryset: QuerySet[Any],
    form: ReasonForm,
    label: str,
    name: str,
) -> HttpResponse:
    across, selected = request.POST.get("select_across") == "1", request.POST.getlist(ACTION_CHECKBOX_NAME)
    count = queryset.count()
    context = {
        **model_admin.admin_site.each_context(request),
        "title": label,
        "form": form,
        "action": name,
        "rows": queryset[:LISTED],
        "count": count,
        "more": count - LISTED,
        "across": across,
        # "All of them" is a flag; Django still wants at least one of them by name.
        "selected": selected[:1] if across else selected,
        "opts": model_admin.opts,
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/reason.html", context)


def link(row: Model | None, words: object = None) -> SafeString | str:
    """A link to the row's own admin page."""
    if row is None:
        return "–"
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', address, str(row) if words is None else words)


def listing(table: str, words: object, **filters: object) -> SafeString:
    """A link to the admin list of a table (such as `judging_vote`), filtered."""
    return format_html('<a href="{}?{}">{}</a>', reverse(f"admin:{table}_changelist"), urlencode(filters), words)


def filled(field: str, title: str) -> tuple[str, type[admin.EmptyFieldListFilter]]:
    """A filter by whether a field holds anything, asked in plain words: excluded, yes or no."""

    class Filled(admin.EmptyFieldListFilter):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.title = title

        def choices(self, changelist: Any) -> Iterator[Any]:
            labels = {"0": "Yes", "1": "No", None: "All"}
            for value, choice in zip((None, "1", "0"), super().choices(changelist), strict=True):
                yield {**choice, "display": labels[value]}

    return field, Filled


def row_of(*links: SafeString) -> SafeString:
    return format_html_join(" · ", "{}", ((item,) for item in links))
