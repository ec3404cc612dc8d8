"""Pages of a judge who compares pairs: the pair on the screen, vote, skip, undo, report."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from benchsite.lib.access import UserRequest
from generation.models import Run
from generation.pictures import picture_response
from judging.gold.answering import feedback_on
from judging.models import GoldAnswer, Matchup
from judging.pairs import NAME, pages
from judging.pairs.matchups import is_damaged
from judging.pairs.own.answers import SKIP, LastAnswer
from judging.pairs.planning import plan_of
from judging.pairs.serving import Screen, screen_of, take_seat
from judging.pairs.skipping import skip_matchup
from judging.pairs.voting import IN_PUBLIC, Undone, cast_vote, report_matchup, undo_vote
from judging.rules import rules_of
from judging.seats import RefusedError
from judging.views.forms import CODE, CodeForm, ReportForm, read_ballot
from judging.views.judges import STUDY, judge_required, own_seat, page_of_judge, wants_json

STATUS = {"too_fast": 429}


@judge_required
@require_GET
def judge(request: UserRequest, code: str) -> HttpResponse:
    seat = own_seat(request, code)
    if NAME not in seat.run.protocols:
        return redirect(page_of_judge(seat.run), code)
    screen = screen_of(seat) if seat.run.judging_state == Run.Judging.OPEN else Screen(seat, None, None)
    study = request.session.get(STUDY, "")
    if study and screen.current is None:
        return redirect("judging:study_step", study)
    last = pages.newest_answer(seat, screen.current)
    context = {
        "seat": seat,
        "run": seat.run,
        "rules": rules_of(seat.run.code).judging,
        "pair": pages.shown(screen.current) if screen.current else None,
        "fonts": pages.fonts_of(seat.run),
        "progress": pages.progress(seat) | pages.bar(seat),
        "last": last,
        "marks": last.marks,
        "report": ReportForm(),
        "study": study,
        "end": reverse("judging:study_step", args=[study]) if study else reverse("judging:done", args=[seat.run.code]),
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
            return JsonResponse({"error": "closed", "sentence": _("Judging is not open.")}, status=409)
        return redirect("judging:judge", code)
    screen = take_seat(seat.pk)
    if wants_json(request):
        last = pages.newest_answer(seat, screen.current)
        body = pages.screen_json(screen, have=request.POST.get("have", ""), undo=last.code)
        return JsonResponse(body | last.for_script() | {"marks": last.marks})
    if screen.current is None:
        if screen.seat.voted or request.session.get(STUDY):
            return redirect("judging:done", code)
        if plan_of(screen.seat).pairs:
            messages.success(request, _("There is nothing left to judge in this run. Thank you for coming back."))
        else:
            messages.info(
                request,
                _("There is no pair to judge in this run yet. Drawings may still be on the way: come back later."),
            )
        return redirect("judging:home")
    return redirect("judging:judge", code)


@judge_required
@require_POST
def vote(request: UserRequest) -> HttpResponse:
    ballot = read_ballot(request.POST)
    if ballot is None:
        sentence = _("That was not a vote we understand. Nothing was recorded.")
        return _refuse(request, RefusedError("invalid", sentence), 400)
    try:
        cast = cast_vote(judge=request.user, code=ballot[0], ballot=ballot[1])
    except Matchup.DoesNotExist:
        raise Http404 from None
    except RefusedError as refused:
        return _refuse(request, refused, STATUS.get(refused.code, 409))
    names = pages.revealed(cast.matchup)
    feedback = feedback_on(cast.vote) if isinstance(cast.vote, GoldAnswer) else ""
    undo = "" if names or feedback else cast.matchup.code
    if wants_json(request):
        body = pages.screen_json(cast.screen, have=request.POST.get("have", ""), undo=undo)
        words = {"said": feedback, "stacked": ""} if feedback else LastAnswer(outcome=cast.vote.outcome).for_script()
        return JsonResponse(body | words | {"revealed": names})
    if feedback:
        messages.info(request, feedback)
    if names:
        makers = _("Left was %(left)s, right was %(right)s.") % names
        messages.info(request, f"{LastAnswer(outcome=cast.vote.outcome).sentence} {makers}")
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
        last = pages.newest_answer(screen.seat, screen.current)
        body = pages.screen_json(screen, undo=last.code)
        return JsonResponse(body | last.for_script_after(_undone_words(undone)) | {"marks": last.marks})
    if undone.put_away:
        another = f" {_('This is another pair.')}" if screen.current and not undone.skip else ""
        messages.info(request, _undone_words(undone) + another)
    return _go_on(request, screen, screen.seat.run.code)


def _undone_words(undone: Undone) -> str:
    if undone.skip:
        return (
            _("The pair that you skipped cannot be shown now.") if undone.put_away else _("The skipped pair is back.")
        )
    if undone.put_away == IN_PUBLIC:
        return _(
            "Vote withdrawn. Its pair does not come back, because the public leaderboard already counts your vote."
        )
    return _("Vote withdrawn. Its pair cannot be shown now.") if undone.put_away else _("Vote withdrawn.")


@judge_required
@require_POST
def skip(request: UserRequest) -> HttpResponse:
    form = CodeForm(request.POST)
    if not form.is_valid():
        raise Http404
    try:
        matchup, screen = skip_matchup(judge=request.user, code=form.cleaned_data["code"])
    except Matchup.DoesNotExist:
        raise Http404 from None
    except RefusedError as refused:
        return _refuse(request, refused, STATUS.get(refused.code, 409))
    if wants_json(request):
        body = pages.screen_json(screen, have=request.POST.get("have", ""), undo=matchup.code)
        return JsonResponse(body | LastAnswer(outcome=SKIP).for_script())
    return _go_on(request, screen, screen.seat.run.code)


@judge_required
@require_POST
def report(request: UserRequest) -> HttpResponse:
    form = ReportForm(request.POST)
    if not form.is_valid():
        return _refuse(request, RefusedError("invalid", _("Choose a side and a reason, then report again.")), 400)
    try:
        screen = report_matchup(judge=request.user, **form.cleaned_data)
    except Matchup.DoesNotExist:
        raise Http404 from None
    except RefusedError as refused:
        return _refuse(request, refused, 409)
    sentence = _("Reported. Curators will look at it.")
    if wants_json(request):
        last = pages.newest_answer(screen.seat, screen.current)
        body = pages.screen_json(screen, undo=last.code)
        return JsonResponse(body | last.for_script_after(sentence))
    messages.success(request, sentence)
    return _go_on(request, screen, screen.seat.run.code)


def _go_on(request: UserRequest, screen: Screen, code: str) -> HttpResponse:
    if screen.current is None and screen.seat.run.judging_state == Run.Judging.OPEN:
        return redirect("judging:done", code)
    return redirect("judging:judge", code)


def _refuse(request: UserRequest, refused: RefusedError, status: int) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"error": refused.code, "sentence": refused.sentence}, status=status)
    messages.warning(request, refused.sentence)
    code = request.POST.get("code", "")
    mine = Matchup.objects.filter(code=code if CODE.fullmatch(code) else "", seat__judge=request.user)
    own = mine.select_related("run").first()
    return redirect("judging:judge", own.run.code) if own else redirect("judging:home")


@judge_required
@require_GET
def picture(request: UserRequest, code: str, side: str) -> HttpResponse:
    """One side of the judge's own matchup, once it is on the screen, next in line, or voted on."""
    seen = Matchup.objects.filter(seat__judge=request.user).exclude(state=Matchup.State.VOID)
    heavy = (f"{side}_sample__{name}" for name in ("raw", "answer", "earlier_answers", "run__config"))
    matchup = get_object_or_404(seen.select_related(f"{side}_sample__run", "gold").defer(*heavy), code=code)
    sample = matchup.left_sample if side == "left" else matchup.right_sample
    if sample is None:
        raise Http404
    if matchup.gold and is_damaged(matchup, sample):
        sample.drawing = matchup.gold.damaged
    return picture_response(sample)
