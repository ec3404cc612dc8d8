"""The page about the model judges of a board of grades."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from judging.grades import NAME
from ranking.models import Fit
from ranking.rubric.model_judges.page import model_graders_context, model_graders_document
from ranking.views.pages import fit_page, ranking_page, show_page, tabs_of


@require_GET
@ranking_page
@fit_page(NAME)
def model_graders(request: HttpRequest, fit: Fit) -> HttpResponse:
    context = tabs_of(request, fit, here="ranking:model_graders")
    context |= model_graders_context(fit, drawings_open=context["drawings_open"])
    return show_page(request, "ranking/model_graders.html", context, model_graders_document)
