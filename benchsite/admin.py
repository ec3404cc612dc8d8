"""For superusers only: users, and the admin's own log of changes to users, groups and locked logins."""

from __future__ import annotations

from typing import cast

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from benchsite.lib.fact_admin import FactAdmin
from judging.curating.reset_links import note_new_password

admin.site.site_title = "Benchsite"
admin.site.index_title = "Curation"
admin.site.enable_nav_sidebar = False  # the lists need the width for drawings

admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(UserAdmin):
    readonly_fields = ("last_login", "date_joined")  # written by the site

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Somebody else's new password: the judge is told, as of a curator's link."""
        response = super().user_change_password(request, id, form_url)
        person = User.objects.filter(pk=id).first()
        if request.method == "POST" and response.status_code == 302 and person and person != request.user:
            note_new_password(judge=person, by=cast(User, request.user))
        return response


@admin.register(LogEntry)
class LogEntryAdmin(FactAdmin):
    list_display = ("action_time", "user", "content_type", "object_repr", "get_change_message")
    list_filter = ("action_flag", "content_type")
    list_select_related = ("user", "content_type")
    search_fields = ("object_repr", "user__username")
    date_hierarchy = "action_time"
