"""The content security policy of every page: built once, because django-csp puts it together twice for each response."""

from __future__ import annotations

from functools import cache

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

OWN = ("_csp_exempt", "_csp_replace", "_csp_update", "_csp_config")  # what a view may say about its response


class PolicyMiddleware(CSPMiddleware):
    """Leaves to django-csp what a view changed about its own policy. No page has inline scripts, so there are no nonces."""

    def process_request(self, request: HttpRequest) -> None:
        pass

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if settings.DEBUG or not response.__dict__.keys().isdisjoint(OWN):
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, _policy())
        return response


@cache
def _policy() -> str:
    return build_policy()
