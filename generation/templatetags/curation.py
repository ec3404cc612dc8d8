"""What curators' pages show of the log, and names of formats and protocols."""

from __future__ import annotations

from django import template
from django.db.models import QuerySet

from generation.formats import format_to_show
from generation.models import Event
from generation.protocols import Scored, protocols_of

register = template.Library()
NEWEST = 12


@register.simple_tag
def latest_events() -> QuerySet[Event]:
    return Event.objects.select_related("actor")[:NEWEST]


@register.filter
def words(verb: str) -> str:
    """exclude_samples → exclude samples"""
    return verb.replace("_", " ")


@register.filter
def format_title(scored: Scored) -> str:
    """ascii_art → ASCII art"""
    return format_to_show(scored.format).title


@register.filter
def scoring(scored: Scored) -> str:
    """pairwise, automatic → votes, automatic score"""
    return ", ".join(entry.label.lower() for entry in protocols_of(scored).values())
