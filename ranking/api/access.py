"""Who asks: a token within its limit, and the runs it may read."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja.security import HttpBearer

from generation.models import Run
from generation.models.runs import RunQuerySet
from judging.disclosure import drawings_are_open
from ranking.api.problems import Problem, no_token, not_found
from ranking.models import AnalystToken
from ranking.tokens import is_backed, seconds_to_wait, use_token

ROLES: list[str] = [
    AnalystToken.Role.READ,
    AnalystToken.Role.PUSH,
    AnalystToken.Role.CURATE,
]  # each may what those before may
UNBACKED = (
    "Whoever created this token is no curator or analyst any more, or has not logged in at the login provider for too"
    " long. Ask them to log in, or a curator for another token."
)


class ApiRequest(HttpRequest):
    """A request whose token was admitted."""

    auth: AnalystToken
    actor: User  # of operations that write


class Token(HttpBearer):
    """A token of the tokens page (/analysts/), sent as `Authorization: Bearer bench_…`. No cookie opens anything here."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        admitted = use_token(token.strip())
        if admitted is None:
            raise no_token()
        if not is_backed(admitted):
            raise Problem(403, "role", UNBACKED)
        if wait := seconds_to_wait(admitted):
            raise Problem(429, "limit", f"Too many requests; try again in {wait} seconds.", Retry_After=str(wait))
        return admitted


def readable_runs(request: ApiRequest) -> RunQuerySet:
    """Those of its creator's teams, or the one that the token is for: others are not there."""
    runs = Run.objects.of_drawings()
    if request.auth.created_by:
        runs = runs.curated_by(request.auth.created_by)
    return runs.filter(pk=request.auth.run_id) if request.auth.run_id else runs


def readable_run(request: ApiRequest, code: str) -> Run:
    run = readable_runs(request).filter(code=code).first()
    if run is None:
        raise not_found("There is no run with this code.")
    return run


def open_run(request: ApiRequest, code: str) -> Run:
    """A run whose drawings nobody may judge blind any more: an analyst may be a judge too."""
    run = readable_run(request, code)
    if not drawings_are_open(run):
        raise Problem(409, "judging", "Its drawings, votes and standings can be read once judging is closed.")
    return run


def actor_of(request: ApiRequest, role: AnalystToken.Role) -> User:
    """The curator in whose name the token writes: its role must allow it, and somebody must have created it."""
    token = request.auth
    if ROLES.index(token.role) < ROLES.index(role):
        raise Problem(
            403, "role", f"This takes a token of the role {role}, and yours has {token.role}. Create another."
        )
    curator = token.created_by
    if curator is None:
        raise Problem(403, "role", "Nobody stands for this token, so it cannot write. Ask a curator for another.")
    return curator
