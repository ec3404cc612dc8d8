"""The judge's page and the curator's."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from benchsite.lib.access import curator_required
from generation.models import Run
from judging.views.judges import judge_required, own_seat
from tests.best_of_four.judging import NAME
from tests.best_of_four.judging.picking import drawings_of, next_prompt, pick_best


@judge_required
@require_http_methods(["GET", "POST"])
def four(request: HttpRequest, code: str) -> HttpResponse:
    seat = own_seat(request, code)
    if NAME not in seat.run.protocols:
        raise Http404
    if request.method == "POST":
        pick_best(seat=seat, code=request.POST["code"])
        return redirect("judging:four", code)
    prompt = next_prompt(seat) if seat.run.judging_state == Run.Judging.OPEN else None
    context = {"run": seat.run, "prompt": prompt, "drawings": drawings_of(seat, prompt) if prompt else []}
    return render(request, "best_of_four/judge.html", context)


@curator_required
@require_GET
def overview(request: HttpRequest, code: str) -> HttpResponse:
    run = get_object_or_404(Run, code=code)
    return render(request, "best_of_four/overview.html", {"run": run, "picks": run.picks.count()})
