"""Addresses of judges who grade, and of curators about it."""

from __future__ import annotations

from django.urls import path, re_path

from judging.grades import views

judge_urls = [
    re_path(r"^judge/drawing/(?P<item>[a-z0-9]{12})/$", views.drawing, name="drawing"),
    re_path(r"^judge/drawing/(?P<item>[a-z0-9]{12})/picture/$", views.picture, name="drawing_picture"),
    re_path(r"^judge/drawing/(?P<item>[a-z0-9]{12})/save/$", views.save, name="save_grades"),
    re_path(r"^judge/drawing/(?P<item>[a-z0-9]{12})/report/$", views.report, name="report_drawing"),
    path("judge/<slug:code>/grades/", views.grades, name="grades"),
    path("judge/<slug:code>/grades/start/", views.start, name="start_grading"),
    path("judge/<slug:code>/grades/undo/", views.undo, name="undo_grade"),
    path("judge/<slug:code>/grades/align/<slug:stage>/", views.align, name="align"),
]
curator_urls = [
    path("runs/<slug:code>/grading/figures/", views.figures, name="grade_figures"),
    path("runs/<slug:code>/grading/", views.overview, name="grade_overview"),
    path("runs/<slug:code>/grading/reports/<slug:item>/", views.decide, name="decide_item"),
]
urlpatterns = [*judge_urls, *curator_urls]
