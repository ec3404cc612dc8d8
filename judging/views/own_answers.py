"""A judge's pages about own answers: all of them, and the figures at the end."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from benchsite.lib.access import UserRequest
from generation.models import Run
from judging.gold.placing import shown_done
from judging.models import Seat
from judging.pairs import pages
from judging.pairs.own.figures import card, own_figures
from judging.pairs.own.history import CHOICES, counts_by_choice, page_of_answers
from judging.rules import rules_of
from judging.views.judges import STUDY, judge_required, own_seat

OTHERS_NAMED = 3  # runs that wait for the judge, at the end of one


@judge_required
@require_GET
def history(request: UserRequest, code: str) -> HttpResponse:
    """The judge's own votes and skips, the newest first; names only where the run shows them."""
    seat = own_seat(request, code)
    choice, words = request.GET.get("choice", ""), request.GET.get("q", "").strip()[:100]
    page, answers = page_of_answers(seat, seat.run, choice=choice, words=words, number=request.GET.get("page"))
    counts = counts_by_choice(seat)
    context = {
        "run": seat.run,
        "page": page,
        "answers": answers,
        "choices": [(key, label, counts[key]) for key, label in CHOICES.items()],
        "all": sum(counts.values()),
        "choice": choice,
        "words": words,
        "names": pages.names_shown(seat.run),
        "can_undo": pages.can_undo(seat.run),
        "is_open": seat.run.judging_state == "open",
        "categories": rules_of(seat.run.code).categories,
    }
    return render(request, "judging/history.html", context)


@judge_required
@require_GET
def done(request: UserRequest, code: str) -> HttpResponse:
    """The judge's own figures, and a card to share."""
    seat = own_seat(request, code)
    if study := request.session.get(STUDY):
        return redirect("judging:study_step", study)
    others = Seat.objects.filter(judge=request.user, run__judging_state=Run.Judging.OPEN).exclude(pk=seat.pk)
    context = {
        "run": seat.run,
        "seat": seat,
        "own": own_figures(seat),
        "names": pages.names_shown(seat.run),
        "rules": rules_of(seat.run.code).judging,
        "also_open": list(others.order_by("-joined_at").values_list("run__title", flat=True)[:OTHERS_NAMED]),
    }
    return render(request, "judging/done.html", context)


@judge_required
@require_GET
def share_card(request: UserRequest, code: str) -> HttpResponse:
    seat = own_seat(request, code)
    response = HttpResponse(card(str(seat.run), shown_done(seat)), content_type="image/svg+xml")
    response["Content-Disposition"] = f'inline; filename="benchsite-{seat.run.code}.svg"'
    return response
