"""Forms about logging in."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User

from benchsite.sessions import has_provider_roles


class LoginForm(AuthenticationForm):
    """Name and password. Whoever has a role from the provider logs in there, so that it can take the role back."""

    def confirm_login_allowed(self, user: User) -> None:
        super().confirm_login_allowed(user)
        if User.objects.filter(has_provider_roles(), pk=user.pk).exists():
            raise forms.ValidationError(
                f"This account has its role from {settings.OIDC_NAME}. Log in with {settings.OIDC_NAME}."
            )


class AdminLoginForm(AdminAuthenticationForm, LoginForm):
    """The same on the admin's own page."""


class LinkForm(forms.Form):
    username = forms.CharField(max_length=150, label="Name")
    password = forms.CharField(widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}), label="Password")


class PasswordForm(forms.Form):
    password = forms.CharField(widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}), label="Password")


class CodeForm(forms.Form):
    """A code of an authenticator app, or a recovery code."""

    code = forms.CharField(
        max_length=40,
        label="Code",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )


class EmergencyForm(forms.Form):
    code = forms.CharField(max_length=400, label="Code", widget=forms.TextInput(attrs={"autocomplete": "off"}))
