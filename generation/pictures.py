"""A drawing as an HTTP response that cannot act: its own sandbox, no script, no other address; or as plain pixels."""

from __future__ import annotations

import structlog
from django.http import Http404, HttpResponse

from generation.formats.base import Picture
from generation.models import Sample

log = structlog.get_logger(__name__)
LONGEST_DRAWING = 4 << 20  # characters; no reader makes one half as long
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def picture_response(sample: Sample, *, variant: str = "") -> HttpResponse:
    """The picture alone: nothing in body or headers tells who drew it, when, or how large the answer was."""
    picture = _render(sample, variant)
    if picture is None:
        raise Http404
    response = HttpResponse(picture.body, content_type=picture.media_type)
    response["Content-Security-Policy"] = POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    # The site's own policy would replace the stricter one above
    response._csp_exempt = True  # type: ignore[attr-defined]
    return response


def thumbnail(sample: Sample, *, side: int) -> bytes | None:
    """PNG of a stored drawing; None where it has none, or takes more time or memory than a drawing may."""
    if not sample.drawing or len(sample.drawing) > LONGEST_DRAWING:
        return None
    try:
        return sample.run.drawing_format.png(sample.drawing, side=side)
    except Exception as error:  # as in `_render`
        log.warning("drawing_not_rendered", sample=sample.code, error=type(error).__name__, why=str(error)[:200])
        return None


def _render(sample: Sample, variant: str) -> Picture | None:
    """None where there is nothing to show: also for a stored text that no reader of ours made, such as an old import's."""
    if not sample.drawing or len(sample.drawing) > LONGEST_DRAWING:
        return None
    try:
        return sample.run.drawing_format.render(sample.drawing, variant=variant)
    except Exception as error:  # such a text fails in as many ways as it can be wrong
        log.warning("drawing_not_rendered", sample=sample.code, error=type(error).__name__)
        return None
