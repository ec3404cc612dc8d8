"""Read-only JSON for analysts: a token in, pages of rows out. Rows are those of a run's archive, which is here too."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse

from benchsite.version import stamped
from generation.models import Run, Sample
from generation.protocols import protocols_of
from judging.disclosure import drawings_are_open
from ranking.archive.lines import Rows, entrant_rows, model_rows, prompt_rows, sample_rows
from ranking.archive.members import counts_of
from ranking.archive.writing import dumped, run_document
from ranking.models import Fit, Standing
from ranking.tokens import seconds_to_wait, use_token
from ranking.views.files import archive_response

USUAL, MOST = 100, 1000
CURSOR = Signer(salt="ranking.api")
PRIVATE = {"Cache-Control": "no-store", "Vary": "Authorization"}


class ApiError(Exception):
    """What the caller did wrong: a status, a code for programs and a sentence for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def _json(value: Any, status: int = 200, **headers: str) -> HttpResponse:
    headers = PRIVATE | headers
    return HttpResponse(dumped(value) + "\n", content_type="application/json", status=status, headers=headers)


def _said(error: ApiError, **headers: str) -> HttpResponse:
    return _json({"error": {"code": error.code, "message": error.message}}, error.status, **headers)


def endpoint(view: Callable[..., Any]) -> Callable[..., HttpResponseBase]:
    """A view that gives a JSON value or a whole response, for a token within its limit; errors are JSON."""

    @wraps(view)
    def guarded(request: HttpRequest, **path: str) -> HttpResponseBase:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        token = use_token(given.strip()) if scheme.lower() == "bearer" else None
        if token is None:
            error = ApiError(401, "token", "Send a token that is not revoked: Authorization: Bearer bench_…")
            return _said(error, **{"WWW-Authenticate": "Bearer"})
        if request.method not in ("GET", "HEAD"):
            return _said(ApiError(405, "method", "Everything here is read-only: use GET."), Allow="GET, HEAD")
        if wait := seconds_to_wait(token):
            error = ApiError(429, "limit", f"Too many requests; try again in {wait} seconds.")
            return _said(error, **{"Retry-After": str(wait)})
        try:
            answer = view(request, **path)
            return answer if isinstance(answer, HttpResponseBase) else _json(answer)
        except ApiError as error:
            return _said(error)

    return guarded


def _run(code: str) -> Run:
    run = Run.objects.of_drawings().filter(code=code).first()
    if run is None:
        raise ApiError(404, "not_found", "There is no run with this code.")
    return run


def _open_run(code: str) -> Run:
    """A run whose drawings nobody may judge blind any more: an analyst may be a judge too."""
    run = _run(code)
    if not drawings_are_open(run):
        raise ApiError(409, "judging", "Its drawings, votes and standings can be read once judging is closed.")
    return run


def _limit(request: HttpRequest) -> int:
    given = request.GET.get("limit", str(USUAL))
    if not (given.isascii() and given.isdigit() and len(given) < 9 and 1 <= int(given) <= MOST):
        raise ApiError(400, "limit", f"limit must be a whole number from 1 to {MOST}.")
    return int(given)


def _after(request: HttpRequest) -> int:
    try:
        return int(CURSOR.unsign(request.GET["cursor"])) if "cursor" in request.GET else 0
    except (BadSignature, ValueError):
        raise ApiError(400, "cursor", "This cursor is not one of ours; start again without it.") from None


def _page(request: HttpRequest, queryset: QuerySet[Any], rows: Callable[[QuerySet[Any]], Rows]) -> dict[str, Any]:
    """One page by primary key, so that a million rows cost no more than the first hundred."""
    limit, after = _limit(request), _after(request)
    keys = list(queryset.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[: limit + 1])
    page = queryset.filter(pk__in=keys[:limit]).order_by("pk")
    more = None
    if len(keys) > limit:
        query = urlencode({"limit": limit, "cursor": CURSOR.sign(str(keys[limit - 1]))})
        more = request.build_absolute_uri(f"{request.path}?{query}")
    return {"data": list(rows(page)), "next": more}


@endpoint
def index(request: HttpRequest) -> dict[str, Any]:
    address = request.build_absolute_uri(reverse("ranking:api_runs"))
    return stamped({"version": 1, "runs": address})


@endpoint
def runs(request: HttpRequest) -> dict[str, Any]:
    return _page(request, Run.objects.of_drawings(), lambda page: (run_document(run) for run in page))


@endpoint
def run(request: HttpRequest, code: str) -> dict[str, Any]:
    shown = _run(code)
    entrants, config = list(entrant_rows(shown)), shown.config
    if not drawings_are_open(shown):  # who has a program can run it, and know its drawings again
        entrants = [{**row, "turns": [], "source": ""} for row in entrants]
        config = {key: value for key, value in config.items() if key != "programs"}
    return {
        **run_document(shown),
        "counts": counts_of(shown),
        "models": list(model_rows(shown)),
        "entrants": entrants,
        "prompts": list(prompt_rows(shown)),
        "suite_config": config,
    }


@endpoint
def archive(request: HttpRequest, code: str) -> HttpResponseBase:
    response = archive_response(_open_run(code))
    for name, value in PRIVATE.items():
        response[name] = value
    return response


def listing_of(table: type[Model], rows: Callable[..., Rows], **only: Any) -> Callable[..., HttpResponseBase]:
    @endpoint
    def listing(request: HttpRequest, code: str) -> dict[str, Any]:
        shown = _open_run(code)
        return _page(request, table._default_manager.filter(run=shown, **only), lambda page: rows(shown, page))

    return listing


samples = listing_of(Sample, sample_rows, state=Sample.State.DRAWN)


def _fit(request: HttpRequest, code: str) -> Fit:
    shown = _open_run(code)
    known = list(protocols_of(shown))
    protocol = request.GET.get("protocol", known[0] if known else "")
    if protocol not in known:
        raise ApiError(404, "protocol", f"This run is scored by {', '.join(known) or 'nothing yet'}.")
    fit = Fit.objects.newest(shown, protocol)
    if fit is None:
        raise ApiError(404, "no_fit", "Nothing is fitted yet; try again in a minute.")
    return fit


def _about(fit: Fit) -> dict[str, Any]:
    same = ("code", "protocol", "kind", "votes", "read_at", "settings")
    return {"run": fit.run.code, **{name: getattr(fit, name) for name in same}}


@endpoint
def standings(request: HttpRequest, code: str) -> dict[str, Any]:
    fit = _fit(request, code)
    fields = ("scope", "score", "low", "high", "rank", "rank_low", "rank_high", "n")
    rows = Standing.objects.filter(fit=fit).order_by("scope", "rank", "id").values("entrant__name", *fields)
    return {"fit": _about(fit), "data": [{"entrant": row.pop("entrant__name"), **row} for row in rows]}


@endpoint
def leaderboard(request: HttpRequest, code: str) -> dict[str, Any]:
    fit = _fit(request, code)
    result = {key: value for key, value in fit.result.items() if key != "run"}
    effort = fit.result.get("run", {}).get("effort", {})
    return {"fit": _about(fit), "leaderboard": stamped(result), "effort": effort}


def nothing(request: HttpRequest, **path: str) -> HttpResponse:
    return JsonResponse(
        {"error": {"code": "not_found", "message": "There is nothing here; see docs/api.md."}}, status=404
    )
