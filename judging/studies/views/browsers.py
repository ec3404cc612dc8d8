"""Which study an address means, who this browser is in it, and the page of a problem."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from judging.models import Participation, Study
from judging.studies.languages import study_page
from judging.studies.writing import content_of, newest_version
from judging.views.judges import PARTICIPATION

BACKEND = "django.contrib.auth.backends.ModelBackend"


def study_of(code: str) -> Study:
    return get_object_or_404(Study.objects.select_related("run").defer("run__config"), code=code)


def own_participation(request: HttpRequest, study: Study) -> Participation | None:
    """Who this browser is in this study, by its session."""
    code = request.session.get(PARTICIPATION)
    if not code:
        return None
    rows = study.participations.select_related("version", "seat", "guest").defer("seat__plan")
    return rows.filter(code=code).first()


def problem_page(request: HttpRequest, study: Study, title: str, sentence: str, *, status: int = 200) -> HttpResponse:
    context = {"study": study, "title": title, "sentence": sentence}
    return study_page(request, "studies/problem.html", content_of(newest_version(study)), context, status=status)
