"""Logging in at the identity provider: there, back, and what to do with somebody who is new. 404 where none is set up."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, cast

import structlog
from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils.decorators import method_decorator
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from mozilla_django_oidc.views import OIDCAuthenticationRequestView

from accounts.forms import LinkForm, PasswordForm
from accounts.identities import (
    Arrival,
    admit,
    create_account,
    identity_of,
    link_identity,
    note_arrival,
    unlink_identity,
)
from accounts.problems import PROBLEMS, LoginProblemError
from accounts.provider import TokenReader, discover
from accounts.second_factor import is_due, pass_session
from benchsite.lib.access import UserRequest
from benchsite.sessions import USUAL_BACKEND
from judging.models import Invitation
from judging.views.known_browsers import remember_browser

log = structlog.get_logger(__name__)
MINUTES_10 = 600
ARRIVAL, LINKING, ID_TOKEN = "sso_arrival", "sso_linking", "sso_id_token"


def single_sign_on(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """404 without a provider; a login that does not work gets a page that says why."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not settings.OIDC_ISSUER:
            raise Http404
        try:
            return view(request, *args, **kwargs)
        except LoginProblemError as error:
            return _explain(request, error)

    return guarded


def _explain(request: HttpRequest, error: LoginProblemError) -> HttpResponse:
    problem = PROBLEMS[error.key]
    log.warning("single_sign_on_failed", problem=error.key, detail=error.detail)
    if error.counts:
        user_login_failed.send(sender=__name__, credentials=_credentials(request), request=request)
    words = {part: text.format(name=settings.OIDC_NAME) for part, text in vars(problem).items() if part != "status"}
    context = {**words, "key": error.key}
    return render(request, "accounts/problem.html", context, status=problem.status)


def _credentials(request: HttpRequest) -> dict[str, str]:
    """The name under which a session's attempts are counted; nobody can make the session's key of it."""
    digest = hashlib.sha256((request.session.session_key or "").encode()).hexdigest()
    return {"username": f"single sign-on {digest[:24]}"}


@method_decorator([never_cache, single_sign_on], name="dispatch")
class StartView(OIDCAuthenticationRequestView):
    """Off to the provider, with a state, a nonce and a PKCE challenge that this session remembers."""

    def __init__(self, **kwargs: Any) -> None:
        super(OIDCAuthenticationRequestView, self).__init__(
            **kwargs
        )  # the library's own reads settings that are not there
        self.OIDC_RP_CLIENT_ID = settings.OIDC_CLIENT_ID

    @property
    def OIDC_OP_AUTH_ENDPOINT(self) -> str:
        return discover().authorization_endpoint

    @staticmethod
    def get_settings(attr: str, *default: Any) -> Any:
        ours = {"OIDC_RP_SCOPES": settings.OIDC_SCOPES, "OIDC_USE_PKCE": True}
        ours["OIDC_AUTHENTICATION_CALLBACK_URL"] = "single_sign_on_back"
        return ours.get(attr, default[0] if default else None)


@never_cache
@single_sign_on
@require_safe
def back(request: HttpRequest) -> HttpResponse:
    """From the provider, with a code or with a refusal."""
    if not AxesProxyHandler.is_allowed(request, _credentials(request)):
        return render(request, "judging/locked.html", status=429)
    begun = _take_state(request)
    if request.GET.get("error"):
        raise LoginProblemError("refused", request.GET["error"][:60])
    claims, id_token = TokenReader(discover()).read(
        code=request.GET.get("code", ""),
        verifier=begun["code_verifier"],
        nonce=begun["nonce"],
        redirect_uri=request.build_absolute_uri(reverse("single_sign_on_back")),
    )
    arrival = admit(claims, invited=_comes_invited(request))
    request.session[ID_TOKEN] = id_token
    if linking := _fresh(request.session.pop(LINKING, None)):
        return _link(request, arrival, linking)
    if identity := identity_of(arrival):
        return _let_in(request, note_arrival(identity, arrival))
    request.session[ARRIVAL] = {"value": arrival.as_dict(), "at": time.time()}
    return redirect("single_sign_on_new")


def _take_state(request: HttpRequest) -> dict[str, str]:
    """What this session remembers of the login that is coming back; each is taken once, and within ten minutes."""
    states = request.session.get("oidc_states", {})
    tried = "oidc_states" in request.session
    begun = states.pop(request.GET.get("state", ""), None)
    request.session.modified = True
    if not begun or time.time() - begun["added_on"] > MINUTES_10:
        raise LoginProblemError("state", counts=tried)
    return cast(dict[str, str], begun)


