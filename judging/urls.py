"""Addresses of judges, and of curators about judging."""

from __future__ import annotations

from django.urls import path, re_path

from judging.views import curators as curator_views
from judging.views import grades as grading_views
from judging.views import imports as import_views
from judging.views import pairs as views

app_name = "judging"

judge_urls = [  # /judge/
    path("judge/", views.home, name="home"),
    path("judge/vote/", views.vote, name="vote"),
    path("judge/undo/", views.undo, name="undo"),
    path("judge/report/", views.report, name="report"),
    re_path(r"^judge/pair/(?P<code>[a-z0-9]{12})/(?P<side>left|right)/$", views.picture, name="picture"),
    path("judge/<slug:code>/", views.judge, name="judge"),
    path("judge/<slug:code>/start/", views.start, name="start"),
    path("judge/<slug:code>/history/", views.history, name="history"),
]
grade_urls = [  # /judge/
    re_path(r"^judge/drawing/(?P<item>[a-z0-9]{12})/$", grading_views.drawing, name="drawing"),
    re_path(r"^judge/drawing/(?P<item>[a-z0-9]{12})/picture/$", grading_views.picture, name="drawing_picture"),
    re_path(r"^judge/drawing/(?P<item>[a-z0-9]{12})/save/$", grading_views.save, name="save_grades"),
    re_path(r"^judge/drawing/(?P<item>[a-z0-9]{12})/report/$", grading_views.report, name="report_drawing"),
    path("judge/<slug:code>/grades/", grading_views.grades, name="grades"),
    path("judge/<slug:code>/grades/start/", grading_views.start, name="start_grading"),
    path("judge/<slug:code>/grades/undo/", grading_views.undo, name="undo_grade"),
    path("judge/<slug:code>/grades/align/<slug:stage>/", grading_views.align, name="align"),
]
curator_urls = [  # /runs/<code>/
    path("runs/<slug:code>/judging/", curator_views.overview, name="overview"),
    path("runs/<slug:code>/judging/figures/", curator_views.figures, name="figures"),
    path("runs/<slug:code>/grading/figures/", grading_views.figures, name="grade_figures"),
    path("runs/<slug:code>/grading/", grading_views.overview, name="grade_overview"),
    path("runs/<slug:code>/grading/reports/<slug:item>/", grading_views.decide, name="decide_item"),
    path("runs/<slug:code>/judging/<slug:verb>/", curator_views.set_state, name="set_state"),
    path("runs/import/votes/", import_views.import_run_of_votes, name="import_run_of_votes"),
    path("runs/<slug:code>/import/votes/", import_views.import_vote_file, name="import_votes"),
    path("runs/<slug:code>/invitations/", curator_views.invitations, name="invitations"),
    path("runs/<slug:code>/invitations.csv", curator_views.invitations_csv, name="invitations_csv"),
    path("runs/<slug:code>/invitations/<int:pk>/revoke/", curator_views.revoke, name="revoke"),
    path("runs/<slug:code>/judges/<int:pk>/weight/", curator_views.weigh, name="weigh"),
    path("runs/<slug:code>/judges/<int:pk>/reset/", curator_views.reset_link, name="reset_link"),
    path("runs/<slug:code>/reports/<int:pk>/", curator_views.decide, name="decide"),
]
urlpatterns = [*judge_urls, *grade_urls, *curator_urls]
