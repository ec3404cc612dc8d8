"""Leaderboards, what lies under them, and their downloads."""

from __future__ import annotations

from django.urls import path

from ranking import archive_views, views

app_name = "ranking"

run_urls = [  # /runs/<code>/
    path("runs/<slug:code>/archive.zip", archive_views.download_archive, name="archive"),
    path("runs/<slug:code>/leaderboard.<str:form>", views.download, name="download"),
    path("runs/<slug:code>/leaderboard/", views.leaderboard, name="leaderboard"),
    path("runs/<slug:code>/leaderboard/judges/", views.judges, name="judges"),
    path("runs/<slug:code>/leaderboard/history/", views.history, name="history"),
    path("runs/<slug:code>/leaderboard/versus/", views.versus, name="versus"),
    path("runs/<slug:code>/leaderboard/charts/<slug:name>.<str:form>", views.chart, name="chart"),
    path("runs/<slug:code>/leaderboard/counting/", views.count, name="count"),
    path("runs/<slug:code>/leaderboard/publish/", views.publish, name="publish"),
    path("runs/<slug:code>/leaderboard/fits/<slug:fit>/", views.past, name="past"),
    path("runs/<slug:code>/leaderboard/<slug:protocol>/", views.leaderboard, name="protocol"),
    path("runs/<slug:code>/entrants/<slug:entrant>/", views.entrant, name="entrant"),
    path("runs/<slug:code>/drawings/<slug:sample>/", views.drawing, name="drawing"),
]
urlpatterns = [
    path("leaderboards/", views.leaderboards, name="leaderboards"),
    path("leaderboards/<slug:code>/", views.publication, name="publication"),
    *run_urls,
]
