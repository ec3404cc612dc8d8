"""A run's votes, skips and grades as files, from the curator's page; judges by pseudonym."""

from __future__ import annotations

import io
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Literal

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.files import attachment
from generation.models import Run
from judging.files.exports import WRITERS

TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
CHUNK = 65_536  # bytes


@curator_required
@never_cache
@require_GET
def download(request: UserRequest, code: str, kind: str, format: Literal["jsonl", "csv"]) -> StreamingHttpResponse:
    run = get_object_or_404(Run.objects.curated_by(request.user).defer("config"), code=code)
    response = StreamingHttpResponse(_chunks(run, kind, format), content_type=TYPES[format])
    response["Content-Disposition"] = attachment(f"{run.suite}-{run.code}-{kind}.{format}")
    return response


def _chunks(run: Run, kind: str, format: Literal["jsonl", "csv"]) -> Iterator[bytes]:
    with TemporaryFile() as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        WRITERS[kind](run, text, format=format)
        text.detach()
        file.seek(0)
        yield from iter(lambda: file.read(CHUNK), b"")
