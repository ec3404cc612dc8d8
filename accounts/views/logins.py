"""Logging in and out, and the page of one's own password."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.emergency import user_of
from accounts.forms import EmergencyForm, LoginForm
from accounts.provider import logout_address
from accounts.roles import has_role
from accounts.second_factor import is_due, pass_session
from accounts.views.single_sign_on import ID_TOKEN
from accounts.views.two_factor import NEXT
from benchsite.sessions import SECOND_FACTOR, USUAL_BACKEND, session_account
from generation.models import Event
from judging.views.known_browsers import remember_browser


class LoginView(auth.LoginView):
    """Logging in leads to the work, unless it was asked for on the way to another page."""

    template_name = "judging/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Who has given the password is asked for the second factor, whatever page led here."""
        if request.session.get(SECOND_FACTOR) == "due" and session_account(request).is_authenticated:
            return self._ask_for_code()
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        share = {"title": "Log in to Benchsite", "description": "Judge drawings by language models, blind."}
        return super().get_context_data(share=share, **more)

    def get_default_redirect_url(self) -> str:
        return reverse("generation:runs" if cast(User, self.request.user).is_staff else "judging:home")

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """From here on the browser is known as the judge's own."""
        response = super().form_valid(form)
        if is_due(form.get_user()):
            return self._ask_for_code()
        remember_browser(self.request, response, form.get_user())
        return response

    def _ask_for_code(self) -> HttpResponse:
        self.request.session[NEXT] = self.get_redirect_url()
        return redirect("second_factor")


class LogoutView(auth.LogoutView):
    """Who logged in at the provider is logged out there, too.

    By a page that goes on there, not by a redirect: our content policy lets no form lead to another site.
    """

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        id_token = request.session.get(ID_TOKEN)
        response = super().post(request, *args, **kwargs)
        if not (id_token and settings.OIDC_ISSUER):
            return response
        address = logout_address(id_token=id_token, back=request.build_absolute_uri(reverse("home")))
        return render(request, "accounts/logged_out.html", {"address": address}) if address else response


class PasswordView(auth.PasswordChangeView):
    template_name = "accounts/password.html"
    success_url = reverse_lazy("password_done")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.LOCAL_PASSWORDS:
            return self.get(request, *args, **kwargs)
        return super().post(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        person = cast(User, self.request.user)
        linked = bool(settings.OIDC_ISSUER) and person.identities.filter(issuer=settings.OIDC_ISSUER).exists()
        return super().get_context_data(**kwargs) | {"linked": linked, "analyst": has_role(person, "analyst")}


@never_cache
@require_http_methods(["GET", "POST"])
def emergency(request: HttpRequest) -> HttpResponse:
    """An operator's code, on a site without passwords."""
    if settings.LOCAL_PASSWORDS:
        raise Http404
    form = EmergencyForm(request.POST or None)
    if form.is_valid():
        user = user_of(form.cleaned_data["code"])
        if user is not None:
            login(request, user, backend=USUAL_BACKEND)
            pass_session(request)
            Event.objects.create(actor=user, verb=Event.Verb.EMERGENCY_LOGIN, subject=user.username, reason="code used")
            return redirect("generation:runs" if user.is_staff else "judging:home")
        form.add_error("code", "This code is wrong, was used, or is older than ten minutes.")
    return render(request, "accounts/emergency.html", {"form": form})
