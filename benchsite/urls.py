"""Every address of the site, app by app."""

from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from benchsite.front import views
from benchsite.operations import health, metrics_views
from ranking.urls import gallery_urls

urlpatterns = [
    path(
        "", include("judging.urls")
    ),  # first, because votes are most of the requests, and addresses are tried in order
    path("", views.home, name="home"),
    path("drawings/", views.drawings, name="drawings"),
    path("suites/", views.suites, name="suites"),
    path("suites/<slug:slug>/", views.suite, name="suite"),
    path("runs/<slug:code>/suite/", views.run_suite, name="run_suite"),
    path("about/numbers/", views.numbers, name="numbers"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics_views.metrics, name="metrics"),
    path("", include("generation.urls")),
    path("", include((gallery_urls, "gallery"))),
    path("", include("ranking.urls")),
    path("favicon.ico", RedirectView.as_view(url=f"/{settings.STATIC_URL.strip('/')}/icon.svg")),
    path("", include("judging.account_urls")),
    path("", include("accounts.urls")),
    path("admin/", admin.site.urls),
]
