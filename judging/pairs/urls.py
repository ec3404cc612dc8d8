"""Addresses of judges who compare pairs, and of curators about it."""

from __future__ import annotations

from django.urls import path, re_path

from judging.pairs import curator_views, views
from judging.views import imports as import_views
from judging.views import own_answers

judge_urls = [
    path("judge/vote/", views.vote, name="vote"),
    path("judge/skip/", views.skip, name="skip"),
    path("judge/undo/", views.undo, name="undo"),
    path("judge/report/", views.report, name="report"),
    re_path(r"^judge/pair/(?P<code>[a-z0-9]{12})/(?P<side>left|right)/$", views.picture, name="picture"),
    path("judge/<slug:code>/", views.judge, name="judge"),
    path("judge/<slug:code>/start/", views.start, name="start"),
    path("judge/<slug:code>/history/", own_answers.history, name="history"),
    path("judge/<slug:code>/done/", own_answers.done, name="done"),
    path("judge/<slug:code>/card.svg", own_answers.share_card, name="card"),
]
curator_urls = [
    path("runs/<slug:code>/judging/", curator_views.overview, name="overview"),
    path("runs/<slug:code>/judging/figures/", curator_views.figures, name="figures"),
    path("runs/<slug:code>/judging/pairs/", curator_views.choose_pairs, name="choose_pairs"),
    path("runs/<slug:code>/reports/<int:pk>/", curator_views.decide, name="decide"),
    path("runs/import/votes/", import_views.import_run_of_votes, name="import_run_of_votes"),
    path("runs/<slug:code>/import/votes/", import_views.import_vote_file, name="import_votes"),
]
urlpatterns = [*judge_urls, *curator_urls]
