"""Addresses around a leaderboard of votes."""

from __future__ import annotations

from django.urls import path

from ranking.pairwise import views
from ranking.pairwise.model_judges import views as model_judge_views

urlpatterns = [
    path("runs/<slug:code>/leaderboard/judges/", views.judges, name="judges"),
    path("runs/<slug:code>/leaderboard/groups/", views.groups, name="groups"),
    path("runs/<slug:code>/leaderboard/arena/<slug:verb>/", views.set_arena, name="set_arena"),
    path("runs/<slug:code>/leaderboard/model-judges/", views.model_judges, name="model_judges"),
    path("runs/<slug:code>/picked-pairs/", model_judge_views.picked_pairs, name="picked_pairs"),
    path("runs/<slug:code>/picked-pairs/end/", model_judge_views.end_picked, name="end_picked"),
    path("runs/<slug:code>/leaderboard/history/", views.history, name="history"),
    path("runs/<slug:code>/leaderboard/votes/", views.votes, name="votes"),
    path("runs/<slug:code>/leaderboard/versus/", views.versus, name="versus"),
    path("runs/<slug:code>/leaderboard/charts/<slug:name>.<str:form>", views.chart, name="chart"),
]
