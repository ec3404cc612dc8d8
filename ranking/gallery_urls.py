"""Galleries: drawings with names, and what they lost points for."""

from __future__ import annotations

from django.urls import path

from ranking.views import gallery as views

app_name = "gallery"

urlpatterns = [
    path("runs/<slug:code>/gallery/", views.gallery, name="gallery"),
    path("runs/<slug:code>/programs/<slug:entrant>/", views.program, name="program"),
    path("runs/<slug:code>/programs/<slug:entrant>/levels.zip", views.program_zip, name="levels"),
    path("gallery/<slug:code>/", views.sample, name="sample"),
    path("gallery/<slug:code>/picture/", views.picture, name="picture"),
    path("gallery/<slug:code>/level.xml", views.level, name="level"),
]
