"""The last page of a participant: its text, the code to give, the key to one's data, the way back."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from generation.suites.studies.study import Study as Content
from judging.gold.placing import shown_done, shown_total
from judging.models import Participation, Study
from judging.studies.languages import study_page

WAS_THERE = "was_there"  # in the session: it came in before the participation ended


def can_claim(participation: Participation | None) -> bool:
    """A guest of a shared link or of the arena, who is nobody's account yet. A platform's ids stay the platform's."""
    if participation is None or participation.external_id or participation.erased_at or not settings.LOCAL_PASSWORDS:
        return False
    return participation.guest is not None and not participation.guest.has_usable_password()


def end_page(
    request: HttpRequest,
    study: Study,
    content: Content,
    outcome: str,
    *,
    participation: Participation | None = None,
    status: int = 200,
) -> HttpResponse:
    context = end_context(study, content, outcome, own_code=participation.completion_code if participation else None)
    # The key to a person's data is not for whoever opens the link of their id afterwards.
    context["participation"] = participation if request.session.get(WAS_THERE) else None
    context["may_claim"] = can_claim(context["participation"])
    if context["participation"] and (seat := context["participation"].seat):
        context |= {"pairs_done": shown_done(seat), "pairs_total": shown_total(seat)}
    return study_page(request, "studies/end.html", content, context, status=status)


def end_context(study: Study, content: Content, outcome: str, *, own_code: str | None = None) -> dict[str, Any]:
    """The end of a study: its text, the code to give, and the way back to the platform."""
    ending = content.ending(outcome)
    code = ending.code or (own_code or "")
    platform = content.platform
    back = platform.return_url.replace("{code}", code) if platform and platform.return_url and code else ""
    return {
        "study": study,
        "content": content,
        "ending": ending,
        "outcome": outcome,
        "code": code,
        "back": back,
    }
