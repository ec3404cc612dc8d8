"""Reading leaderboards: the documents that the pages show, by whatever protocols a run has."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.urls import reverse
from ninja import Query, Router

from benchsite.version import stamped
from generation.models import Run
from generation.protocols import protocols_of
from judging.disclosure import drawings_are_open
from ranking.api.access import ApiRequest, open_run, readable_run
from ranking.api.answers import json_response, reading
from ranking.api.problems import Problem
from ranking.api.schemas import TYPES, list_of, ref
from ranking.models import Fit, Standing
from ranking.people import is_closed_to
from ranking.views import page_json
from ranking.views.leaderboards import board_document
from ranking.views.pages import public_context

router = Router(tags=["Leaderboards"])
OBJECT = TYPES["object"]
STANDINGS = {
    "type": "object",
    "properties": {"fit": ref("Fit"), "data": list_of(ref("Standing"))},
    "required": ["fit", "data"],
}
LEADERBOARD = {
    "type": "object",
    "properties": {"fit": ref("Fit"), "leaderboard": OBJECT, "effort": OBJECT},
    "required": ["fit", "leaderboard", "effort"],
}
BOARDS = {
    "type": "object",
    "properties": {"data": list_of(ref("Board"))},
    "required": ["data"],
}
DOCUMENT = OBJECT | {"description": "as `?format=json` of the page; docs/statistics.md explains each key"}
PROTOCOL = Query("", description="One of the run's protocols; its first where none is named.")
NOT_FITTED = "Nothing is fitted yet; try again in a minute."


def known_protocol(run: Run, protocol: str) -> str:
    known = list(protocols_of(run))
    protocol = protocol or next(iter(known), "")
    if protocol not in known:
        raise Problem(404, "protocol", f"This run is scored by {', '.join(known) or 'nothing yet'}.")
    return protocol


def newest_fit(request: ApiRequest, code: str, protocol: str) -> Fit:
    run = open_run(request, code)
    fit = Fit.objects.newest(run, known_protocol(run, protocol))
    if fit is None:
        raise Problem(404, "no_fit", NOT_FITTED)
    return fit


def about_fit(fit: Fit) -> dict[str, Any]:
    same = ("code", "protocol", "kind", "votes", "read_at", "settings")
    return {"run": fit.run.code, **{name: getattr(fit, name) for name in same}}


@reading(router, "/runs/{slug:run}/standings", "api_standings", STANDINGS)
def read_standings(request: ApiRequest, run: str, protocol: str = PROTOCOL) -> HttpResponse:
    """The newest fit as plain rows, overall and by category. Once judging is closed."""
    fit = newest_fit(request, run, protocol)
    fields = ("scope", "score", "low", "high", "rank", "rank_low", "rank_high", "n")
    rows = Standing.objects.filter(fit=fit).order_by("scope", "rank", "id").values("entrant__name", *fields)
    return json_response(
        {"fit": about_fit(fit), "data": [{"entrant": row.pop("entrant__name"), **row} for row in rows]}
    )


@reading(router, "/runs/{slug:run}/leaderboard", "api_leaderboard", LEADERBOARD)
def read_leaderboard(request: ApiRequest, run: str, protocol: str = PROTOCOL) -> HttpResponse:
    """The newest fit as it is stored, judges by pseudonym. Once judging is closed."""
    fit = newest_fit(request, run, protocol)
    result = {key: value for key, value in fit.result.items() if key != "run"}
    effort = fit.result.get("run", {}).get("effort", {})
    return json_response({"fit": about_fit(fit), "leaderboard": stamped(result), "effort": effort})


@reading(router, "/runs/{slug:run}/boards", "api_boards", BOARDS)
def list_boards(request: ApiRequest, run: str) -> HttpResponse:
    """How the run is scored, and the newest fit of each way. No fit is named while people may judge the run blind."""
    shown = readable_run(request, run)
    fits = Fit.objects.newest_of([shown]) if drawings_are_open(shown) else {}
    return json_response(
        {
            "data": [
                {
                    "protocol": name,
                    "label": entry.label,
                    "fit": fit.code if (fit := fits.get((shown.pk, name))) else None,
                    "votes": fit.votes if fit else None,
                    "read_at": fit.read_at if fit else None,
                    "address": request.build_absolute_uri(reverse("ranking:api_board", args=[shown.code, name])),
                }
                for name, entry in protocols_of(shown).items()
            ]
        }
    )


@reading(router, "/runs/{slug:run}/boards/{slug:protocol}", "api_board", DOCUMENT)
def read_board(request: ApiRequest, run: str, protocol: str) -> HttpResponse:
    """What a visitor sees on the leaderboard's page, as its `?format=json` has it.

    While people judge a published run blind, that is its public state. A private run is read once judging is closed.
    """
    shown, visitor = readable_run(request, run), AnonymousUser()
    name = known_protocol(shown, protocol)
    if shown.visibility != Run.Visibility.PUBLISHED:
        open_run(request, run)
    elif is_closed_to(visitor, shown, name):
        return json_response(stamped(page_json.public_state(public_context(shown, name))))
    fit = Fit.objects.newest(shown, name)
    if fit is None:
        raise Problem(404, "no_fit", NOT_FITTED)
    return json_response(stamped(board_document(fit, visitor)))
