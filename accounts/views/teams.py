"""Teams: who is in them, and to which one a run belongs."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.teams import add_member, create_team, move_run, remove_member
from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.reasons import LONGEST_REASON
from benchsite.lib.text import visible
from generation.models import Run, Team, teams_of
from generation.runs.errors import RunError
from judging.curating.invitations import ANALYSTS


class TeamForm(forms.Form):
    name = forms.CharField(max_length=80, label="Name")


class MemberForm(forms.Form):
    """Curators and analysts alone: judges are invited to a run."""

    member = forms.CharField(max_length=150, label="Username", help_text="A curator or an analyst.")

    def clean_member(self) -> User:
        name = self.cleaned_data["member"]
        person = User.objects.filter(username__iexact=name, is_active=True).first()
        if person is None:
            raise forms.ValidationError(visible(f"There is no account called {name}."))
        if not person.is_staff and not person.groups.filter(name=ANALYSTS).exists():
            raise forms.ValidationError(f"{person} is neither a curator nor an analyst. Judges are invited to a run.")
        return person


class MoveForm(forms.Form):
    team = forms.ModelChoiceField(Team.objects.none(), to_field_name="code", required=False, empty_label="no team")
    reason = forms.CharField(max_length=LONGEST_REASON, label="Why", help_text="Kept in the log.")

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.ModelChoiceField, self.fields["team"]).queryset = teams_of(user)


def _of_superuser(request: UserRequest) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied


@curator_required
@require_http_methods(["GET", "POST"])
def teams(request: UserRequest) -> HttpResponse:
    form = TeamForm(request.POST or None)
    if request.method == "POST":
        _of_superuser(request)
        if form.is_valid():
            try:
                return redirect("team", create_team(name=form.cleaned_data["name"], by=request.user).code)
            except RunError as error:
                form.add_error("name", str(error))
    drawings = Count("runs", filter=Q(runs__judged_run=None), distinct=True)
    rows = teams_of(request.user).annotate(people=Count("members", distinct=True), run_count=drawings)
    return render(request, "accounts/teams.html", {"teams": rows, "form": form})


@curator_required
@require_http_methods(["GET", "POST"])
def team(request: UserRequest, code: str) -> HttpResponse:
    shown = get_object_or_404(teams_of(request.user), code=code)
    form = MemberForm(request.POST or None)
    if request.method == "POST":
        _of_superuser(request)
        if form.is_valid():
            person = form.cleaned_data["member"]
            added = add_member(shown, user=person, by=request.user)
            messages.success(request, f"{person} is in the team." if added else f"{person} was in the team already.")
            return redirect("team", code)
    runs = shown.runs.of_drawings().defer("config")
    context = {"team": shown, "form": form, "members": shown.members.order_by("username"), "runs": runs}
    return render(request, "accounts/team.html", context)


@curator_required
@require_POST
def leave_team(request: UserRequest, code: str, pk: int) -> HttpResponse:
    _of_superuser(request)
    shown = get_object_or_404(Team, code=code)
    person = get_object_or_404(User, pk=pk)
    if remove_member(shown, user=person, by=request.user):
        messages.success(request, f"{person} is no longer in the team.")
    return redirect("team", code)


@curator_required
@require_http_methods(["GET", "POST"])
def run_team(request: UserRequest, code: str) -> HttpResponse:
    """Move a run to another of one's teams; where that is none, every curator works on it."""
    run = get_object_or_404(Run.objects.of_drawings().curated_by(request.user).select_related("team"), code=code)
    initial = {"team": run.team.code if run.team else None}
    form = MoveForm(request.user, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        team = form.cleaned_data["team"]
        if move_run(run, team=team, by=request.user, reason=form.cleaned_data["reason"]):
            messages.success(request, f"The run belongs to {team} now." if team else "The run belongs to no team now.")
        return redirect("generation:run", code)
    return render(request, "accounts/run_team.html", {"run": run, "form": form})
