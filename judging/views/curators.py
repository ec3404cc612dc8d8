"""Pages of a curator about judging, whatever the protocol: open and close, invitations, judges' weights."""

from __future__ import annotations

import csv

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required, within_teams
from benchsite.lib.files import attachment
from benchsite.lib.reasons import reason_of
from benchsite.lib.text import csv_cell
from generation.models import Run
from generation.runs.errors import RunError
from judging.curating import runs as curating
from judging.curating.invitations import create_invitations, revoke_invitation
from judging.curating.reset_links import make_reset_link, vouch_for
from judging.models import Invitation, Seat
from judging.views.forms import InviteForm, WeighForm


def _run(request: UserRequest, code: str) -> Run:
    return get_object_or_404(Run.objects.of_drawings().curated_by(request.user).defer("config"), code=code)


@curator_required
@require_POST
def set_state(request: UserRequest, code: str, verb: str) -> HttpResponse:
    run = _run(request, code)
    if verb not in curating.STATES:
        raise Http404
    try:
        curating.set_judging(run=run, verb=verb, by=request.user, reason=reason_of(request))
    except RunError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Judging is {run.get_judging_state_display()}.")
    return redirect("judging:overview", code)


@curator_required
@never_cache
@require_http_methods(["GET", "POST"])
def invitations(request: UserRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    form = InviteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = create_invitations(run=run, by=request.user, **form.cleaned_data)
        messages.success(
            request,
            f"{len(made)} new link{'' if len(made) == 1 else 's'}. Send each to one person, or download the list.",
        )
        return redirect("judging:invitations", code)
    links = [(invitation, _link(request, invitation)) for invitation in run.invitations.all()[:500]]
    return render(request, "judging/invitations.html", {"run": run, "form": form, "links": links})


def _link(request: UserRequest, invitation: Invitation) -> str:
    return request.build_absolute_uri(reverse("join", args=[invitation.token]))


@curator_required
@never_cache
@require_GET
def invitations_csv(request: UserRequest, code: str) -> HttpResponse:
    run = _run(request, code)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = attachment(f"invitations-{run.code}.csv")
    table = csv.writer(response)
    table.writerow(["for", "link", "state", "uses", "max_uses", "quota", "expires_at"])
    for row in run.invitations.all():
        cells = [
            row.label,
            _link(request, row),
            row.state,
            row.uses,
            row.max_uses,
            row.quota,
            row.expires_at.isoformat(),
        ]
        table.writerow([csv_cell(cell) if isinstance(cell, str) else cell for cell in cells])
    return response


@curator_required
@require_POST
def revoke(request: UserRequest, code: str, pk: int) -> HttpResponse:
    invitation = get_object_or_404(Invitation.objects.select_related("run"), run=_run(request, code), pk=pk)
    revoke_invitation(invitation=invitation, by=request.user, reason=reason_of(request))
    messages.success(request, "The link no longer works.")
    return redirect("judging:invitations", code)


@curator_required
@require_POST
def weigh(request: UserRequest, code: str, pk: int) -> HttpResponse:
    seat = get_object_or_404(Seat.objects.select_related("run"), run=_run(request, code), pk=pk)
    form = WeighForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing changed: the weight is a number from 0 to 1, and below 1 it needs a reason.")
        return redirect("judging:overview", code)
    try:
        curating.weigh_judge(seat=seat, by=request.user, **form.cleaned_data)
    except RunError as error:
        messages.error(request, str(error))
    else:
        effect = {0.0: "is set aside", 1.0: "counts fully"}.get(seat.weight, f"counts {seat.weight:g} of a vote")
        messages.success(request, f"{seat} {effect}. The ranking will update.")
    return redirect("judging:overview", code)


@curator_required
@never_cache
@require_POST
def reset_link(request: UserRequest, code: str, pk: int) -> HttpResponse:
    """A link for a judge who lost the password; staff are helped by a superuser in the admin, not here."""
    run = _run(request, code)
    judge = get_object_or_404(User, seats__run=run, seats__pk=pk, is_staff=False, is_superuser=False)
    if not settings.LOCAL_PASSWORDS:
        messages.error(request, f"This site does not use passwords: {judge} logs in with {settings.OIDC_NAME}.")
        return redirect("judging:overview", code)
    if judge.seats.count() != judge.seats.filter(within_teams(request.user, "run")).count():
        messages.error(request, f"{judge} also judges for another team. Ask an administrator for a new password.")
        return redirect("judging:overview", code)
    link = request.build_absolute_uri(make_reset_link(judge=judge, run=run, by=request.user))
    return render(request, "judging/reset_link.html", {"link": link, "judge": judge, "code": code})


@curator_required
@require_POST
def vouch(request: UserRequest, code: str, pk: int) -> HttpResponse:
    """For a judge who used another curator's link and has no browser left from before it."""
    judge = get_object_or_404(User, seats__run=_run(request, code), seats__pk=pk)
    try:
        vouch_for(judge=judge, by=request.user, reason=reason_of(request))
    except RunError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Confirmed. What {judge} judged is no longer marked.")
    return redirect("judging:overview", code)
