"""A drawing as an HTTP response that cannot act: its own sandbox, no script, no other address, no cache."""

from __future__ import annotations

from django.http import Http404, HttpResponse

from generation.models import Sample

POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def picture_response(sample: Sample, *, variant: str = "") -> HttpResponse:
    """The picture alone: nothing in body or headers tells who drew it, when, or how large the answer was."""
    picture = sample.run.drawing_format.render(sample.drawing, variant=variant) if sample.drawing else None
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
