"""What a leaderboard gives to other sites: a picture for those who link to it, and a card for those who embed it."""

from __future__ import annotations

from csp.decorators import csp_replace
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from benchsite.lib.json_pages import page_or_json
from generation.models import Run
from generation.pictures import thumbnail
from generation.protocols import load, protocol_of, protocols_of
from judging.disclosure import may_see_drawings
from ranking.charts.share_picture import TILE, SharedRow, draw_share_picture
from ranking.models import Fit, Publication
from ranking.people import is_closed_to
from ranking.public_states import newest_state, public_sentence, standings_of
from ranking.views import page_json
from ranking.views.overview import overview
from ranking.views.pages import drawings_by_rank, ranking_page
from ranking.words import labels_of, named, numbers_of


@require_safe
@ranking_page
def share_picture(request: HttpRequest, run: Run) -> HttpResponse:
    """Of a past fit, or of the newest by a protocol; by the run's first unless another is named. Else of the public state."""
    fit = get_object_or_404(Fit, run=run, code=request.GET["fit"]) if "fit" in request.GET else None
    name = fit.protocol if fit else request.GET.get("protocol") or next(iter(protocols_of(run)), "")
    if is_closed_to(request.user, run, name):
        return _public_picture(run, name, str(run))
    fit = fit or (Fit.objects.newest(run, name) if protocol_of(run, name) else None)
    if fit is None:
        raise Http404
    shown = drawings_by_rank(fit)[:1] if "fit" not in request.GET and may_see_drawings(run, request.user) else []
    return _picture(fit, str(run), drawing=thumbnail(shown[0], side=TILE) if shown else None)


@require_safe
def publication_picture(request: HttpRequest, code: str) -> HttpResponse:
    """A frozen leaderboard's: whoever has the link may see it."""
    published = get_object_or_404(Publication.objects.select_related("fit__run"), code=code)
    if is_closed_to(request.user, published.fit.run, published.fit.protocol):
        return png(draw_share_picture(published.title, "Shown again once judging is closed.", []))
    return _picture(published.fit, published.title)


@require_safe
@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"]})  # type: ignore[arg-type]  # its types know no view with arguments
def embed(request: HttpRequest, code: str) -> HttpResponse:
    """A published board as a card that any site may put in a frame: what strangers see, whoever looks."""
    run = get_object_or_404(Run.objects.listed_for(AnonymousUser()), code=code)
    lines = overview([run], AnonymousUser())
    asked = request.GET.get("protocol", "")
    line = next((line for line in lines if asked in ("", line["protocol"])), None)
    if line is None:
        raise Http404
    context = {"line": line, "run": run}
    response = page_or_json(request, "ranking/embed.html", context, lambda shown: page_json.board(shown["line"]))
    response["Cache-Control"] = "public, max-age=300"
    return response


def _public_picture(run: Run, protocol: str, title: str) -> HttpResponse:
    entrants = list(run.entrants.all())
    state, labels, numbers = newest_state(run, protocol), labels_of(entrants), numbers_of(entrants)
    rows = [
        SharedRow(
            named(row, labels),
            row.get("rating", row.get("score")),
            row["low"],
            row["high"],
            numbers.get(row["entrant"], len(numbers)),
        )
        for row in standings_of(state)
    ]
    label = _label(run, state.simulated if state else 0)
    return png(
        draw_share_picture(title, public_sentence(run, state, labels, protocol_of(run, protocol)), rows, label=label)
    )


def _picture(fit: Fit, title: str, *, drawing: bytes | None = None) -> HttpResponse:
    run, entry = fit.run, protocol_of(fit.run, fit.protocol)
    labels = dict(run.entrants.order_by("id").values_list("name", "label"))
    sentence = load(entry.sentence)(fit.result, labels) if entry and entry.sentence else ""
    standings = fit.standings.filter(scope="overall", score__isnull=False).select_related("entrant").order_by("-score")
    numbers = {name: place for place, name in enumerate(labels)}
    rows = [
        SharedRow(row.entrant.label, row.score, row.low, row.high, numbers[row.entrant.name])
        for row in standings
        if row.score is not None
    ]
    simulated = fit.result.get("run", {}).get("simulated", 0)
    return png(draw_share_picture(title, sentence, rows, label=_label(run, simulated), drawing=drawing))


def _label(run: Run, simulated: int) -> str:
    return " · ".join(word for word, true in (("demo players", run.is_demo), ("simulated judges", simulated)) if true)


def png(picture: bytes) -> HttpResponse:
    response = HttpResponse(picture, content_type="image/png")
    response["Cache-Control"] = "private, max-age=300"
    return response
