"""Drawings with the names of those who drew them: a run's gallery, one drawing, a program's levels and their files."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET

from benchsite.lib.files import attachment
from benchsite.lib.text import visible
from generation.files.xml_files import xml_name, zip_xml
from generation.models import Run, Sample
from generation.pictures import picture_response, thumbnail
from generation.protocols import protocols_of
from judging.disclosure import may_see_drawings
from ranking.boards.conditional import conditional
from ranking.boards.rows import describe_entrants
from ranking.charts.share_picture import HEIGHT, draw_drawing_picture
from ranking.models import Fit
from ranking.views import gallery_page as drawings
from ranking.views import page_json
from ranking.views.pages import board_tabs, drawings_page, show_page
from ranking.views.share import png

KEPT_FOR_GOOD = "private, max-age=31536000, immutable"  # what has an address that changes with the drawing
THUMBNAILS = (96, 192, 384)  # pixels a side
MAX_AGE = 600  # seconds a browser keeps a drawing's picture of any time


def _sample(request: HttpRequest, code: str) -> Sample:
    attempt = get_object_or_404(Sample.objects.select_related("run").defer("run__config"), code=code)
    if not may_see_drawings(attempt.run, request.user):
        raise Http404
    return get_object_or_404(drawings.shown_samples(attempt.run), pk=attempt.pk)


@require_GET
@drawings_page
@conditional
def gallery(request: HttpRequest, run: Run) -> HttpResponse:
    offered = drawings.choices(run)
    known = {model.model_id for model in offered["models"]}
    chosen: dict[str, Any] = {
        "attempt": _whole(request.GET.get("attempt"), most=len(offered["attempts"])),
        "model": request.GET.get("model") if request.GET.get("model") in known else _first(offered["models"]),
        "category": request.GET.get("category", ""),
    }
    page = drawings.gallery_page(run, **chosen, page=request.GET.get("page"))
    describe_entrants(run, page["entrants"], fit=None)
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        **board_tabs(request, run, here="gallery:gallery"),
        **offered,
        **chosen,
        **page,
        "query": query.urlencode(),
    }
    return show_page(request, "ranking/gallery.html", context, page_json.gallery)


def _whole(text: str | None, *, most: int) -> int:
    number = int(text) if text and text.isascii() and text.isdigit() and len(text) < 6 else 1
    return min(max(number, 1), most)


def _first(models: list[Any]) -> str:
    return models[0].model_id if models else ""


@require_GET
def sample(request: HttpRequest, code: str) -> HttpResponse:
    attempt = _sample(request, code)
    return _sample_page(request, attempt.run, attempt=attempt)


@conditional
def _sample_page(request: HttpRequest, run: Run, *, attempt: Sample) -> HttpResponse:
    answer = Sample.objects.values_list("answer", flat=True).get(pk=attempt.pk)
    context = {
        "run": run,
        "sample": attempt,
        "answer": visible(answer, newlines=True),
        "why": drawings.explain(attempt),
        "shared_words": attempt.prompt.text,
        **drawings.around(attempt),
    }
    return show_page(request, "ranking/sample.html", context, page_json.sample)


@require_GET
def picture(request: HttpRequest, code: str, key: str = "") -> HttpResponse:
    """The same sandboxed picture as everywhere; here names are known, so a browser may keep it: under its own key for good."""
    attempt = _sample(request, code)
    if key and key != attempt.picture_key:
        raise Http404
    response = picture_response(attempt, variant=request.GET.get("variant", ""))
    response["Cache-Control"] = KEPT_FOR_GOOD if key else f"private, max-age={MAX_AGE}"
    return response


@require_GET
def thumbnail_picture(request: HttpRequest, code: str, key: str, side: int) -> HttpResponse:
    """A drawing as pixels, under an address that is its content's own; what is too much to draw here a browser may draw."""
    attempt = _sample(request, code)
    if key != attempt.picture_key or side not in THUMBNAILS:
        raise Http404
    body = thumbnail(attempt, side=side)
    if body is None:
        return redirect("gallery:picture", code, key)
    response = HttpResponse(body, content_type="image/png")
    response["Cache-Control"] = KEPT_FOR_GOOD
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


@require_GET
def share_picture(request: HttpRequest, code: str) -> HttpResponse:
    """What a link to a drawing brings along: the drawing, the prompt, and who drew it."""
    attempt = _sample(request, code)
    prompt = attempt.prompt.subject or attempt.prompt.text
    drawing = thumbnail(attempt, side=HEIGHT)
    about = f"{attempt.run}, attempt {attempt.attempt}"
    label = "demo player" if attempt.run.is_demo else ""
    return png(draw_drawing_picture(prompt, attempt.entrant.label, about, drawing, label=label))


@require_GET
def file(request: HttpRequest, code: str) -> HttpResponse:
    """The drawing as a file of its own: its text or its picture."""
    attempt = _sample(request, code)
    if not attempt.drawing:
        raise Http404
    name = f"{attempt.run.suite}-{attempt.prompt.key}-{attempt.entrant.code}-{attempt.attempt}"
    if attempt.run.drawing_format.shown_as == "text":
        response = HttpResponse(attempt.drawing, content_type="text/plain; charset=utf-8")
        response["Content-Disposition"] = attachment(f"{name}.txt")
        return response
    response = picture_response(attempt)
    ending = response["Content-Type"].partition(";")[0].rpartition("/")[2].partition("+")[0]
    response["Content-Disposition"] = attachment(f"{name}.{ending}")
    return response


@require_GET
def level(request: HttpRequest, code: str) -> HttpResponse:
    """A level as the game's own file."""
    attempt = _sample(request, code)
    form = attempt.run.drawing_format
    if not form.has_xml or not attempt.drawing:
        raise Http404
    response = HttpResponse(form.xml(attempt.drawing), content_type="application/xml; charset=utf-8")
    response["Content-Disposition"] = attachment(xml_name(attempt))
    return response


@require_GET
@drawings_page
def program(request: HttpRequest, run: Run, entrant: str) -> HttpResponse:
    competitor = get_object_or_404(run.entrants.filter(model=None), code=entrant)
    models = list(run.models.all())
    model = next((m for m in models if m.model_id == request.GET.get("model")), models[0] if models else None)
    formula = next((name for name, entry in protocols_of(run).items() if not entry.by_people), "")
    fit = Fit.objects.newest(run, formula)
    standing = next((row for row in fit.result["overall"] if row["entrant"] == competitor.name), None) if fit else None
    describe_entrants(run, [competitor], fit=fit)
    levels = drawings.program_levels(run, competitor, model=model.model_id) if model else []
    context = {
        "run": run,
        "entrant": competitor,
        "models": models,
        "model": model,
        "standing": standing,
        "levels": levels,
        "pictured": next((t["sample"] for _, trials in levels for t in trials if t["sample"].drawing), None),
        "shared_words": f"{standing['score']:.1f} of 100 points." if standing and standing["score"] is not None else "",
    }
    return show_page(request, "ranking/program.html", context, page_json.program)


@require_GET
@drawings_page
def program_zip(request: HttpRequest, run: Run, entrant: str) -> HttpResponse:
    competitor = get_object_or_404(run.entrants.filter(model=None), code=entrant)
    if not run.drawing_format.has_xml:
        raise Http404
    response = HttpResponse(zip_xml(run, competitor), content_type="application/zip")
    response["Content-Disposition"] = attachment(f"{run.suite}-{competitor.code}-levels.zip")
    return response
