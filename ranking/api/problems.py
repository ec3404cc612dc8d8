"""Errors of the API: application/problem+json that names the field and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from benchsite.lib.file_errors import BadLines, FileError
from benchsite.lib.text import visible
from generation.runs.errors import RunError
from ranking.archive.writing import dumped

LONGEST_LIST = 100  # rows that one answer names
TYPE = "application/problem+json"
CODES = {
    "token": "Send a token that is neither revoked nor expired.",
    "role": "The token's role does not allow this; create another one on the tokens page.",
    "limit": "The token's requests of this minute are used up (429), or `limit` is out of range (400).",
    "not_found": "There is no such thing, or the token is for another run.",
    "method": "The address takes other methods; see `Allow`.",
    "cursor": "The cursor is none of this list; start again without it.",
    "judging": "People may still judge the run blind; read it once judging is closed.",
    "protocol": "The run is not scored by that protocol.",
    "no_fit": "Nothing is fitted yet; try again in a minute.",
    "invalid": "A field is missing or wrong; `errors` names each.",
    "rows": "Rows of the body are wrong and nothing was stored; `errors` names line and field of each.",
    "refused": "The state of the run does not allow this; `detail` says why and what to do first.",
    "too_large": "The body is larger than the site takes; send it in several parts.",
    "media_type": "The body has another media type than the operation takes.",
}


class Problem(Exception):
    """What the caller did wrong: a status, a code for programs, a sentence for people, and the fields concerned."""

    def __init__(
        self, status: int, code: str, detail: str, *, errors: Sequence[dict[str, Any]] = (), **headers: str
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.errors = status, code, detail, list(errors)
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def problem_response(problem: Problem) -> HttpResponse:
    """`error` repeats code and sentence where programs written for the first release look for them."""
    document = {
        "type": f"/api/v1/docs#{problem.code}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "errors": problem.errors[:LONGEST_LIST],
        "error": {"code": problem.code, "message": problem.detail},
    }
    return HttpResponse(dumped(document) + "\n", TYPE, problem.status, headers=problem.headers)


def no_token() -> Problem:
    return Problem(
        401,
        "token",
        "Send a token that is neither revoked nor expired: Authorization: Bearer bench_…",
        WWW_Authenticate="Bearer",
    )


def not_found(what: str = "There is nothing here; see /api/v1/docs.") -> Problem:
    return Problem(404, "not_found", what)


def _invalid(request: HttpRequest, error: ValidationError) -> Problem:
    """Wrong parameters keep the code and status of the first release, which were those of the parameter."""
    errors = [{"field": _field(*each["loc"]), "message": _message(each)} for each in error.errors]
    detail = visible(" ".join(f"{each['field']}: {each['message']}." for each in errors[:3]))
    place, *rest = error.errors[0]["loc"]
    if place == "query" and rest and rest[0] in CODES:
        return Problem(400, str(rest[0]), detail, errors=errors)
    return Problem(400 if place in ("query", "path") else 422, "invalid", detail, errors=errors)


def _message(error: dict[str, Any]) -> str:
    if error["type"] == "extra_forbidden":
        return "This field is not known; /api/v1/docs lists those that are"
    return visible(str(error["msg"]))[:300]


def _field(place: str, *path: str | int) -> str:
    """As the caller wrote it: a body's fields stand below the name that the operation has for the body."""
    return ".".join(map(str, path[1:] if place == "body" else path)) or place


def bad_rows(error: FileError) -> Problem:
    """Nothing was stored; every row in the way is named."""
    rows = error.bad if isinstance(error, BadLines) else [error]
    errors = [{"line": row.line, "field": row.field, "message": visible(row.message)[:300]} for row in rows]
    more = f" And {len(rows) - 3} more." if len(rows) > 3 else ""
    words = " ".join(f"Line {row['line']}, {row['field'] or 'as a whole'}: {row['message']}." for row in errors[:3])
    return Problem(422, "rows", f"Nothing was stored. {words}{more}", errors=errors)


def add_handlers(api: NinjaAPI) -> None:
    def invalid(request: HttpRequest, error: Any) -> HttpResponse:
        return problem_response(_invalid(request, error))

    def http_error(request: HttpRequest, error: Any) -> HttpResponse:
        # The library's own: a body that is no JSON.
        words = "The body is not JSON in UTF-8; /api/v1/docs lists its fields."
        return problem_response(
            Problem(error.status_code, "invalid", words if error.status_code == 400 else str(error))
        )

    def own(request: HttpRequest, error: Any) -> HttpResponse:
        return problem_response(error)

    def rows(request: HttpRequest, error: Any) -> HttpResponse:
        return problem_response(bad_rows(error))

    def too_large(request: HttpRequest, error: Any) -> HttpResponse:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE / (1 << 20)
        return problem_response(Problem(413, "too_large", f"This operation takes a body of at most {most:g} MiB."))

    api.add_exception_handler(FileError, rows)
    api.add_exception_handler(RequestDataTooBig, too_large)
    api.add_exception_handler(Problem, own)
    api.add_exception_handler(Http404, lambda request, error: problem_response(not_found()))
    api.add_exception_handler(AuthenticationError, lambda request, error: problem_response(no_token()))
    api.add_exception_handler(RunError, lambda request, error: problem_response(Problem(409, "refused", str(error))))
    api.add_exception_handler(ValidationError, invalid)
    api.add_exception_handler(HttpError, http_error)
