"""The picture of a leaderboard for those who link to it: the numbers that the linked page shows."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from generation.models import Run
from generation.protocols import load, protocol_of, protocols_of
from ranking.charts.share_picture import SharedRow, draw_share_picture
from ranking.models import Fit, Publication
from ranking.views.pages import ranking_page


@require_safe
@ranking_page
def share_picture(request: HttpRequest, run: Run) -> HttpResponse:
    """Of a past fit, or of the newest by a protocol; by the run's first unless another is named."""
    if "fit" in request.GET:
        return _picture(get_object_or_404(Fit, run=run, code=request.GET["fit"]), str(run))
    name = request.GET.get("protocol") or next(iter(protocols_of(run)), "")
    fit = Fit.objects.newest(run, name) if protocol_of(run, name) else None
    if fit is None:
        raise Http404
    return _picture(fit, str(run))


@require_safe
def publication_picture(request: HttpRequest, code: str) -> HttpResponse:
    """A frozen leaderboard's: whoever has the link may see it."""
    found = get_object_or_404(Publication.objects.select_related("fit__run"), code=code)
    return _picture(found.fit, found.title)


def _picture(fit: Fit, title: str) -> HttpResponse:
    run, entry = fit.run, protocol_of(fit.run, fit.protocol)
    said = load(entry.sentence)(fit.result, dict(run.entrants.values_list("name", "label"))) if entry.sentence else ""
    standings = fit.standings.filter(scope="overall", score__isnull=False).select_related("entrant").order_by("-score")
    rows = [SharedRow(standing.entrant.label, standing.score, standing.low, standing.high) for standing in standings]
    simulated = fit.result.get("run", {}).get("simulated", 0)
    label = " · ".join(word for word, true in (("demo players", run.is_demo), ("simulated judges", simulated)) if true)
    response = HttpResponse(draw_share_picture(title, said, rows, label=label), content_type="image/png")
    response["Cache-Control"] = "private, max-age=300"
    return response
