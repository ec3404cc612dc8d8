"""Pages of participants and judges in their language. All other pages of the site are English."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from benchsite.lib.languages.choosing import COOKIE, OFFERED, chosen_language, linked_language, page_code, turn_to

TRANSLATED = {
    *(f"judging:{name}" for name in ("study_door", "study_step", "study_data", "preview_study")),
    *(f"judging:{name}" for name in ("judge", "start", "vote", "skip", "undo", "report")),
    "join",
    "login",
}
KEPT_SECONDS = 30 * 24 * 3600


class LanguageMiddleware:
    """Turns the pages of `TRANSLATED` to the language of the request, and keeps what a link said."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            response = self.get_response(request)
            match = request.resolver_match
            if match and match.view_name in TRANSLATED:
                self._note(request, response)
            return response
        finally:
            translation.deactivate()

    def process_view(self, request: HttpRequest, view: Callable[..., HttpResponse], *arguments: Any) -> None:
        match = request.resolver_match
        if match and match.view_name in TRANSLATED:
            turn_to(chosen_language(request, request.session.get(OFFERED, ())))

    def _note(self, request: HttpRequest, response: HttpResponse) -> None:
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", page_code())
        if code := linked_language(request):
            secure = settings.SESSION_COOKIE_SECURE
            response.set_cookie(COOKIE, code, max_age=KEPT_SECONDS, httponly=True, samesite="Lax", secure=secure)
