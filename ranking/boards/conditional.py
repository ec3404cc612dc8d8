"""Boards that a browser has already: a visitor's copy is confirmed by numbers of rows, without the page being made again.

Only where nothing can change but by a new fit, an event or the run's own row: people have judged it, judging is closed, and all is
drawn. Whoever is logged in gets a page of their own. The tag is keyed, so it says nothing of what it was made from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.crypto import salted_hmac

from benchsite.version import VERSION
from generation.models import Run
from generation.protocols import PROTOCOLS
from ranking.models import Fit

SOURCES = ("benchsite", "generation", "judging", "ranking", "templates")
View = Callable[..., HttpResponse]


def conditional(view: View) -> View:
    """Below `ranking_page`: answers 304 where the visitor's copy is still right, and tags the page otherwise."""

    @wraps(view)
    def tagged(request: HttpRequest, run: Run, **rest: Any) -> HttpResponse:
        tag = board_tag(request, run)
        if tag is None:
            return view(request, run, **rest)
        unchanged = get_conditional_response(request, etag=tag)
        response = unchanged or view(request, run, **rest)
        if response.status_code in (200, 304):
            response["ETag"] = tag
            patch_cache_control(response, private=True, no_cache=True)
            patch_vary_headers(response, ("Cookie",))
        return response

    return tagged


def board_tag(request: HttpRequest, run: Run) -> str | None:
    """Changes whenever a page of this run may; None where it may change in other ways, or is the visitor's own."""
    if request.COOKIES.get(settings.SESSION_COOKIE_NAME) or request.COOKIES.get("messages"):
        return None
    if run.judging_state != Run.Judging.CLOSED or run.finished_at is None:
        return None
    if not all((entry := PROTOCOLS.get(name)) and entry.by_people for name in run.protocols):
        return None  # measurements come in beside the page
    fits = list(Fit.objects.filter(run=run).order_by("-id").values_list("id", "read_at")[:1])
    events = list(run.events.order_by("-id").values_list("id", flat=True)[:1])
    row = [getattr(run, field.attname) for field in run._meta.concrete_fields if field.name != "config"]
    parts = (request.get_full_path(), settings.SITE_URL, VERSION, _newest_source(), fits, events, row)
    return f'"{salted_hmac("ranking.boards.conditional", repr(parts), algorithm="sha256").hexdigest()[:32]}"'


@cache
def _newest_source() -> float:
    """When this program was last changed: pages of another one are other pages."""
    files = (path for name in SOURCES for path in Path(settings.BASE_DIR, name).rglob("*.*"))
    return max(path.stat().st_mtime for path in files if path.suffix in (".py", ".html"))
