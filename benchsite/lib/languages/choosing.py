"""Which language a request gets: its link's, one that its study offers, its browser's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from benchsite.lib.languages import LANGUAGES

PARAMETER = "lang"  # of a link
COOKIE = "language"  # what a link said earlier
OFFERED = "languages"  # in the session of a participant: the languages of the study
TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")  # Chinese that no page of ours is written in


def chosen_language(request: HttpRequest, offered: Sequence[str] = ()) -> str:
    """By link, which is kept; else the browser's first that is offered; else the first of those."""
    offered = offered or tuple(LANGUAGES)
    # Not `request.headers`, which is made of all headers at the first look.
    header = request.META.get("HTTP_ACCEPT_LANGUAGE", "").lower()
    accepted = (code for code, _ in parse_accept_lang_header(header))
    wanted = (linked_language(request), request.COOKIES.get(COOKIE, ""), *accepted)
    return next((code for each in wanted if (code := _known(each)) in offered), offered[0])


def turn_to(code: str) -> None:
    """The rest of the request is in this language; English is that of the site's other pages."""
    translation.activate(settings.LANGUAGE_CODE if code == "en" else code)


def page_code() -> str:
    """The language that the rest of the request is in, as one of ours."""
    code = translation.get_language() or "en"
    return code if code in LANGUAGES else "en"


def linked_language(request: HttpRequest) -> str:
    """What the link says, where it is a language of ours; else nothing."""
    return _known(request.GET.get(PARAMETER, "")[:20])


def _known(code: str) -> str:
    """Ours for a code such as de-AT, pt_BR or zh-CN; empty where there is none."""
    code = code.lower().replace("_", "-")
    base = code.partition("-")[0]
    if base == "zh":
        return "" if code.startswith(TRADITIONAL) else "zh-hans"
    return base if base in LANGUAGES else ""


@dataclass(frozen=True)
class LanguageLink:
    """This page in another language, or in the one that it is in."""

    code: str
    name: str
    address: str
    current: bool


def language_links(request: HttpRequest, offered: Sequence[str] = ()) -> list[LanguageLink]:
    """This page in each language that is offered; none where there is no choice."""
    query, current = request.GET.copy(), chosen_language(request, offered)
    links = []
    for code in offered or LANGUAGES:
        query[PARAMETER] = code
        links.append(LanguageLink(code, LANGUAGES[code], f"?{query.urlencode()}", code == current))
    return links if len(links) > 1 else []
