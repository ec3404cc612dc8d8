"""Addresses to become a judge, and to get a new password."""

from __future__ import annotations

from django.urls import path

from judging.views import accounts as account_views

urlpatterns = [
    path("join/<str:token>/", account_views.join, name="join"),
    path("reset/<uidb64>/<token>/", account_views.ResetView.as_view(), name="password_reset_confirm"),
    path("password/confirm/", account_views.confirm_password, name="confirm_password"),
]
