"""Addresses of curators about checks."""

from __future__ import annotations

from django.urls import path, re_path

from judging.gold import views

urlpatterns = [
    path("runs/<slug:code>/checks/", views.checks, name="checks"),
    path("runs/<slug:code>/checks/rule/", views.set_rule, name="set_checks"),
    path("runs/<slug:code>/checks/make/", views.make, name="make_checks"),
    path("runs/<slug:code>/checks/choose/", views.choose, name="choose_check"),
    re_path(
        r"^runs/(?P<code>[-\w]+)/checks/(?P<file>checks\.jsonl|checks\.csv|codebook\.csv)$",
        views.download,
        name="checks_download",
    ),
    path("runs/<slug:code>/checks/<slug:gold>/retire/", views.retire, name="retire_check"),
    path("runs/<slug:code>/checks/<slug:gold>/picture/", views.picture, name="check_picture"),
]
