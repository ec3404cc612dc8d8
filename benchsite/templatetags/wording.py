"""Numbers, money and times as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime, now

from benchsite.version import VERSION

register = template.Library()
THIN_SPACE = "\u202f"  # does not break


@register.simple_tag
def benchsite_version() -> str:
    return VERSION


@register.filter
def thousands(value: float | None) -> str:
    """12,345"""
    return "–" if value is None else f"{value:,.0f}"


@register.filter
def named(key: str, labels: Mapping[str, str]) -> str:
    """The label of a key, or the key itself where it has none."""
    return labels.get(key, key)


@register.filter
def dollars(nano: int | None) -> str:
    """US$8.47 from nano-dollars, with enough digits to tell a cheap call from none."""
    if nano is None:
        return "unknown"
    usd = nano / 1e9
    digits = 2 if usd >= 1 or usd == 0 else 4
    return f"US${usd:,.{digits}f}"


@register.filter
def percent(share: float | None, digits: int = 0) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f}%"


@register.filter
def chance(share: float | None) -> str:
    """A probability, which is never called certain or impossible."""
    if share is not None and share > 0.99:
        return "> 99%"
    return "< 1%" if share is not None and share < 0.01 else percent(share)


@register.filter
def duration(seconds: float | None) -> str:
    """45 s, 12 min, 3 h 20 min."""
    if seconds is None:
        return "–"
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f}{THIN_SPACE}s"
    if minutes < 90:
        return f"{minutes}{THIN_SPACE}min"
    return f"{minutes // 60}{THIN_SPACE}h {minutes % 60}{THIN_SPACE}min"


@register.filter
def took(milliseconds: float | None) -> str:
    """850 ms, 4.2 s, 75 s, 3 min."""
    if milliseconds is None:
        return "–"
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds:.0f}{THIN_SPACE}ms"
    return f"{seconds:.1f}{THIN_SPACE}s" if seconds < 10 else duration(seconds)


@register.filter
def ago(moment: datetime | str | None) -> SafeString | str:
    """“5 min ago”, with the exact time on hover. Templates give "" for a row that is not there."""
    if not isinstance(moment, datetime):
        return "never"
    seconds = (now() - moment).total_seconds()
    words = "just now" if seconds < 10 else f"{duration(seconds)} ago" if seconds < 172_800 else f"{moment:%-d %B %Y}"
    exact = localtime(moment).strftime("%Y-%m-%d %H:%M:%S %Z")
    return format_html('<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact, words)
