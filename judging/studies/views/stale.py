"""A form whose token is of another login, or that comes from another address."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from judging.studies.languages import spoken
from judging.studies.views.browsers import own_participation, problem_page, study_of
from judging.studies.writing import content_of, newest_version


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """After a start in another tab, which logs the guest in: a study's present step, or a page that says what to do."""
    match = request.resolver_match
    if match is None or match.view_name not in ("judging:study_door", "judging:study_step"):
        # The reason is in the log. Of an address that the site does not know, the operator learns here too.
        origin = request.headers.get("Origin", "") if reason.startswith("Origin") else ""
        return render(request, "403_csrf.html", {"origin": origin}, status=403)
    study = study_of(match.kwargs["code"])
    if own_participation(request, study):
        return redirect(request.get_full_path())
    spoken(request, content_of(newest_version(study)))
    sentence = _("Open the study’s link again; nothing was stored.")
    return problem_page(request, study, _("This page is out of date"), sentence, status=403)
