"""Pages where an invitation makes somebody a judge, and where a curator's link gives a new password."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from axes.utils import reset
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchsite.lib.access import UserRequest
from generation.models import Run
from generation.protocols import load
from judging.curating.invitations import GuestError, UsedUpError, accept_invitation, is_guest, sign_up
from judging.curating.reset_links import confirm_links, note_new_password
from judging.models import Invitation, Seat
from judging.rules import rules_of
from judging.views.forms import SignUpForm
from judging.views.known_browsers import known_since, remember_browser


def _keep_path(view: Callable[..., Any]) -> Callable[..., Any]:
    """The page's address is a secret: no other request names it. The site's own name stays, for the CSRF check."""

    @wraps(view)
    def kept(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response["Referrer-Policy"] = "strict-origin"
        return response

    return kept


@never_cache
@_keep_path
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation: a new judge chooses a name and a password, one who is logged in just accepts."""
    invitation = get_object_or_404(Invitation.objects.select_related("run"), token=token)
    mine = request.user.is_authenticated and Seat.objects.filter(run=invitation.run, judge=request.user).exists()
    if mine:
        return redirect("judging:judge", invitation.run.code)
    if request.user.is_authenticated and is_guest(request.user):
        return _refuse_guest(request)
    if invitation.state != "open":
        return render(request, "judging/join_closed.html", {"invitation": invitation}, status=410)
    new = not request.user.is_authenticated
    form = SignUpForm(request.POST or None) if new and settings.LOCAL_PASSWORDS else None
    if request.method == "POST" and new and form is None:
        return redirect_to_login(request.get_full_path())
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            return _let_in(request, invitation, form)
        except UsedUpError:
            return render(request, "judging/join_closed.html", {"invitation": invitation}, status=410)
        except GuestError:
            return _refuse_guest(request)
        except IntegrityError:
            if form is None:
                raise
            form.add_error("name", _("That name was taken a moment ago. Choose another."))
    rules = rules_of(invitation.run.code).judging
    return render(request, "judging/join.html", {"form": form, "run": invitation.run, "rules": rules})


def _refuse_guest(request: HttpRequest) -> HttpResponse:
    return render(request, "judging/join_guest.html", status=403)


def _let_in(request: HttpRequest, invitation: Invitation, form: SignUpForm | None) -> HttpResponse:
    if form is None:
        seat = accept_invitation(invitation=invitation, judge=cast(User, request.user))  # nobody else gets no form
    else:
        seat = sign_up(invitation=invitation, **form.cleaned_data)
        login(request, seat.judge, backend="django.contrib.auth.backends.ModelBackend")
    if invitation.run.judging_state == Run.Judging.OPEN:
        for entry in invitation.run.judged_by:
            if entry.on_join:
                load(entry.on_join)(seat.pk)
        response = redirect("judging:judge", invitation.run.code)
    else:
        messages.info(request, _("You are in. Judging of this run is not open at the moment; you will find it here."))
        response = redirect("judging:home")
    remember_browser(request, response, cast(User, seat.judge))
    return response


@method_decorator(_keep_path, name="dispatch")
class ResetView(auth.PasswordResetConfirmView):
    """A curator's link: who chose a new password is in at once, whatever was tried with the old one and from where."""

    template_name = "judging/reset.html"
    success_url = reverse_lazy("judging:home")
    post_reset_login = True
    post_reset_login_backend = "django.contrib.auth.backends.ModelBackend"

    def setup(self, request: HttpRequest, *args: object, **kwargs: object) -> None:
        """The first look at its user clears a session that a new password has ended: before the link is kept in it."""
        if not settings.LOCAL_PASSWORDS:
            raise Http404
        super().setup(request, *args, **kwargs)
        bool(request.user.is_authenticated)

    @transaction.atomic
    def form_valid(self, form: SetPasswordForm) -> HttpResponse:
        reset(username=form.user.get_username())
        note_new_password(judge=form.user)
        messages.success(self.request, "Your new password is set.")
        return super().form_valid(form)


@login_required
@never_cache
@require_POST
def confirm_password(request: UserRequest) -> HttpResponse:
    """The judge says that a curator's link was used by nobody else."""
    if confirm_links(judge=request.user, known_since=known_since(request, request.user)):
        messages.success(request, "Confirmed. Your votes are no longer marked.")
    else:
        messages.error(request, "Nothing was confirmed: this browser was not yours before the link was made.")
    return redirect("judging:home")
