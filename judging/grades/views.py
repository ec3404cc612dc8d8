"""Pages of a judge who grades: the drawing on the screen, save, undo, report, align; and a curator's view of it."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.reasons import reason_of
from generation.models import Run
from generation.pictures import picture_response
from generation.runs.errors import RunError
from judging.curating.runs import decide_item
from judging.grades import NAME
from judging.grades import pages as grade_pages
from judging.grades.grading import grade_sample, report_item, undo_grade
from judging.grades.sheets import next_item, open_sheet, own_item, rubric_of, showable
from judging.models import GradeItem, GradeSheet, Report, Seat
from judging.rules import rules_of
from judging.seats import RefusedError
from judging.views.judges import judge_required, wants_json


def _seat(request: UserRequest, code: str) -> Seat:
    """The judge's own seat in a run that is graded; a run without one is as good as none. A study's guest does not grade."""
    seats = Seat.objects.select_related("run", "sheet").defer("run__config")
    seat = get_object_or_404(seats, run__code=code, judge=request.user, participation=None)
    if NAME not in seat.run.protocols:
        raise Http404
    return seat


def _item(request: UserRequest, item: str) -> GradeItem:
    try:
        return own_item(request.user, item)
    except GradeItem.DoesNotExist:
        raise Http404 from None


@judge_required
@require_GET
def grades(request: UserRequest, code: str) -> HttpResponse:
    """Where the judge left off; or, where nothing is in line, what there is to say about it."""
    seat = _seat(request, code)
    item = next_item(seat) if seat.run.judging_state == Run.Judging.OPEN else None
    if item is not None and "list" not in request.GET:
        return redirect("judging:drawing", item.code)
    context = {
        "run": seat.run,
        "progress": grade_pages.exact_progress(seat),
        "tabs": grade_pages.stage_tabs(seat),
        "rules": rules_of(seat.run.code).judging,
    }
    return render(request, "judging/grades.html", context)


@judge_required
@require_POST
def start(request: UserRequest, code: str) -> HttpResponse:
    """Make or complete the judge's list; the only thing a link cannot do, because it makes rows."""
    seat = _seat(request, code)
    if seat.run.judging_state == Run.Judging.OPEN:
        open_sheet(seat.pk)
    if next_item(seat) is None:
        messages.info(request, "There is nothing new for you to grade in this run at the moment.")
    return redirect("judging:grades", code)


@judge_required
@require_GET
def drawing(request: UserRequest, item: str) -> HttpResponse:
    own = _item(request, item)
    if own.seat.run.judging_state != Run.Judging.OPEN:
        return redirect("judging:grades", own.seat.run.code)
    if not showable(own.seat).filter(pk=own.pk).exists():
        messages.info(request, "That drawing was removed and needs no grade.")
        return redirect("judging:grades", own.seat.run.code)
    context = grade_pages.item_context(own) | {"reasons": Report.Reason.choices}
    return render(request, "judging/grade.html", context)


@judge_required
@require_POST
def save(request: UserRequest, item: str) -> HttpResponse:
    own = _item(request, item)
    values = grade_pages.read_values(request.POST)
    note = request.POST["note"].strip()[:500] if "note" in request.POST else None
    if not values and request.POST.get("go") == "next":
        refused = RefusedError(
            "empty", "Nothing is graded yet. Grade this drawing, or choose Next to leave it for later."
        )
        return _refuse(request, refused, own)
    try:
        done = grade_sample(judge=request.user, code=item, values=values, note=note)
    except RefusedError as refused:
        return _refuse(request, refused, own)
    if wants_json(request):
        return JsonResponse({"step": done.sheet.steps, "done": done.sheet.graded, "total": done.sheet.items})
    return _go_on(request, own)


def _go_on(request: UserRequest, item: GradeItem) -> HttpResponse:
    go = request.POST.get("go", "")
    if go == "align":
        return redirect(reverse("judging:align", args=[item.seat.run.code, item.stage]) + f"#{item.code}")
    if go == "next":
        following = showable(item.seat).filter(order__gt=item.order).order_by("order").first()
        return (
            redirect("judging:drawing", following.code) if following else redirect("judging:grades", item.seat.run.code)
        )
    messages.success(request, "Saved.")
    return redirect("judging:drawing", item.code)


