"""What operations answer: JSON as the archive writes it, pages of rows by primary key, and how the OpenAPI document says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from itertools import accumulate
from typing import Any
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.http import HttpResponse
from ninja import Query, Router

from ranking.api.access import ApiRequest, Token, actor_of
from ranking.api.problems import Problem
from ranking.api.schemas import Schema
from ranking.archive.writing import dumped
from ranking.models import AnalystToken

MOST = 1000
MOST_TEXT = 8 << 20  # characters that the rows of a page hold, beside its first row
LINES = "application/x-ndjson"
Limit = Query(100, ge=1, le=MOST, description="Rows per page.")
Cursor = Query("", description="Where to continue: part of the address in `next`.")
Rows = Callable[[QuerySet[Any]], Iterable[dict[str, Any]]]


def json_response(value: Any, status: int = 200) -> HttpResponse:
    return HttpResponse(dumped(value) + "\n", "application/json", status)


def rows_page(
    request: ApiRequest, queryset: QuerySet[Any], rows: Rows, *, limit: int, cursor: str, text: str = ""
) -> HttpResponse:
    """One page by primary key, so that a million rows cost no more than the first hundred.

    `text` names the field that may be long: a page ends before its texts would fill the memory.
    """
    asked, signer = limit, Signer(salt=f"ranking.api {request.path}")  # of another list a cursor would skip rows
    try:
        after = int(signer.unsign(cursor)) if cursor else 0
    except (BadSignature, ValueError):
        raise Problem(400, "cursor", "This cursor is none of this list; start again without it.") from None
    keys = list(queryset.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[: limit + 1])
    if text and len(keys) > 1:
        sizes = dict(queryset.filter(pk__in=keys).values_list("pk", Length(text)))
        sums = accumulate(sizes.get(key) or 0 for key in keys)
        limit = min(limit, max(1, sum(size <= MOST_TEXT for size in sums)))
    page = queryset.filter(pk__in=keys[:limit]).order_by("pk")
    following = None
    if len(keys) > limit:
        query = urlencode({"limit": asked, "cursor": signer.sign(str(keys[limit - 1]))})
        following = request.build_absolute_uri(f"{request.path}?{query}")
    return json_response({"data": list(rows(page)), "next": following})


def described(schema: Schema | None, media_type: str = "application/json", status: int = 200) -> Schema:
    """What an operation answers when all is well."""
    content = {"content": {media_type: {"schema": schema}}} if schema is not None else {}
    return {"responses": {status: {"description": "OK", **content}}}


def reading(
    router: Router, path: str, name: str, answer: Schema, media_type: str = "application/json"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An operation that changes nothing. Its function's docstring is what the document says of it."""

    def added(view: Callable[..., Any]) -> Callable[..., Any]:
        return router.api_operation(
            ["GET", "HEAD"],
            path,
            auth=Token(),
            url_name=name,
            operation_id=name,
            summary=summary_of(view),
            openapi_extra=described(answer, media_type),
        )(view)

    return added


def writing(
    router: Router,
    path: str,
    name: str,
    answer: Schema,
    *,
    role: AnalystToken.Role,
    method: str = "POST",
    status: int = 200,
    lines: Schema | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An operation of tokens with this role; its function is given the curator in whose name they act.

    With `lines` the body is JSON Lines of that schema, which the function reads from the request itself.
    """
    body = {"content": {LINES: {"schema": {"type": "string"}, "x-line-schema": lines}}, "required": True}

    def added(view: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(view)
        def acting(request: ApiRequest, **given: Any) -> HttpResponse:
            request.actor = actor_of(request, role)
            return view(request, **given)

        acting.__signature__ = signature(view, eval_str=True)  # type: ignore[attr-defined]  # names are looked up there
        extra = described(answer, status=status) | ({"requestBody": body} if lines else {})
        return router.api_operation(
            [method],
            path,
            auth=Token(),
            response={status: None},
            url_name=name,
            operation_id=name,
            summary=summary_of(view),
            description=f"{view.__doc__} Role: {role}.",
            openapi_extra=extra,
        )(acting)

    return added


def summary_of(view: Callable[..., Any]) -> str:
    return (view.__doc__ or "").partition(".")[0]
