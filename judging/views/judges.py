"""A judge's first page, and what the judge pages of every protocol share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from benchsite.lib.access import UserRequest
from benchsite.lib.database.prepared import CompiledQuery
from generation.images import image_parts
from generation.models import Prompt, Run
from generation.protocols import PROTOCOLS, load
from judging.curating.reset_links import can_confirm
from judging.models import Seat
from judging.views.known_browsers import known_since, remember_browser

LINKS_SHOWN = timedelta(days=30)
PARTICIPATION = "participation"  # in the session of a participant: its code
STUDY = "study"  # in the session of a participant: the code of the study that brought them


def judge_required(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Somebody logged in; the page's script is told so in JSON instead of being sent to a login form."""
    guarded = never_cache(login_required(view))

    @wraps(view)
    def checked(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if wants_json(request) and not request.user.is_authenticated:
            sentence = _("You are logged out. Log in again to continue.")
            return JsonResponse({"error": "login", "sentence": sentence}, status=403)
        return guarded(request, *args, **kwargs)

    return checked


def wants_json(request: HttpRequest) -> bool:
    return request.META.get("HTTP_ACCEPT") == "application/json"


OWN_SEAT = CompiledQuery(
    lambda code, judge: (
        Seat.objects.select_related("run").defer("plan", "run__config").filter(run__code=code, judge=judge).order_by()
    ),
    str,
    int,
)


def own_seat(request: UserRequest, code: str) -> Seat:
    """The judge's own seat in a run; a run without one is as good as none."""
    seat = next(iter(OWN_SEAT.rows(code, request.user.pk)), None)
    if seat is None:
        raise Http404
    return seat


@require_GET
def reference(request: HttpRequest, code: str) -> HttpResponse:
    """A prompt's reference picture, for those who may see the prompt: everybody, or the run's judges and curators."""
    asked = get_object_or_404(Prompt, code=code, picture__isnull=False)
    visible = Run.objects.visible_to(request.user).filter(pk=asked.run_id).exists()
    judges = request.user.is_authenticated and request.user.seats.filter(run=asked.run_id).exists()
    parts = image_parts(asked.picture.address) if visible or judges else None
    if parts is None:
        raise Http404
    response = HttpResponse(parts[1], content_type=parts[0])
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, max-age=86400"
    return response


def page_of_judge(run: Run) -> str:
    """The name of the page where judges of this run go on."""
    if not run.judged_by:
        raise Http404
    return run.judged_by[0].judge_page


@judge_required
@require_GET
def home(request: UserRequest) -> HttpResponse:
    """The judge's runs, protocol by protocol, and how to judge by each; by the first one where there is no run yet."""
    seats = list(
        Seat.objects.filter(judge=request.user)
        .select_related("run")
        .defer("plan", "run__config")
        .order_by("-joined_at")
    )
    people = {name: entry for name, entry in PROTOCOLS.items() if entry.by_people}
    parts = [
        {"entry": entry, **load(entry.home)(mine)}
        for name, entry in people.items()
        if (mine := [seat for seat in seats if name in seat.run.protocols])
    ]
    helped = parts or [{"entry": entry, **load(entry.home)([])} for entry in list(people.values())[:1]]
    context = {"parts": parts, "helped": helped, **_password_links(request)}
    response = render(request, "judging/home.html", context)
    remember_browser(request, response, request.user)
    return response


def _password_links(request: UserRequest) -> dict[str, Any]:
    """Links to a new password that the judge should know of: recent ones, and all that wait to be confirmed."""
    judge = request.user
    recent = Q(made_at__gte=now() - LINKS_SHOWN) | Q(used_at__isnull=False, confirmed_at=None)
    links = list(judge.reset_links.filter(recent).select_related("made_by"))
    waiting = sum(link.used_at is not None and link.confirmed_at is None for link in links)
    may_confirm = bool(waiting) and can_confirm(judge, known_since=known_since(request, judge))
    return {"reset_links": links, "unconfirmed": waiting, "may_confirm": may_confirm}
