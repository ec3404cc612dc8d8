"""The second factor: giving a code at the login, and turning it on and off on one's own page."""

from __future__ import annotations

import segno
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts import second_factor
from accounts.forms import CodeForm
from accounts.models import Authenticator
from benchsite.lib.access import UserRequest, curator_required
from benchsite.sessions import SECOND_FACTOR, session_account
from judging.views.known_browsers import remember_browser

NEXT, PENDING = "second_factor_next", "second_factor_secret"
LOCKED = "Too many wrong codes. Try again in 15 minutes, or ask the operator to reset your second factor."


@sensitive_post_parameters("code")
@never_cache
@require_http_methods(["GET", "POST"])
def second_factor_page(request: HttpRequest) -> HttpResponse:
    """After the password: the code of the app, or a recovery code."""
    user = session_account(request)
    if request.session.get(SECOND_FACTOR) != "due" or not isinstance(user, User):
        return redirect("login")
    if not Authenticator.objects.filter(user=user).exists():
        return redirect("two_factor")
    form = CodeForm(request.POST or None)
    if form.is_valid():
        try:
            if second_factor.check_code(user, form.cleaned_data["code"]):
                return _let_in(request, user)
            form.add_error("code", "That code is wrong, or was used already. Codes change every 30 seconds.")
        except second_factor.LockedError:
            form.add_error("code", LOCKED)
    return render(request, "accounts/second_factor.html", {"form": form})


def _let_in(request: HttpRequest, user: User) -> HttpResponse:
    target = request.session.pop(NEXT, "") or "generation:runs"
    second_factor.pass_session(request)
    response = redirect(target)
    remember_browser(request, response, user)
    return response


def _person(request: HttpRequest) -> User | None:
    """Who may look after a second factor: staff who passed it, or who must turn it on before anything else."""
    if request.user.is_authenticated:
        return request.user if request.user.is_staff else None
    user = session_account(request)
    if not isinstance(user, User) or not user.is_staff:
        return None
    return None if Authenticator.objects.filter(user=user).exists() else user


@sensitive_post_parameters("code")
@never_cache
@require_http_methods(["GET", "POST"])
def two_factor(request: HttpRequest) -> HttpResponse:
    """Turn it on: a QR code for the app, then the first code it shows; or how it stands."""
    person = _person(request)
    if person is None:
        if request.user.is_authenticated:
            raise PermissionDenied
        return redirect_to_login(request.get_full_path())
    authenticator = Authenticator.objects.filter(user=person).first()
    if authenticator is not None:
        left = authenticator.recovery_codes.filter(used_at=None).count()
        context = {"authenticator": authenticator, "left": left, "form": CodeForm(), "required": settings.REQUIRE_TOTP}
        return render(request, "accounts/two_factor.html", context)
    secret = second_factor.unseal(request.session.get(PENDING, "")) or second_factor.new_secret()
    form = CodeForm(request.POST or None)
    if form.is_valid():
        if codes := second_factor.enrol(person, secret=secret, code=form.cleaned_data["code"]):
            request.session.pop(PENDING, None)
            second_factor.pass_session(request)
            return _show_codes(request, codes)
        form.add_error("code", "That code is wrong. Check the clock of your phone, and try the next code.")
    request.session[PENDING] = second_factor.seal(secret)
    address = second_factor.setup_address(person, secret)
    picture = segno.make(address, error="m").svg_inline(scale=5, light="#fff")
    context = {"form": form, "secret": secret, "picture": mark_safe(picture), "required": settings.REQUIRE_TOTP}  # noqa: S308 - segno draws lines only
    return render(request, "accounts/enrol.html", context)


def _show_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    target = request.session.pop(NEXT, "")
    return render(request, "accounts/recovery_codes.html", {"codes": codes, "next": target})


def _checked(request: UserRequest) -> bool:
    """What weakens an account needs a code, not a session alone."""
    form = CodeForm(request.POST)
    try:
        if form.is_valid() and second_factor.check_code(request.user, form.cleaned_data["code"]):
            return True
        messages.error(request, "Nothing changed: that code is wrong, or was used already.")
    except second_factor.LockedError:
        messages.error(request, LOCKED)
    return False


@curator_required
@never_cache
@require_POST
def renew_codes(request: UserRequest) -> HttpResponse:
    if not _checked(request):
        return redirect("two_factor")
    return _show_codes(request, second_factor.renew_codes(request.user))


@curator_required
@require_POST
def turn_off(request: UserRequest) -> HttpResponse:
    if settings.REQUIRE_TOTP:
        messages.error(request, "Nothing changed: this site requires a second factor.")
    elif _checked(request):
        second_factor.remove(request.user, by=request.user, reason="turned off by its owner")
        messages.success(request, "The second factor is off.")
    return redirect("two_factor")
