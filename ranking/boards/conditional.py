"""Pages of a run that were rendered before: a visitor's copy is confirmed by numbers of rows, and a visitor without one gets ours.

Only where nothing can change but by a new fit, an event or the run's own row: people have judged it, judging is closed, and all is
drawn. Each process keeps the pages it made, by their tags, up to so many bytes. The tag is keyed, so it says nothing of what it was
made from. Logged-in people who curate nothing read what visitors read, under links of their own; curators get a page of their own.
"""

from __future__ import annotations

import copy
import re
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from functools import cache, wraps
from math import floor, inf, log
from pathlib import Path
from threading import Lock
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.crypto import salted_hmac
from django.utils.timezone import now

from benchsite.templatetags.wording import DATED
from benchsite.version import VERSION
from generation.models import Run
from generation.protocols import PROTOCOLS
from ranking.models import Fit

SOURCES = ("benchsite", "generation", "judging", "ranking", "templates")
MOST_BYTES = 32 * 2**20
HEADERS = {"Content-Type", "Content-Disposition"}  # of a page that can be kept
LINKS = re.compile(
    rb'<nav id="parts".*?(?=\s*</div></header>)', re.DOTALL
)  # what templates/_links.html makes of a visitor
View = Callable[..., HttpResponse]


class KeptPages:
    """Pages by tag; those that were not asked for the longest make room for new ones."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.bytes = most_bytes, 0
        self.pages: OrderedDict[str, tuple[bytes, dict[str, str]]] = OrderedDict()
        self.lock = Lock()

    def find(self, tag: str) -> HttpResponse | None:
        with self.lock:
            if tag not in self.pages:
                return None
            self.pages.move_to_end(tag)
            body, headers = self.pages[tag]
        return HttpResponse(body, headers=headers)

    def keep(self, tag: str, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """The response; kept where it is the same for everybody: one with a token against forgery is not."""
        plain = response.status_code == 200 and not response.streaming and set(response.headers) <= HEADERS
        own = request.META.get("CSRF_COOKIE_NEEDS_UPDATE") or response.cookies
        if not plain or own or len(response.content) > self.most_bytes // 16:
            return response
        with self.lock:
            self.bytes += len(response.content) - len(self.pages.pop(tag, (b"", {}))[0])
            self.pages[tag] = (response.content, dict(response.headers))
            while self.bytes > self.most_bytes:
                self.bytes -= len(self.pages.popitem(last=False)[1][0])
        return response

    def clear(self) -> None:
        with self.lock:
            self.pages.clear()
            self.bytes = 0


KEPT = KeptPages(MOST_BYTES)


def conditional(view: View) -> View:
    """Below what finds the run: answers 304 where the visitor's copy is still right, else with a page that has a tag."""

    @wraps(view)
    def tagged(request: HttpRequest, run: Run, **rest: Any) -> HttpResponse:
        tag, known = board_tag(request, run), settings.SESSION_COOKIE_NAME in request.COOKIES
        if tag is None or (known and request.user.is_staff):
            return view(request, run, **rest)
        if known:
            visitor = copy.copy(request)
            visitor.user = AnonymousUser()
            return _with_own_links(request, KEPT.find(tag) or KEPT.keep(tag, visitor, view(visitor, run, **rest)))
        unchanged = get_conditional_response(request, etag=tag)
        response = unchanged or KEPT.find(tag) or KEPT.keep(tag, request, view(request, run, **rest))
        if response.status_code in (200, 304):
            response["ETag"] = tag
            patch_cache_control(response, private=True, no_cache=True)
            patch_vary_headers(response, ("Cookie",))
        return response

    return tagged


def _with_own_links(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """A visitor's page as somebody who is logged in sees it: only the masthead tells."""
    if not response.streaming and response["Content-Type"].startswith("text/html"):
        own = render_to_string("_links.html", request=request).strip().encode()
        response.content = LINKS.sub(lambda _: own[own.index(b"<nav") :], response.content, count=1)
    return response


def board_tag(request: HttpRequest, run: Run) -> str | None:
    """Changes whenever a visitor's page of this run may; None where it may change in other ways, or tells this visitor something."""
    if request.COOKIES.get("messages"):
        return None
    if run.judging_state != Run.Judging.CLOSED or run.finished_at is None:
        return None
    if not all((entry := PROTOCOLS.get(name)) and entry.by_people for name in run.protocols):
        return None  # measurements come in beside the page
    fits = list(Fit.objects.filter(run=run).order_by("-id").values_list("id", "read_at")[:1])
    events = list(run.events.order_by("-id").values_list("id", "at")[:1])
    row = [getattr(run, field.attname) for field in run._meta.concrete_fields if field.name != "config"]
    age = [_age(read_at) for _, read_at in fits]
    parts = (request.build_absolute_uri(), settings.SITE_URL, VERSION, _newest_source(), fits, age, events, row)
    return f'"{salted_hmac("ranking.boards.conditional", repr(parts), algorithm="sha256").hexdigest()[:32]}"'


def _age(moment: datetime) -> float:
    """Grows by steps of a tenth after a minute, so that a kept page which says “3 h ago” is not far off; nothing once it gives the date."""
    seconds = max((now() - moment).total_seconds(), 60.0)
    return floor(10 * log(seconds)) if seconds < DATED else inf


@cache
def _newest_source() -> float:
    """When this program was last changed: pages of another one are other pages."""
    files = (path for name in SOURCES for path in Path(settings.BASE_DIR, name).rglob("*.*"))
    return max(path.stat().st_mtime for path in files if path.suffix in (".py", ".html"))
