"""The picture of a published leaderboard for those who link to it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from generation.models import Run
from ranking.models import Fit
from ranking.protocols import load, protocols_of
from ranking.share_picture import Row, draw_share_picture
from ranking.views import ranking_page


@require_safe
@ranking_page
def share_picture(request: HttpRequest, run: Run) -> HttpResponse:
    name, entry = next(iter(protocols_of(run).items()), ("", None))
    fit = Fit.objects.newest(run, name) if entry else None
    if fit is None:
        raise Http404
    said = load(entry.sentence)(fit.result, dict(run.entrants.values_list("name", "label"))) if entry.sentence else ""
    standings = fit.standings.filter(scope="overall", score__isnull=False).select_related("entrant").order_by("-score")
    rows = [Row(standing.entrant.label, standing.score, standing.low, standing.high) for standing in standings]
    simulated = fit.result.get("run", {}).get("simulated", 0)
    label = " · ".join(word for word, true in (("demo players", run.is_demo), ("simulated judges", simulated)) if true)
    response = HttpResponse(draw_share_picture(str(run), said, rows, label=label), content_type="image/png")
    response["Cache-Control"] = "private, max-age=300"
    return response
