"""Addresses of judges, and of curators about judging."""

from __future__ import annotations

from django.urls import path, re_path

from judging import curator_views, views

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
curator_urls = [  # /runs/<code>/
    path("runs/<slug:code>/judging/", curator_views.overview, name="overview"),
    path("runs/<slug:code>/judging/<slug:verb>/", curator_views.set_state, name="set_state"),
    path("runs/<slug:code>/invitations/", curator_views.invitations, name="invitations"),
    path("runs/<slug:code>/invitations.csv", curator_views.invitations_csv, name="invitations_csv"),
    path("runs/<slug:code>/invitations/<int:pk>/revoke/", curator_views.revoke, name="revoke"),
    path("runs/<slug:code>/judges/<int:pk>/aside/", curator_views.set_aside, name="set_aside"),
    path("runs/<slug:code>/judges/<int:pk>/reset/", curator_views.reset_link, name="reset_link"),
    path("runs/<slug:code>/reports/<int:pk>/", curator_views.decide, name="decide"),
]
urlpatterns = [*judge_urls, *curator_urls]
