"""What every page of a leaderboard shares: who may see it, its tabs, and what it says before there is a score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.text import capfirst

from benchsite.lib.files import attachment
from benchsite.lib.json_pages import Document, page_or_json
from generation.models import Entrant, Run, Sample
from generation.protocols import protocol_of, protocols_of
from judging.disclosure import may_see_drawings
from judging.studies.arena.panel import open_arenas
from ranking.boards.rows import describe_entrants, first_drawings, tabs_for
from ranking.charts.intervals import Interval, interval_axis, interval_row, interval_scale
from ranking.charts.markers import marker_sign
from ranking.models import Fit
from ranking.people import is_closed_to, is_hidden_from
from ranking.public_states import newest_state, public_sentence, standings_of
from ranking.views import page_json
from ranking.words import labels_of, named, numbers_of, rank_words

PROMPTS = 6  # on the page of a run that people still judge
STRIP = 5  # drawings at the head of a page that has none of its own
NUMBERS_ONLY = {
    "frontier",
    *(f"ranking:{name}" for name in ("history", "judges", "model_judges", "model_graders", "groups")),
}
FORMS = {"json": "application/json", "md": "text/markdown", "csv": "text/csv", "svg": "image/svg+xml"}


def ranking_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The run instead of its code: of those the visitor may see, and not while the visitor judges it."""

    @wraps(view)
    def guarded(request: HttpRequest, code: str, **rest: Any) -> HttpResponse:
        run = get_object_or_404(Run.objects.visible_to(request.user), code=code)
        if is_hidden_from(run, request.user):
            return render(request, "ranking/hidden.html", {"run": run}, status=403)
        try:
            return view(request, run, **rest)
        except StillJudgedError as judged:
            return public_page(request, run, judged.protocol)

    return guarded