def _refuse(request: UserRequest, refused: RefusedError, item: GradeItem) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"error": refused.code, "sentence": refused.sentence}, status=409)
    messages.warning(request, refused.sentence)
    return redirect("judging:drawing", item.code)


@judge_required
@require_POST
def undo(request: UserRequest, code: str) -> HttpResponse:
    seat = _seat(request, code)
    step = request.POST.get("step", "")
    try:
        item = undo_grade(seat=seat, judge=request.user, step=int(step) if step.isdecimal() and len(step) < 9 else -1)
    except RefusedError as refused:
        messages.warning(request, refused.sentence)
        return redirect("judging:grades", code)
    if item is None:
        return redirect("judging:grades", code)
    messages.success(request, "Taken back.")
    if request.POST.get("go") == "align":
        return redirect("judging:align", code, item.stage)
    return redirect("judging:drawing", item.code)


@judge_required
@require_POST
def report(request: UserRequest, item: str) -> HttpResponse:
    own = _item(request, item)
    reason = request.POST.get("reason", "")
    if reason not in Report.Reason.values:
        messages.warning(request, "Choose a reason, then report again.")
        return redirect("judging:drawing", item)
    try:
        report_item(judge=request.user, code=item, reason=reason, note=request.POST.get("note", "").strip()[:500])
    except RefusedError as refused:
        return _refuse(request, refused, own)
    messages.success(request, "Reported. Curators will look at it.")
    return redirect("judging:grades", own.seat.run.code)


@judge_required
@require_GET
def align(request: UserRequest, code: str, stage: str) -> HttpResponse:
    """One stage of the judge's own grades side by side, to be made even."""
    seat = _seat(request, code)
    if seat.run.judging_state != Run.Judging.OPEN:
        return redirect("judging:grades", code)
    chosen = next((known for known in rubric_of(code).stages if known.key == stage), None)
    if chosen is None:
        raise Http404
    return render(request, "judging/grade_align.html", grade_pages.align_context(seat, chosen))


@judge_required
@require_GET
def picture(request: UserRequest, item: str) -> HttpResponse:
    """The drawing behind one of the judge's own items."""
    own = _item(request, item)
    if not showable(own.seat).filter(pk=own.pk).exists():
        raise Http404
    return picture_response(own.sample)


@curator_required
@never_cache
@require_GET
def overview(request: UserRequest, code: str) -> HttpResponse:
    """How far each judge has come, and what they reported."""
    run = _graded_run(request, code)
    context = {
        **_figures(run),
        "rules": rules_of(code).judging,
        "files": ("grades",),
        "rubric": rubric_of(code),
        "drawings": run.samples.judgeable().count(),
    }
    return render(request, "judging/grade_overview.html", context)


def _graded_run(request: UserRequest, code: str) -> Run:
    run = get_object_or_404(Run.objects.curated_by(request.user).defer("config"), code=code)
    if NAME not in run.protocols:
        raise Http404
    return run


def _figures(run: Run) -> dict[str, object]:
    graded = list(GradeSheet.objects.filter(seat__run=run).values_list("graded", flat=True))
    reports = GradeItem.objects.filter(seat__run=run, decision="").exclude(reported_at=None)
    return {
        "run": run,
        "judges": grade_pages.judge_progress(run, rubric_of(run.code)),
        "graded": sum(graded),
        "graders": sum(count > 0 for count in graded),
        "reports": reports.select_related("seat", "sample__prompt").defer("sample__raw", "sample__answer"),
    }


@curator_required
@never_cache
@require_GET
def figures(request: UserRequest, code: str) -> HttpResponse:
    return render(request, "judging/_grade_figures.html", _figures(_graded_run(request, code)))


@curator_required
@require_POST
def decide(request: UserRequest, code: str, item: str) -> HttpResponse:
    reported = get_object_or_404(
        GradeItem.objects.select_related("seat__run"), seat__run=_graded_run(request, code), code=item
    )
    exclude = request.POST.get("decision") == "exclude"
    try:
        if decide_item(item=reported, exclude=exclude, by=request.user, reason=reason_of(request)):
            messages.success(request, "The drawing is out of judging." if exclude else "The report is dismissed.")
        else:
            messages.info(request, "Nothing changed.")
    except RunError as error:
        messages.error(request, str(error))
    return redirect("judging:grade_overview", code)
