"""Pages of a judge who compares pairs: the pair on the screen, vote, undo, report, history."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from benchsite.lib.access import UserRequest
from generation.models import Run
from generation.pictures import picture_response
from judging.models import Matchup, Vote
from judging.pairs import NAME, pages
from judging.pairs.serving import Screen, screen_of, take_seat
from judging.pairs.voting import cast_vote, report_matchup, undo_vote
from judging.rules import rules_of
from judging.seats import RefusedError
from judging.views.forms import CodeForm, ReportForm, VoteForm
from judging.views.judges import judge_required, own_seat, page_of_judge, wants_json

SAID = {"left": "Voted left", "right": "Voted right", "tie": "Voted both good", "fail": "Voted both bad"}
STATUS = {"too_fast": 429}


def last_said(vote: Vote | None) -> str:
    return f"{SAID[vote.outcome]} on the last pair." if vote else ""


def what_happened(sentence: str, before: Vote | None) -> str:
    """What was done instead of a vote, and which vote undo would now take back."""
    return f"{sentence} Before it you {SAID[before.outcome].lower()}." if before else sentence


@judge_required
@require_GET
def judge(request: UserRequest, code: str) -> HttpResponse:
    seat = own_seat(request, code)
    if NAME not in seat.run.protocols:
        return redirect(page_of_judge(seat.run), code)
    screen = screen_of(seat) if seat.run.judging_state == Run.Judging.OPEN else Screen(seat, None, None)
    undo = pages.newest_vote(seat, seat.run)
    context = {
        "seat": seat,
        "run": seat.run,
        "rules": rules_of(seat.run.code).judging,
        "pair": pages.shown(screen.current) if screen.current else None,
        "fonts": pages.fonts_of(seat.run),
        "progress": pages.progress(seat) | pages.bar(seat),
        "undo": undo,
        "said": last_said(undo),
        "report": ReportForm(),
    }
    return render(request, "judging/judge.html", context)


@judge_required
@require_POST
def start(request: UserRequest, code: str) -> HttpResponse:
    """Put a pair on the judge's screen; the only thing a link cannot do, because it makes a row."""
    seat = own_seat(request, code)
    if NAME not in seat.run.protocols:
        return redirect(page_of_judge(seat.run), code)
    if seat.run.judging_state != Run.Judging.OPEN:
        if wants_json(request):
            return JsonResponse({"error": "closed", "sentence": "Judging is not open."}, status=409)
        return redirect("judging:judge", code)
    screen = take_seat(seat.pk)
    if wants_json(request):
        undo = pages.newest_vote(seat, seat.run)
        body = pages.screen_json(
            request, screen, have=request.POST.get("have", ""), undo=undo.matchup if undo else None
        )
        return JsonResponse(body | {"said": last_said(undo)})
    if screen.current is None:
        if screen.seat.voted:
            messages.success(request, "That was all: there is nothing new for you to judge in this run. Thank you.")
        elif screen.seat.plan.get("pairs"):
            messages.success(request, "There is nothing left to judge in this run. Thank you all the same.")
        else:
            messages.info(
                request,
                "There is no pair to judge in this run yet. Drawings may still be on their way: come back later.",
            )
        return redirect("judging:home")
    return redirect("judging:judge", code)


@judge_required
@require_POST
def vote(request: UserRequest) -> HttpResponse:
    form = VoteForm(request.POST)
    if not form.is_valid():
        return _refuse(
            request, RefusedError("invalid", "That was not a vote we understand. Nothing was recorded."), 400
        )
    try:
        cast = cast_vote(judge=request.user, code=form.cleaned_data["code"], ballot=form.ballot())
    except Matchup.DoesNotExist:
        raise Http404 from None
    except RefusedError as refused:
        return _refuse(request, refused, STATUS.get(refused.code, 409))
    names = pages.revealed(cast.matchup)
    undo = cast.matchup if names is None else None
    if wants_json(request):
        body = pages.screen_json(request, cast.screen, have=request.POST.get("have", ""), undo=undo)
        return JsonResponse(body | {"said": last_said(cast.vote), "revealed": names})
    if names:
        messages.info(request, f"{SAID[cast.vote.outcome]}. Left was {names['left']}, right was {names['right']}.")
    return _go_on(request, cast.screen, cast.matchup.run.code)


