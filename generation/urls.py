"""Pages for curators: suites, runs, samples."""

from __future__ import annotations

from django.urls import path

from generation.views import costs as cost_views
from generation.views import descriptions as description_views
from generation.views import imports as import_views
from generation.views import runs as views
from generation.views import start as start_views

app_name = "generation"

run_urls = [  # /runs/<code>/
    path("runs/<slug:code>/", views.run, name="run"),
    path("runs/<slug:code>/progress/", views.progress, name="progress"),
    path("runs/<slug:code>/cancel/", views.cancel, name="cancel"),
    path("runs/<slug:code>/costs/", cost_views.costs, name="costs"),
    path("runs/<slug:code>/describe/", description_views.describe, name="describe"),
    path("runs/<slug:code>/measure/", views.measure, name="measure"),
    path("runs/<slug:code>/extend/", views.extend, name="extend"),
    path("runs/<slug:code>/import/", import_views.import_file, name="import"),
    path("runs/<slug:code>/import/programs/", import_views.import_program_file, name="import_programs"),
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
    path("runs/start/upload/", start_views.upload, name="upload"),
    path("runs/start/uploaded/", start_views.start_uploaded, name="start_uploaded"),
    path("suites/<slug:slug>/start/", start_views.start, name="start"),
    path("suites/<slug:slug>/models/", start_views.catalogue, name="catalogue"),
    path("suites/<slug:slug>/check/", start_views.check, name="check"),
    *run_urls,
    *sample_urls,
]
