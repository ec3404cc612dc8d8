"""Numbers, money and times as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django import template
from django.conf import settings
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime, now
from django.utils.translation import get_language_bidi, to_locale

from benchsite.lib.languages.choosing import page_code
from benchsite.version import VERSION

register = template.Library()
THIN_SPACE = "\u202f"  # does not break
DATED = 172_800  # seconds: what is older has its date instead of its age


@register.simple_tag
def login_provider() -> str:
    """What the button for single sign-on says; empty where none is set up."""
    return settings.OIDC_NAME if settings.OIDC_ISSUER else ""


@register.filter
def curated_by(run: Any, user: Any) -> bool:
    """Whether a run is the user's to work on: a curator of another team is a visitor."""
    return run.is_curated_by(user)


@register.simple_tag
def local_passwords() -> bool:
    return bool(settings.LOCAL_PASSWORDS)


@register.simple_tag
def benchsite_version() -> str:
    return VERSION


@register.simple_tag
def page_language() -> SafeString:
    """The attributes of <html> that say which language a page is in, and which way it runs."""
    code = to_locale(page_code()).replace("_", "-")
    return format_html('lang="{}" dir="{}"', code, "rtl" if get_language_bidi() else "ltr")


@register.filter
def thousands(value: float | None) -> str:
    """12,345"""
    return "–" if value is None else f"{value:,.0f}"


@register.filter
def named(key: str, labels: Mapping[str, str]) -> str:
    """The label of a key, or the key itself where it has none."""
    return labels.get(key, key)


@register.filter
def first_sentence(text: str) -> str:
    """What a text opens with, up to its first full stop or question mark before a space."""
    return re.split(r"(?<=[.?!])\s", text.strip(), maxsplit=1)[0]


@register.filter
def score(value: float | None) -> str:
    """1,223 for a rating, 80.2 for points, 0.96 for a share of one."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) > 1 else f"{value:.2f}"


@register.filter
def released(moment: str) -> str:
    """June 2026 for the month 2026-06, 12 August 2026 for a day."""
    day = date.fromisoformat(moment if len(moment) > 7 else f"{moment}-01")
    return date_format(day, "j F Y" if len(moment) > 7 else "F Y")


@register.filter
def minus(figure: str) -> str:
    """A figure with a true minus sign, which is as wide as the digits."""
    return str(figure).replace("-", "−")


@register.filter
def text_size(drawing: str) -> str:
    """The classes by which a text drawing fills its tile; see static/css/drawings.css."""
    lines = drawing.expandtabs().splitlines() or [""]
    columns, rows = max(map(len, lines)), len(lines)
    return f"cols-{min(max(-(-columns // 4) * 4, 4), 240)} rows-{min(max(-(-rows // 2) * 2, 2), 120)}"


@register.filter
def dollars(nano: int | None) -> str:
    """US$8.47 from nano-dollars, with enough digits to tell a cheap call from none."""
    if nano is None:
        return "unknown"
    usd = nano / 1e9
    digits = 2 if usd >= 1 or usd == 0 else 4
    return f"US${usd:,.{digits}f}"


@register.filter
def small_dollars(nano: float | None) -> str:
    """0.0038: dollars of one answer, in two significant digits and without the sign, for a column that has it in its head."""
    if not isinstance(nano, int | float):  # templates give "" where a number is not there
        return "–"
    usd = nano / 1e9
    digits = 2 if usd >= 0.1 or usd == 0 else min(7, 1 - math.floor(math.log10(usd)))
    return f"{usd:,.{digits}f}"


@register.filter
def price(usd: float | None) -> str:
    """2.50 or 0.075: dollars for a million tokens."""
    if not isinstance(usd, int | float):  # templates give "" where a number is not there
        return "–"
    return f"{usd:,.2f}" if round(usd, 2) == usd else f"{usd:,.4g}"


@register.filter
def seconds(value: float | None) -> str:
    """0.15 s, 4.2 s, 75 s."""
    if not isinstance(value, int | float):  # templates give "" where a number is not there
        return "–"
    return f"{value:,.{2 if value < 1 else 1 if value < 100 else 0}f}{THIN_SPACE}s"


@register.filter
def percent(share: float | None, digits: int = 0) -> str:
    """33%; what is not quite none or all of it is never rounded to that: <1%, >99%."""
    if share is None:
        return "–"
    text = f"{100 * share:.{digits}f}"
    least = 10.0**-digits
    if share > 0 and float(text) == 0:
        return f"<{least:.{digits}f}%"
    if share < 1 and float(text) == 100:
        return f">{100 - least:.{digits}f}%"
    return f"{text}%"


@register.filter
def percent_to(low: float | None, high: float | None) -> str:
    """40–81%: an interval of shares."""
    return f"{percent(low).removesuffix('%')}–{percent(high)}"


@register.filter
def chance(share: float | None) -> str:
    """A probability, which is never called certain or impossible."""
    if share is not None and share > 0.99:
        return ">99%"
    return "<1%" if share is not None and share < 0.01 else percent(share)


REASONS = {
    "invalid_json": "not valid JSON",
    "no_json": "no JSON in the answer",
    "empty": "an empty answer",
    "empty_answer": "an empty answer",
    "no_svg": "no SVG in the answer",
    "too_slow": "took too long to read",
}


@register.filter
def code_spans(text: str) -> SafeString:
    """What stands between backticks as code."""
    parts = text.split("`")
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if at % 2 else part,) for at, part in enumerate(parts))
    )


@register.filter
def reason_words(code: str) -> str:
    """Why an answer has no drawing, as people say it; codes such as `invalid_json` are for files."""
    return REASONS.get(code, code.replace("_", " "))


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
    words = "just now" if seconds < 10 else f"{duration(seconds)} ago" if seconds < DATED else f"{moment:%-d %B %Y}"
    exact = localtime(moment).strftime("%Y-%m-%d %H:%M:%S %Z")
    return format_html('<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact, words)