@judge_required
@require_POST
def undo(request: UserRequest) -> HttpResponse:
    form = CodeForm(request.POST)
    if not form.is_valid():
        raise Http404
    try:
        undone = undo_vote(judge=request.user, code=form.cleaned_data["code"])
    except Matchup.DoesNotExist:
        raise Http404 from None
    except RefusedError as refused:
        return _refuse(request, refused, 409)
    screen = undone.screen
    if wants_json(request):
        before = pages.newest_vote(screen.seat, screen.seat.run)
        body = pages.screen_json(request, screen, undo=before.matchup if before else None)
        away = f" Its pair {undone.put_away}." if undone.put_away else ""
        return JsonResponse(body | {"said": what_happened(f"Vote withdrawn.{away}", before)})
    if undone.put_away:
        another = "This is another pair: that one" if screen.current else "That pair"
        messages.info(request, f"Your vote is withdrawn. {another} {undone.put_away}.")
    return _go_on(request, screen, screen.seat.run.code)


@judge_required
@require_POST
def report(request: UserRequest) -> HttpResponse:
    form = ReportForm(request.POST)
    if not form.is_valid():
        return _refuse(request, RefusedError("invalid", "Choose a side and a reason, then report again."), 400)
    try:
        screen = report_matchup(judge=request.user, **form.cleaned_data)
    except Matchup.DoesNotExist:
        raise Http404 from None
    except RefusedError as refused:
        return _refuse(request, refused, 409)
    sentence = "Reported. Curators will look at it."
    if wants_json(request):
        before = pages.newest_vote(screen.seat, screen.seat.run)
        body = pages.screen_json(request, screen, undo=before.matchup if before else None)
        return JsonResponse(body | {"said": what_happened(sentence, before)})
    messages.success(request, sentence)
    return _go_on(request, screen, screen.seat.run.code)


def _go_on(request: UserRequest, screen: Screen, code: str) -> HttpResponse:
    if screen.current is None and screen.seat.run.judging_state == Run.Judging.OPEN:
        messages.success(request, "That was the last pair for you in this run. Thank you.")
        return redirect("judging:home")
    return redirect("judging:judge", code)


def _refuse(request: UserRequest, refused: RefusedError, status: int) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"error": refused.code, "sentence": refused.sentence}, status=status)
    messages.warning(request, refused.sentence)
    own = (
        Matchup.objects.filter(code=request.POST.get("code", ""), seat__judge=request.user)
        .select_related("run")
        .first()
    )
    return redirect("judging:judge", own.run.code) if own else redirect("judging:home")


@judge_required
@require_GET
def history(request: UserRequest, code: str) -> HttpResponse:
    """The judge's own votes, the newest first; names only where the run shows them."""
    seat = own_seat(request, code)
    votes = seat.votes.standing().order_by("-id")
    page = Paginator(votes.select_related("matchup__prompt", "matchup__left", "matchup__right"), 50).get_page(
        request.GET.get("page")
    )
    context = {
        "run": seat.run,
        "page": page,
        "said": SAID,
        "names": pages.names_shown(seat.run),
        "can_undo": pages.can_undo(seat.run),
        "categories": rules_of(seat.run.code).categories,
    }
    return render(request, "judging/history.html", context)


@judge_required
@require_GET
def picture(request: UserRequest, code: str, side: str) -> HttpResponse:
    """One side of the judge's own matchup, once it is on the screen, next in line, or voted on."""
    seen = Matchup.objects.filter(seat__judge=request.user).exclude(state=Matchup.State.VOID)
    matchup = get_object_or_404(seen.select_related(f"{side}_sample__run"), code=code)
    sample = matchup.left_sample if side == "left" else matchup.right_sample
    if sample is None:
        raise Http404
    return picture_response(sample)
