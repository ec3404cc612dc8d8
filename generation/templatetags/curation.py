"""What curators' pages show of the log, and names of formats and protocols."""

from __future__ import annotations

import re

from django import template
from django.db.models import QuerySet

from benchsite.lib.access import of_colleagues
from generation.formats import format_to_show
from generation.models import Event
from generation.protocols import Scored, protocols_of

register = template.Library()
NEWEST = 12


@register.simple_tag(takes_context=True)
def latest_events(context: template.Context) -> QuerySet[Event]:
    """What was done to runs that the curator works on, and by people of the same teams to no run."""
    user = context["user"]
    return Event.objects.filter(of_colleagues(user, "actor")).select_related("actor")[:NEWEST]


@register.filter
def words(verb: str) -> str:
    """exclude_samples → exclude samples"""
    return verb.replace("_", " ")


@register.filter
def measured(value: object) -> str:
    """What a backend found: `courier 0.55, fira 0.67` for a group of figures."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {measured(part)}" for name, part in value.items())
    return ", ".join(map(measured, value)) if isinstance(value, list) else str(value)


PAST = {
    "write": "wrote",
    "make": "made",
    "set": "set",
    "begin": "began",
    "keep": "kept",
    "drop": "dropped",
    "withdraw": "withdrew",
    "put": "put",
    "send": "sent",
    "give": "gave",
    "take": "took",
    "draw": "drew",
    "submit": "submitted",
    "reset": "reset",
}


@register.filter
def done_words(verb: str) -> str:
    """exclude_samples → Excluded samples: as a log tells it."""
    first, _, rest = words(verb).partition(" ")
    past = PAST.get(first) or (
        f"{first}d" if first.endswith("e") else f"{first[:-1]}ied" if re.search("[^aeiou]y$", first) else f"{first}ed"
    )
    return f"{past} {rest}".strip().capitalize()


@register.filter
def format_title(scored: Scored) -> str:
    """ascii_art → ASCII art"""
    return format_to_show(scored.format).title


@register.filter
def scoring(scored: Scored) -> str:
    """pairwise, automatic → votes, automatic score"""
    return ", ".join(entry.label.lower() for entry in protocols_of(scored).values())
