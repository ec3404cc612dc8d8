"""The download of everything about a run: a curator's by one click, an analyst's by token."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from benchsite.lib.access import curator_required
from generation.models import Run
from ranking.archive.writing import archive_chunks


@curator_required
@require_GET
def download_archive(request: HttpRequest, code: str) -> HttpResponseBase:
    return archive_response(get_object_or_404(Run, code=code))


def archive_response(run: Run) -> StreamingHttpResponse:
    """Streamed: the first bytes come at once, and memory stays flat."""
    name = f"{run.suite}-{run.code}.zip"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(archive_chunks(run), content_type="application/zip", headers=headers)
