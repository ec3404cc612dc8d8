"""Reading a run: itself, its models, entrants, prompts, drawings and judgements, and the figures of its studies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from ninja import Router

from benchsite.version import stamped
from generation.models import Run, Sample
from generation.pictures import thumbnail
from judging.disclosure import drawings_are_open
from judging.models import Study
from judging.studies.figures import study_figures
from ranking.api.access import ApiRequest, open_run, readable_run, readable_runs
from ranking.api.answers import Cursor, Limit, json_response, reading, rows_page
from ranking.api.problems import not_found
from ranking.api.schemas import page_of, ref, row_name
from ranking.archive.lines import entrant_rows, model_rows, prompt_rows, sample_rows
from ranking.archive.members import counts_of, listed_members
from ranking.archive.writing import run_document
from ranking.views.files import archive_response

SECRET = {"turns": [], "source": "", "python": ""}  # who has a program can run it, and know its drawings again
SIDE = 512  # pixels
INDEX = {
    "type": "object",
    "properties": {"version": {"type": "integer"}, "runs": {"type": "string"}, "benchsite_version": {"type": "string"}},
    "required": ["version", "runs", "benchsite_version"],
}
DOWNLOAD = {"type": "string", "contentEncoding": "binary"}


def entrants_of(run: Run, entrants: Any = None) -> list[dict[str, Any]]:
    rows = list(entrant_rows(run, entrants))
    return rows if drawings_are_open(run) else [row | SECRET for row in rows]


router = Router(tags=["Runs"])


@reading(router, "/", "api", INDEX)
def index(request: HttpRequest) -> HttpResponse:
    """The version and the main addresses."""
    return json_response(stamped({"version": 1, "runs": request.build_absolute_uri(reverse("ranking:api_runs"))}))


@reading(router, "/runs", "api_runs", page_of(ref("Run")))
def list_runs(request: ApiRequest, limit: int = Limit, cursor: str = Cursor) -> HttpResponse:
    """The runs that the token may read, the oldest first."""
    return rows_page(request, readable_runs(request), lambda page: map(run_document, page), limit=limit, cursor=cursor)


@reading(router, "/runs/{slug:run}", "api_run", ref("WholeRun"))
def read_run(request: ApiRequest, run: str) -> HttpResponse:
    """A run with its models, entrants, prompts and frozen suite."""
    shown = readable_run(request, run)
    config = shown.config
    if not drawings_are_open(shown):
        config = {key: value for key, value in config.items() if key != "programs"}
    return json_response(
        {
            **run_document(shown),
            "counts": counts_of(shown),
            "models": list(model_rows(shown)),
            "entrants": entrants_of(shown),
            "prompts": list(prompt_rows(shown)),
            "suite_config": config,
        }
    )


@reading(router, "/runs/{slug:run}/archive.zip", "api_archive", DOWNLOAD, "application/zip")
def download_archive(request: ApiRequest, run: str) -> HttpResponseBase:
    """The whole run as one zip, streamed; judges by pseudonym. Once judging is closed."""
    return archive_response(open_run(request, run))


@reading(router, "/runs/{slug:run}/samples/{slug:sample}", "api_sample", ref("Sample"))
def read_sample(request: ApiRequest, run: str, sample: str) -> HttpResponse:
    """One drawing with its answer. Once judging is closed."""
    shown = open_run(request, run)
    return json_response(next(sample_rows(shown, _drawn(shown, sample))))


@reading(router, "/runs/{slug:run}/samples/{slug:sample}/picture", "api_picture", DOWNLOAD, "image/png")
def read_picture(request: ApiRequest, run: str, sample: str) -> HttpResponse:
    """One drawing as a PNG. Once judging is closed; never one that is withheld from judges."""
    body = thumbnail(_drawn(open_run(request, run), sample, judgeable=True)[0], side=SIDE)
    if body is None:
        raise not_found("This drawing cannot be shown as a picture; its text is in the sample.")
    return HttpResponse(body, content_type="image/png")


def _drawn(run: Run, code: str, *, judgeable: bool = False) -> QuerySet[Sample]:
    samples = run.samples.judgeable() if judgeable else run.samples.filter(state=Sample.State.DRAWN)
    samples = samples.filter(code=code)
    if not samples:
        raise not_found("This run has no such drawing.")
    return samples


@reading(router, "/runs/{slug:run}/studies", "api_studies", page_of(ref("Study")))
def list_studies(request: ApiRequest, run: str, limit: int = Limit, cursor: str = Cursor) -> HttpResponse:
    """The run's studies with their figures: how many came, finished or left, and where."""
    studies = readable_run(request, run).studies.all()
    return rows_page(request, studies, lambda page: map(study_document, page), limit=limit, cursor=cursor)


@reading(router, "/runs/{slug:run}/studies/{slug:study}", "api_study", ref("Study"))
def read_study(request: ApiRequest, run: str, study: str) -> HttpResponse:
    """One study with its figures."""
    shown = readable_run(request, run).studies.filter(code=study).first()
    if shown is None:
        raise not_found("This run has no such study.")
    return json_response(study_document(shown))


def study_document(study: Study) -> dict[str, Any]:
    figures = study_figures(study)
    return {
        "code": study.code,
        "name": study.name,
        "state": study.state,
        **{name: figures[name] for name in ("came", "running", "done", "taken")},
        "median_seconds": figures["median"],
        "outcomes": [{"outcome": label, "people": people} for label, people, _ in figures["outcomes"]],
        "funnel": [asdict(step) for step in figures["funnel"]],
    }


def add_lists(router: Router) -> None:
    """Lists of what a run consists of, and of what each protocol's judges said: as many as this site has protocols."""
    parts: dict[str, tuple[str, Callable[..., Any]]]
    parts = {"models": ("Model", model_rows), "entrants": ("Entrant", entrants_of), "prompts": ("Prompt", prompt_rows)}
    for kind, (name, rows) in parts.items():
        view = _listing(readable_run, lambda run, kind=kind: getattr(run, kind).all(), rows)
        view.__doc__ = f"The run's {kind}."
        reading(router, f"/runs/{{slug:run}}/{kind}", f"api_{kind}", page_of(ref(name)))(view)
    judged = {
        kind: (row_name(kind), member.rows, lambda run, table=member.table: table._default_manager.filter(run=run))
        for kind, member in listed_members().items()
    }
    samples = {"samples": ("Sample", sample_rows, lambda run: run.samples.filter(state=Sample.State.DRAWN))}
    for kind, (name, rows, select) in (samples | judged).items():
        view = _listing(open_run, select, rows, text="answer" if kind == "samples" else "")
        view.__doc__ = f"The run's {kind}, as in its archive. Once judging is closed."
        reading(router, f"/runs/{{slug:run}}/{kind}", f"api_{kind}", page_of(ref(name)))(view)


def _listing(
    find: Callable[..., Run], select: Callable[..., QuerySet[Any]], rows: Callable[..., Any], *, text: str = ""
) -> Any:
    def listing(request: ApiRequest, run: str, limit: int = Limit, cursor: str = Cursor) -> HttpResponse:
        shown = find(request, run)
        return rows_page(request, select(shown), lambda page: rows(shown, page), limit=limit, cursor=cursor, text=text)

    return listing
