"""Addresses of participants, and of curators about studies."""

from __future__ import annotations

from django.urls import path, re_path

from judging.studies.platforms.views import platform_event
from judging.studies.practice.views import practice_picture
from judging.studies.views import claiming, curators, own_data
from judging.studies.views.door import door
from judging.studies.views.steps import step

urlpatterns = [
    path("study/<slug:code>/", door, name="study_door"),
    path("study/<slug:code>/step/", step, name="study_step"),
    re_path(
        r"^study/(?P<code>[-\w]+)/practice/(?P<number>\d{1,2})/(?P<side>left|right)/$",
        practice_picture,
        name="practice_picture",
    ),
    path("study/<slug:code>/data/", own_data.own_data, name="study_data"),
    path("study/<slug:code>/account/", claiming.claim, name="study_account"),
    path("platform/events/", platform_event, name="platform_event"),
    path("runs/<slug:code>/studies/", curators.studies, name="studies"),
    path("runs/<slug:code>/studies/new/", curators.write, name="new_study"),
    path("runs/<slug:code>/studies/<slug:study>/", curators.overview, name="study"),
    path("runs/<slug:code>/studies/<slug:study>/edit/", curators.write, name="edit_study"),
    re_path(
        r"^runs/(?P<code>[-\w]+)/studies/(?P<study>[-\w]+)/(?P<file>participants\.jsonl|(?:participants|codebook|payments|approve|bonus|screen_out)\.csv)$",
        curators.download,
        name="study_download",
    ),
    path(
        "runs/<slug:code>/studies/<slug:study>/participants/<slug:participant>/erase/",
        curators.erase,
        name="erase_participant",
    ),
    path("runs/<slug:code>/studies/<slug:study>/returns/", curators.mark_returned, name="study_returns"),
    path("runs/<slug:code>/studies/<slug:study>/preview/<slug:place>/", curators.preview, name="preview_study"),
    path("runs/<slug:code>/studies/<slug:study>/<slug:verb>/", curators.set_state, name="set_study_state"),
]
