"""Addresses to become a judge, log in, and look after a password."""

from __future__ import annotations

from django.contrib.auth import views as auth
from django.urls import path, reverse_lazy

from judging.views import accounts as account_views

urlpatterns = [
    path("join/<str:token>/", account_views.join, name="join"),
    path("login/", account_views.LoginView.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path(
        "password/",
        auth.PasswordChangeView.as_view(
            template_name="judging/password.html", success_url=reverse_lazy("password_done")
        ),
        name="password_change",
    ),
    path(
        "password/done/",
        auth.PasswordChangeDoneView.as_view(template_name="judging/password_done.html"),
        name="password_done",
    ),
    path("reset/<uidb64>/<token>/", account_views.ResetView.as_view(), name="password_reset_confirm"),
    path("password/confirm/", account_views.confirm_password, name="confirm_password"),
]
