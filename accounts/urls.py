"""Addresses to log in and out, and to look after one's login."""

from __future__ import annotations

from django.contrib.auth import views as auth
from django.urls import path

from accounts.views import analysts, logins, single_sign_on, teams, two_factor

urlpatterns = [
    path("login/", logins.LoginView.as_view(), name="login"),
    path("logout/", logins.LogoutView.as_view(), name="logout"),
    path("login/code/", two_factor.second_factor_page, name="second_factor"),
    path("login/emergency/", logins.emergency, name="emergency_login"),
    path("login/provider/", single_sign_on.StartView.as_view(), name="single_sign_on"),
    path("login/provider/back/", single_sign_on.back, name="single_sign_on_back"),
    path("login/provider/new/", single_sign_on.new, name="single_sign_on_new"),
    path("password/", logins.PasswordView.as_view(), name="password_change"),
    path(
        "password/done/",
        auth.PasswordChangeDoneView.as_view(template_name="judging/password_done.html"),
        name="password_done",
    ),
    path("account/link/", single_sign_on.link, name="link_login"),
    path("account/unlink/", single_sign_on.unlink, name="unlink_login"),
    path("teams/", teams.teams, name="teams"),
    path("teams/<str:code>/", teams.team, name="team"),
    path("teams/<str:code>/remove/<int:pk>/", teams.leave_team, name="leave_team"),
    path("runs/<str:code>/team/", teams.run_team, name="run_team"),
    path("account/token/", analysts.own_token, name="own_token"),
    path("account/two-factor/", two_factor.two_factor, name="two_factor"),
    path("account/two-factor/codes/", two_factor.renew_codes, name="renew_recovery_codes"),
    path("account/two-factor/off/", two_factor.turn_off, name="turn_off_two_factor"),
]
