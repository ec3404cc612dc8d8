"""What the admin's first page shows of the log."""

from __future__ import annotations

from django import template
from django.db.models import QuerySet

from generation.models import Event

register = template.Library()
NEWEST = 12


@register.simple_tag
def latest_events() -> QuerySet[Event]:
    return Event.objects.select_related("actor")[:NEWEST]


@register.filter
def words(verb: str) -> str:
    """exclude_samples → exclude samples"""
    return verb.replace("_", " ")
