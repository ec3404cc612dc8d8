"""For superusers only: users, and the admin's own log of changes to users, groups and locked logins."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User

from benchsite.lib.fact_admin import FactAdmin

admin.site.site_title = "Benchsite"
admin.site.index_title = "Curation"
admin.site.enable_nav_sidebar = False  # the lists need the width for drawings

admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(UserAdmin):
    readonly_fields = ("last_login", "date_joined")  # written by the site


@admin.register(LogEntry)
class LogEntryAdmin(FactAdmin):
    list_display = ("action_time", "user", "content_type", "object_repr", "get_change_message")
    list_filter = ("action_flag", "content_type")
    list_select_related = ("user", "content_type")
    search_fields = ("object_repr", "user__username")
    date_hierarchy = "action_time"
