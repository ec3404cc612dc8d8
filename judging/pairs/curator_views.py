"""A curator's pages about pairs: coverage, progress and reports."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.reasons import reason_of
from generation.models import Run
from generation.protocols import load, protocol_of
from generation.runs.lifecycle import RunError
from judging.curating import runs as curating
from judging.curating.figures import coverage_map, hour_bars, judge_progress, shortfalls, votes_per_hour
from judging.gold.answering import blamed_side, failed_checks
from judging.models import Report
from judging.pairs import NAME
from judging.pairs.adaptive.figures import pairs_figures
from judging.pairs.adaptive.focus import set_pairs
from judging.pairs.epochs import newest_epoch
from judging.rules import rules_of


def _run(request: UserRequest, code: str) -> Run:
    return get_object_or_404(Run.objects.of_drawings().curated_by(request.user).defer("config"), code=code)


@curator_required
@never_cache
@require_GET
def overview(request: UserRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    if NAME not in run.protocols and run.judged_by:
        return redirect(run.judged_by[0].curator_page, code)
    context = {
        **_figures(run),
        "rules": rules_of(run.code).judging,
        "files": ("votes", "skips"),
        "epoch": newest_epoch(run),
        "shortfalls": shortfalls(run),
        "plan": load(entry.plan)(run) if (entry := protocol_of(run, NAME)) else "",
    }
    return render(request, "judging/overview.html", context)


def _figures(run: Run) -> dict[str, object]:
    hours = votes_per_hour(run)
    judges = judge_progress(run)
    return {
        "run": run,
        "coverage": coverage_map(run),
        "pairs": pairs_figures(run),
        "judges": judges,
        "checked": any(seat.gold_answered for seat, _ in judges),
        "failed": {seat.pk for seat, _ in judges if failed_checks(seat)},
        "hours": hours,
        "chart": hour_bars(hours),
        "votes": sum(seat.voted for seat, _ in judges),
        "voters": sum(seat.voted > 0 for seat, _ in judges),
        "reports": _reports(run),
    }


def _reports(run: Run) -> list[Report]:
    """Those about the run's drawings, each with the sides that it is about; what the site damaged itself is nobody's fault."""
    parts = ("prompt", "left_sample", "right_sample", "seat", "gold")
    undecided = Report.objects.filter(matchup__run=run, decided_at=None)
    rows = list(undecided.select_related(*(f"matchup__{name}" for name in parts)).defer("matchup__seat__plan"))
    for report in rows:
        report.side = blamed_side(report)
    return [report for report in rows if report.side]


@curator_required
@never_cache
@require_GET
def figures(request: UserRequest, code: str) -> HttpResponse:
    return render(request, "judging/_figures.html", _figures(_run(request, code)))


@curator_required
@require_POST
def choose_pairs(request: UserRequest, code: str) -> HttpResponse:
    adaptive = request.POST.get("pairs") == "adaptive"
    try:
        changed = set_pairs(run=_run(request, code), adaptive=adaptive, by=request.user, reason=reason_of(request))
    except RunError as error:
        messages.error(request, str(error))
    else:
        chosen = "adaptive" if adaptive else "balanced"
        messages.success(request, f"Pairs are {chosen} {'from now on' if changed else 'already'}.")
    return redirect("judging:overview", code)


@curator_required
@require_POST
def decide(request: UserRequest, code: str, pk: int) -> HttpResponse:
    report = get_object_or_404(Report.objects.select_related("matchup__run"), matchup__run=_run(request, code), pk=pk)
    exclude = request.POST.get("decision") == "exclude"
    try:
        if curating.decide_report(report=report, exclude=exclude, by=request.user, reason=reason_of(request)):
            messages.success(request, "The drawing is out of judging." if exclude else "The report is dismissed.")
        else:
            messages.info(request, "Nothing changed.")
    except RunError as error:
        messages.error(request, str(error))
    return redirect("judging:overview", code)
