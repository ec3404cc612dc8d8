"""Forms about logging in."""

from __future__ import annotations

from django import forms


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
