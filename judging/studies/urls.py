"""Addresses of participants, and of curators about studies."""

from __future__ import annotations

from django.urls import path

from judging.studies import curator_views, views

urlpatterns = [
    path("study/<slug:code>/", views.door, name="study_door"),
    path("study/<slug:code>/step/", views.step, name="study_step"),
    path("runs/<slug:code>/studies/", curator_views.studies, name="studies"),
    path("runs/<slug:code>/studies/new/", curator_views.write, name="new_study"),
    path("runs/<slug:code>/studies/<slug:study>/", curator_views.overview, name="study"),
    path("runs/<slug:code>/studies/<slug:study>/edit/", curator_views.write, name="edit_study"),
    path("runs/<slug:code>/studies/<slug:study>/returns/", curator_views.mark_returned, name="study_returns"),
    path("runs/<slug:code>/studies/<slug:study>/preview/<slug:place>/", curator_views.preview, name="preview_study"),
    path("runs/<slug:code>/studies/<slug:study>/<slug:verb>/", curator_views.set_state, name="set_study_state"),
]
