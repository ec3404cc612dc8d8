"""The app of logins."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import admin_login, second_factor

        user_logged_in.connect(second_factor.mark_session, dispatch_uid="accounts.second_factor")
        admin_login.replace_admin_login()