def fit_page(protocol: str = "") -> Callable[..., Callable[..., HttpResponse]]:
    """Below `ranking_page`: the newest fit instead of its run, by this protocol or the address's; before there is one, so the page says."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def with_fit(request: HttpRequest, run: Run, **rest: Any) -> HttpResponse:
            fit = newest_fit(request, run, protocol or rest.pop("protocol"))
            if fit is None:
                return nothing_yet(request, run)
            fit.run = run
            return view(request, fit, **rest)

        return with_fit

    return decorate


class StillJudgedError(Exception):
    """People judge this run blind, and the visitor is no curator: there is a public state to see, and no fit."""

    def __init__(self, protocol: str) -> None:
        super().__init__(protocol)
        self.protocol = protocol


def show_page(request: HttpRequest, template: str, context: dict[str, Any], document: Document) -> HttpResponse:
    """A page about a run, with what a link to it shows elsewhere."""
    return page_or_json(request, template, {**context, "share": shared_as(context)}, document)


def shared_as(context: Mapping[str, Any]) -> dict[str, str] | None:
    """Title, description and picture of a page about a run; none where only curators see it."""
    run, publication, sample = context["run"], context.get("publication"), context.get("sample")
    drawing = sample or context.get("pictured")
    if not publication and run.visibility != Run.Visibility.PUBLISHED:
        return None
    picture = reverse("ranking:share_picture", args=[run.code])
    if publication:
        picture = reverse("ranking:publication_picture", args=[publication.code])
    elif drawing:
        picture = reverse("gallery:share_picture", args=[drawing.code])
    elif context.get("frozen"):
        picture += f"?fit={context['fit'].code}"
    elif context.get("protocol"):
        picture += f"?protocol={context['protocol']}"
    about = context.get("sentence") or context.get("shared_words") or run.config.get("description", "")
    return {"title": _shared_title(context, run), "description": about, "picture": picture}


def _shared_title(context: Mapping[str, Any], run: Run) -> str:
    if publication := context.get("publication"):
        return str(publication)
    if sample := context.get("sample"):
        return f"{capfirst(sample.prompt.subject) or run} by {sample.entrant}"
    if (one := context.get("one")) and (other := context.get("other")):
        return f"{one} against {other} in {run}"
    here = next((tab.label for tab in context.get("tabs", [])[1:] if tab.current), "")
    if (prompt := context.get("prompt")) and here == "Prompts":
        return f"{capfirst(prompt.subject or prompt.text)} in {run}"
    if (entrant := context.get("entrant")) and not here:
        return f"{entrant} in {run}"
    return f"{run}: {here.lower()}" if here else str(run)


def newest_fit(request: HttpRequest, run: Run, protocol: str) -> Fit | None:
    """The newest fit of a protocol of the run, if the visitor may see it; 404 where the run has no such protocol."""
    if protocol_of(run, protocol) is None:
        raise Http404
    check_open(request, run, protocol)
    return Fit.objects.newest(run, protocol)


def check_open(request: HttpRequest, run: Run, protocol: str) -> None:
    """Nobody but curators sees any fit from which those who judge the run could learn names."""
    if is_closed_to(request.user, run, protocol):
        raise StillJudgedError(protocol)


def public_page(request: HttpRequest, run: Run, protocol: str, **more: Any) -> HttpResponse:
    context = public_context(run, protocol) | more
    return show_page(request, "ranking/public_state.html", context, page_json.public_state)


def public_context(run: Run, protocol: str) -> dict[str, Any]:
    """What everybody may know of a run that people judge blind."""
    state, entrants = newest_state(run, protocol), list(run.entrants.all())
    standings = standings_of(state)
    entry = protocol_of(run, protocol)
    describe_entrants(run, entrants, fit=None)
    return {
        "run": run,
        "entrants": entrants,
        "prompts": run.prompts.only("run", "subject", "text")[:PROMPTS],
        "protocol": protocol,
        "entry": entry,
        "protocols": protocols_of(run),
        "state": state,
        "arena": open_arenas().filter(run=run).first(),
        "sentence": public_sentence(run, state, labels_of(entrants), entry),
        **(standings_so_far(standings, entrants) if standings else {"rows": []}),
    }


def standings_so_far(standings: list[Any], entrants: list[Entrant]) -> dict[str, Any]:
    """The rows of a public state as its page draws them."""
    labels, numbers = labels_of(entrants), numbers_of(entrants)
    drawn = [
        Interval(named(row, labels), score, row["low"], row["high"], number=numbers.get(row["entrant"], len(numbers)))
        for row in standings
        for score in [row.get("rating", row.get("score"))]
    ]
    scale = interval_scale(drawn)
    rows = [
        row
        | {
            "label": one.label,
            "ranks": rank_words(row["rank_low"], row["rank_high"]),
            "sign": marker_sign(one.number or 0),
            "value": one.value,
            "interval": interval_row(one, scale),
        }
        for row, one in zip(standings, drawn, strict=True)
    ]
    return {"rows": rows, "axis": interval_axis(scale)}


def tabs_of(request: HttpRequest, fit: Fit, *, here: str) -> dict[str, Any]:
    """What the top of every page of a board needs; `here` is the name of the page."""
    drawings_open = may_see_drawings(fit.run, request.user)
    return {
        "run": fit.run,
        "drawings_open": drawings_open,
        "fit": fit,
        "protocol": fit.protocol,
        "protocols": protocols_of(fit.run),
        "entry": protocol_of(fit.run, fit.protocol),
        "tabs": tabs_for(fit, here=here, drawings_open=drawings_open),
        "strip": drawings_by_rank(fit)[:STRIP] if drawings_open and here in NUMBERS_ONLY else [],
    }


def drawings_by_rank(fit: Fit) -> list[Sample]:
    """A drawing of each entrant, of one prompt wherever all have it, in the order of the board."""
    drawings = {sample.entrant.name: sample for sample in first_drawings(fit.run).values()}
    return [drawings[row["entrant"]] for row in fit.result["overall"] if row["entrant"] in drawings]


def drawings_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The run instead of its code, where the visitor need not wait to see its drawings."""

    @wraps(view)
    def guarded(request: HttpRequest, code: str, **rest: Any) -> HttpResponse:
        run = get_object_or_404(Run.objects.visible_to(request.user), code=code)
        if may_see_drawings(run, request.user):
            return view(request, run, **rest)
        context = {"run": run, "judged": run.judging_state != Run.Judging.NOT_OPEN, "protocols": protocols_of(run)}
        if run.visibility == Run.Visibility.PUBLISHED:
            context["share"] = {"title": f"Drawings of {run}", "description": "They are shown once judging is closed."}
        return render(request, "ranking/gallery_hidden.html", context, status=403)

    return guarded


def board_tabs(request: HttpRequest, run: Run, *, here: str) -> dict[str, Any]:
    """The tabs of the run's first board, where there is one that the visitor may see."""
    for name in protocols_of(run):
        if not is_closed_to(request.user, run, name) and not is_hidden_from(run, request.user):
            fit = Fit.objects.newest(run, name)
            if fit is not None:
                return tabs_of(request, fit, here=here)
    return {"run": run}


def nothing_yet(request: HttpRequest, run: Run) -> HttpResponse:
    about = page_json.about_run(run) | {"overall": []}
    context = {"run": run, "measured_only": not run.judged_by}
    return show_page(request, "ranking/empty.html", context, lambda shown: about)


def as_file(text: str, name: str, form: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{FORMS[form]}; charset=utf-8")
    response["Content-Disposition"] = attachment(name)
    return response
