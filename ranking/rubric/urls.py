"""Addresses around a leaderboard of grades."""

from __future__ import annotations

from django.urls import path

from ranking.rubric import views

urlpatterns = [
    path("runs/<slug:code>/leaderboard/model-graders/", views.model_graders, name="model_graders"),
    path("runs/<slug:code>/import/grades/", views.import_grade_file, name="import_grades"),
]