def _fresh(kept: dict[str, Any] | None) -> Any:
    return kept["value"] if kept and time.time() - kept["at"] <= MINUTES_10 else None


def _comes_invited(request: HttpRequest) -> bool:
    """On the way to an invitation that is open."""
    try:
        match = resolve((request.session.get("oidc_login_next") or "").partition("?")[0])
    except Resolver404:
        return False
    return match.url_name == "join" and Invitation.objects.usable().filter(token=match.kwargs["token"]).exists()


def _let_in(request: HttpRequest, user: User) -> HttpResponse:
    """As after a password, but two-factor is the provider's, and the session ends sooner: roles are asked for again then."""
    target, id_token = request.session.get("oidc_login_next"), request.session.get(ID_TOKEN)
    login(request, user, backend=USUAL_BACKEND)
    for name in ("oidc_login_next", "oidc_states", ARRIVAL):
        request.session.pop(name, None)
    request.session[ID_TOKEN] = id_token
    pass_session(request)
    # A moment, not a length: that would begin anew whenever something is kept in the session.
    request.session.set_expiry(now() + timedelta(hours=settings.OIDC_SESSION_HOURS))
    log.info("single_sign_on", user=user.pk)
    response = redirect(target or ("generation:runs" if user.is_staff else "judging:home"))
    remember_browser(request, response, user)
    return response


def _link(request: HttpRequest, arrival: Arrival, pk: int) -> HttpResponse:
    """The password of this account was given a moment ago, in this session, and it is still logged in."""
    if request.user.pk != pk:
        raise LoginProblemError("state", "linking")
    user = request.user
    identity = identity_of(arrival) or link_identity(
        user, arrival.issuer, arrival.subject, by=user, reason="own password"
    )
    if identity.user_id != pk:
        raise LoginProblemError("taken")
    messages.success(request, f"Linked. From now on you can log in with {settings.OIDC_NAME}.")
    request.session["oidc_login_next"] = reverse("password_change")
    return _let_in(request, note_arrival(identity, arrival))


@never_cache
@single_sign_on
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Somebody new: an account of their own, or the one they have here, after its password."""
    known = _fresh(request.session.get(ARRIVAL))
    if known is None:
        raise LoginProblemError("state")
    arrival = Arrival(**known)
    form = LinkForm(request.POST if "username" in request.POST else None)
    if request.method == "POST" and "username" not in request.POST:
        return _let_in(request, create_account(arrival))
    if form.is_valid():
        user = authenticate(request, **form.cleaned_data)
        if user is None:
            form.add_error(None, "No account has this name and password.")
        elif is_due(user):
            form.add_error(
                None, "This account has a second factor. Log in with it, then link it under your name above."
            )
        else:
            identity = link_identity(user, arrival.issuer, arrival.subject, by=user, reason="own password")
            return _let_in(request, note_arrival(identity, arrival))
    return render(request, "accounts/new.html", {"arrival": arrival, "form": form})


@login_required
@never_cache
@single_sign_on
@require_http_methods(["GET", "POST"])
def link(request: UserRequest) -> HttpResponse:
    """An account that is logged in: its password once more, then to the provider and back."""
    form = PasswordForm(request.POST or None)
    proven = False
    if form.is_valid():
        user = authenticate(request, username=request.user.get_username(), password=form.cleaned_data["password"])
        if user == request.user:
            request.session[LINKING] = {"value": user.pk, "at": time.time()}
            proven = True
        else:
            form.add_error("password", "That is not your password.")
    return render(request, "accounts/link.html", {"form": form, "proven": proven})


@login_required
@single_sign_on
@require_POST
def unlink(request: UserRequest) -> HttpResponse:
    """Only who can still log in with a password."""
    identity = request.user.identities.filter(issuer=settings.OIDC_ISSUER).first()
    if identity is None or not (settings.LOCAL_PASSWORDS and request.user.has_usable_password()):
        messages.error(request, "Nothing changed: without a password you could not log in any more.")
    else:
        unlink_identity(identity, by=request.user)
        messages.success(request, f"You can no longer log in with {settings.OIDC_NAME}.")
    return redirect("password_change")
