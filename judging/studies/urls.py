"""Addresses of participants, and of curators about studies."""

from __future__ import annotations

from django.urls import path, re_path

from judging.studies import claiming, curator_views, data_views, views
from judging.studies.platforms.views import platform_event
from judging.studies.practice.views import practice_picture

urlpatterns = [
    path("study/<slug:code>/", views.door, name="study_door"),
    path("study/<slug:code>/step/", views.step, name="study_step"),
    re_path(
        r"^study/(?P<code>[-\w]+)/practice/(?P<number>\d{1,2})/(?P<side>left|right)/$",
        practice_picture,
        name="practice_picture",
    ),
    path("study/<slug:code>/data/", data_views.own_data, name="study_data"),
    path("study/<slug:code>/account/", claiming.claim, name="study_account"),
    path("platform/events/", platform_event, name="platform_event"),
    path("runs/<slug:code>/studies/", curator_views.studies, name="studies"),
    path("runs/<slug:code>/studies/new/", curator_views.write, name="new_study"),
    path("runs/<slug:code>/studies/<slug:study>/", curator_views.overview, name="study"),
    path("runs/<slug:code>/studies/<slug:study>/edit/", curator_views.write, name="edit_study"),
    re_path(
        r"^runs/(?P<code>[-\w]+)/studies/(?P<study>[-\w]+)/(?P<file>participants\.jsonl|(?:participants|codebook|payments|approve|bonus|screen_out)\.csv)$",
        curator_views.download,
        name="study_download",
    ),
    path(
        "runs/<slug:code>/studies/<slug:study>/participants/<slug:participant>/erase/",
        curator_views.erase,
        name="erase_participant",
    ),
    path("runs/<slug:code>/studies/<slug:study>/returns/", curator_views.mark_returned, name="study_returns"),
    path("runs/<slug:code>/studies/<slug:study>/preview/<slug:place>/", curator_views.preview, name="preview_study"),
    path("runs/<slug:code>/studies/<slug:study>/<slug:verb>/", curator_views.set_state, name="set_study_state"),
]
