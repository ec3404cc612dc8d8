"""Files in and out: a run's archive and its dataset as downloads, and uploads of whole runs and of grades."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.file_errors import FileError
from benchsite.lib.files import attachment, kept
from generation.models import ARCHIVE_DIFFERS, Run
from generation.runs.errors import RunError
from judging.disclosure import drawings_are_open
from ranking.archive.importing import import_run
from ranking.archive.members import counts_of, listed_members
from ranking.archive.writing import archive_chunks
from ranking.dataset.about import About, AboutError
from ranking.dataset.files import chunks_of
from ranking.dataset.importing import import_dataset
from ranking.dataset.publishing import zipped_dataset
from ranking.dataset.reading import is_dataset
from ranking.dataset.tables import tables_of
from ranking.views.forms import ArchiveForm, DatasetForm


@curator_required
@require_GET
def download_archive(request: HttpRequest, code: str) -> HttpResponseBase:
    return archive_response(get_object_or_404(Run.objects.curated_by(request.user), code=code))


def archive_response(run: Run) -> StreamingHttpResponse:
    """Streamed: the first bytes come at once, and memory stays flat."""
    headers = {"Content-Disposition": attachment(f"{run.suite}-{run.code}.zip"), "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(archive_chunks(run), content_type="application/zip", headers=headers)


NOTHING_MORE = About((), "")  # what a dataset has without a choice


@curator_required
@require_http_methods(["GET", "POST"])
def publish_dataset(request: UserRequest, code: str) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.of_drawings().curated_by(request.user), code=code)
    initial, studies = {"title": str(run), "authors": request.user.get_full_name()}, run.studies.exists()
    form = DatasetForm(request.POST or None, initial=initial, studies=studies)
    if request.method == "POST" and form.is_valid():
        try:
            return _download(run, form, request)
        except AboutError as error:
            form.add_error(error.field, error.message)
        except RunError as error:
            form.add_error(None, str(error))
    return _page(request, run, form)


def _page(request: HttpRequest, run: Run, form: DatasetForm) -> HttpResponse:
    context = {"run": run, "form": form, "open": drawings_are_open(run), "tables": tables_of(run, NOTHING_MORE)}
    return render(request, "ranking/dataset.html", context)


def _download(run: Run, form: DatasetForm, request: UserRequest) -> StreamingHttpResponse:
    """The zip is made before the first byte, so that what goes wrong is said on the page; it is deleted after the last."""
    with ExitStack() as stack:
        path = stack.enter_context(zipped_dataset(run, form.about(), by=request.user))
        opened = stack.pop_all()

    def chunks() -> Iterator[bytes]:
        with opened:
            yield from chunks_of(path)

    response = StreamingHttpResponse(chunks(), content_type="application/zip")
    response["Content-Disposition"] = attachment(path.name)
    response["Content-Length"] = str(path.stat().st_size)
    return response


@curator_required
@require_http_methods(["GET", "POST"])
def import_archive(request: HttpRequest) -> HttpResponse:
    form = ArchiveForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            with kept(form.cleaned_data["file"]) as path:
                run = (import_dataset if is_dataset(path) else import_run)(
                    path, copy=form.cleaned_data["copy"], reason=form.cleaned_data["reason"], by=request.user
                )
        except FileError as error:
            form.add_error("file", f"Nothing was imported. {error}")
        else:
            shown = {"samples", *listed_members()}
            *first, last = (f"{count} {kind}" for kind, count in counts_of(run).items() if kind in shown)
            counts = f"{', '.join(first)} and {last}"
            messages.success(request, f"Imported: {counts}. The leaderboard will update in a few seconds.")
            if differ := run.samples.filter(flags__icontains=ARCHIVE_DIFFERS).count():
                is_are = "drawing is" if differ == 1 else "drawings are"
                messages.warning(
                    request,
                    f"{differ} {is_are} not what the archive says: our readers made something else of the answer. "
                    f"Filter the run’s samples by the flag {ARCHIVE_DIFFERS} to see which.",
                )
            return redirect("generation:run", run.code)
    return render(request, "ranking/import_run.html", {"form": form})
