"""The API as one object: its addresses, its OpenAPI document, and the page that shows it.

Every response goes through `finished`: it is private to its token, has a keyed ETag where it is JSON, and is a
problem where the method is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path, re_path
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from ninja import NinjaAPI

from benchsite.version import VERSION
from ranking.api import boards, reading, webhooks, writing
from ranking.api.problems import CODES, TYPE, Problem, add_handlers, not_found, problem_response
from ranking.api.schemas import components, ref

PREFIX = "api/v1/"
ABOUT = (
    "Read runs, drawings, judgements and leaderboards of a Benchsite. Lists come in pages: follow `next`. "
    "Answers have an ETag: send it as If-None-Match, and get 304 while nothing changed."
)
UNTAGGED = ("api_archive", "api_picture")
View = Callable[..., HttpResponseBase]


def make_api() -> NinjaAPI:
    api = NinjaAPI(title="Benchsite", version="1", description=ABOUT, openapi_url=None, docs_url=None)
    lists = reading.Router(tags=["Runs"])
    reading.add_lists(lists)
    for router in (reading.router, lists, boards.router, writing.router, webhooks.router):
        api.add_router("", router)
    add_handlers(api)
    return api


def openapi_document(api: NinjaAPI) -> dict[str, Any]:
    """OpenAPI 3.1. HEAD is left out: it answers as GET does."""
    document = api.get_openapi_schema(path_prefix=PREFIX)
    problem = {"description": "A problem", "content": {TYPE: {"schema": ref("Problem")}}}
    for methods in document["paths"].values():
        methods.pop("head", None)
        for method, operation in methods.items():
            operation["responses"]["default"] = problem
            if method == "get" and operation["operationId"] not in UNTAGGED:
                operation["responses"][304] = {"description": "Not modified since the ETag in If-None-Match"}
    document["components"]["schemas"].update(components())
    document["info"]["x-benchsite-version"] = VERSION
    return dict(document)


def api_urls() -> list[URLPattern]:
    """Made anew whenever addresses are, as lists come from the protocols of the moment."""
    api = make_api()
    made: list[Any] = [pattern for pattern in api.urls[0] if getattr(pattern, "name", "") != "api-root"]
    routes: dict[str, list[View]] = {}
    for each in made:
        routes.setdefault(str(each.pattern), []).append(each.callback)
    document: dict[str, Any] = {}

    def described() -> dict[str, Any]:
        if not document:
            document.update(openapi_document(api))
        return document

    @require_safe
    def openapi(request: HttpRequest) -> HttpResponse:
        return JsonResponse(described(), json_dumps_params={"ensure_ascii": False})

    @require_safe
    def docs(request: HttpRequest) -> HttpResponse:
        share = {"title": "API v1 of Benchsite", "description": ABOUT.replace("`", "")}
        context = {"groups": groups_of(described()), "codes": CODES, "share": share}
        return render(request, "ranking/api.html", context)

    return [
        path(f"{PREFIX}openapi.json", openapi, name="api_openapi"),
        path(f"{PREFIX}docs", docs, name="api_docs"),
        *(path(f"{PREFIX}{each.pattern}", finished(*routes[str(each.pattern)]), name=each.name) for each in made),
        re_path(r"^api/(?P<rest>[\s\S]+)$", nothing, name="api_nothing"),  # line breaks, too
    ]


def finished(*views: View) -> View:
    """The views of one route as one: whichever takes the method. No cookie opens them, so no request needs a form's token."""

    def answered(request: HttpRequest, **parts: Any) -> HttpResponseBase:
        allowed: set[str] = set()
        for view in views:
            response = view(request, **parts)
            if response.status_code != 405:
                break
            allowed.update(response["Allow"].split(", "))
        else:
            methods = ", ".join(sorted(allowed))
            response = problem_response(Problem(405, "method", f"This address takes {methods}.", Allow=methods))
        if is_json(response) and request.method in ("GET", "HEAD"):
            key = salted_hmac("ranking.api", request.get_full_path().encode() + response.content, algorithm="sha256")
            response["ETag"] = f'"{key.hexdigest()[:32]}"'
            response = get_conditional_response(request, etag=response["ETag"], response=response) or response
        # A copy may be kept to be compared by its tag, and is asked for each time.
        response["Cache-Control"] = "private, no-cache" if "ETag" in response.headers else "no-store"
        patch_vary_headers(response, ("Authorization",))
        return response

    answered.csrf_exempt = True  # type: ignore[attr-defined]
    return answered


def is_json(response: HttpResponseBase) -> TypeGuard[HttpResponse]:
    kind = response.headers.get("Content-Type")
    return response.status_code == 200 and isinstance(response, HttpResponse) and kind == "application/json"


@csrf_exempt  # it changes nothing, and programs get a problem instead of a page
def nothing(request: HttpRequest, rest: str) -> HttpResponse:
    return problem_response(not_found())


def groups_of(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The operations by their tag, as the page lists them."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for address, methods in document["paths"].items():
        for method, operation in methods.items():
            row = {
                "method": method.upper(),
                "address": address,
                "id": operation["operationId"],
                "about": operation.get("description") or operation["summary"],
                "parameters": [each for each in operation.get("parameters", []) if each["in"] == "query"],
                "fields": fields_of_body(operation, document),
            }
            groups.setdefault(operation["tags"][0], []).append(row)
    return groups


def fields_of_body(operation: dict[str, Any], document: dict[str, Any]) -> list[dict[str, Any]]:
    """What a request's JSON body, or each line of its JSON Lines, may hold."""
    content: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    body: dict[str, Any] = next(iter(content.values()), {"schema": {}})
    schema: dict[str, Any] = body.get("x-line-schema") or body["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    required = schema.get("required", [])
    return [
        {"name": name, "description": each.get("description") or _words(each), "required": name in required}
        for name, each in schema.get("properties", {}).items()
    ]


def _words(schema: dict[str, Any]) -> str:
    """What a field without a description may be."""
    words = schema.get("enum") or schema.get("items", {}).get("enum") or ()
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
