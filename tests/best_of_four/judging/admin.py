from django.contrib import admin

from benchsite.lib.fact_admin import RunFactAdmin
from tests.best_of_four.judging.models import Pick


@admin.register(Pick)
class PickAdmin(RunFactAdmin):
    list_display = ("picked_at", "run_link", "seat", "sample")
    list_filter = ("run",)
