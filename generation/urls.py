"""Pages for curators: suites, runs, samples."""

from __future__ import annotations

from django.urls import path

from generation import views

app_name = "generation"

run_urls = [  # /runs/<code>/
    path("runs/<slug:code>/", views.run, name="run"),
    path("runs/<slug:code>/progress/", views.progress, name="progress"),
    path("runs/<slug:code>/cancel/", views.cancel, name="cancel"),
    path("runs/<slug:code>/extend/", views.extend, name="extend"),
    path("runs/<slug:code>/import/", views.import_file, name="import"),
    path("runs/<slug:code>/import/programs/", views.import_program_file, name="import_programs"),
    path("runs/<slug:code>/samples/", views.samples, name="samples"),
    path("runs/<slug:code>/samples.jsonl", views.download_samples, name="download"),
    path("runs/<slug:code>/do/<slug:verb>/", views.act, name="act"),
]
sample_urls = [  # /samples/<code>/
    path("samples/<slug:code>/", views.sample, name="sample"),
    path("samples/<slug:code>/picture/", views.picture, name="picture"),
]
urlpatterns = [
    path("runs/", views.runs, name="runs"),
    path("suites/<slug:slug>/start/", views.start, name="start"),
    path("suites/<slug:slug>/check/", views.check, name="check"),
    *run_urls,
    *sample_urls,
]
