"""Pages as JSON: `?format=json` returns what the page shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from benchsite.version import stamped

Document = Callable[[dict[str, Any]], dict[str, Any]]


def page_or_json(request: HttpRequest, template: str, context: dict[str, Any], document: Document) -> HttpResponse:
    """The page, with a link to its JSON; or the JSON, made from the same context."""
    if request.GET.get("format") == "json":
        return JsonResponse(stamped(document(context)), json_dumps_params={"ensure_ascii": False})
    query = request.GET.copy()
    query["format"] = "json"
    return render(request, template, {**context, "json_address": f"?{query.urlencode()}"})
