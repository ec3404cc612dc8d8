"""Every address of the site, app by app."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from benchsite import views

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("", include("generation.urls")),
    path("admin/", admin.site.urls),
]
