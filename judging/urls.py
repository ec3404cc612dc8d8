"""Addresses of judges, and of curators about judging; those of a protocol are in its room and come first."""

from __future__ import annotations

from django.urls import path, re_path

from generation.protocols import judging_modules
from judging.gold import urls as gold
from judging.model_judges.grading import GRADES
from judging.model_judges.pairs import PAIRS
from judging.studies import urls as studies
from judging.views import curators, downloads, imports, judges, model_judges

app_name = "judging"

urlpatterns = [
    *(route for urls in judging_modules("urls") for route in urls.urlpatterns),
    *studies.urlpatterns,
    *gold.urlpatterns,
    path("judge/", judges.home, name="home"),
    path("judge/reference/<slug:code>/", judges.reference, name="reference"),
    re_path(
        r"^runs/(?P<code>[-\w]+)/judging/(?P<kind>votes|skips|grades)\.(?P<format>jsonl|csv)$",
        downloads.download,
        name="download",
    ),
    path("runs/<slug:code>/judging/<slug:verb>/", curators.set_state, name="set_state"),
    path("runs/<slug:code>/model-judges/", model_judges.model_judges, {"kind": PAIRS}, name="model_judges"),
    path("runs/<slug:code>/model-graders/", model_judges.model_judges, {"kind": GRADES}, name="model_graders"),
    path("runs/<slug:code>/import/model-votes/", imports.import_model_file, {"kind": PAIRS}, name="import_model_votes"),
    path(
        "runs/<slug:code>/import/model-grades/", imports.import_model_file, {"kind": GRADES}, name="import_model_grades"
    ),
    path("runs/<slug:code>/model-judges/<slug:judge>/more/", model_judges.ask_more, name="ask_more"),
    path("runs/<slug:code>/invitations/", curators.invitations, name="invitations"),
    path("runs/<slug:code>/invitations.csv", curators.invitations_csv, name="invitations_csv"),
    path("runs/<slug:code>/invitations/<int:pk>/revoke/", curators.revoke, name="revoke"),
    path("runs/<slug:code>/judges/<int:pk>/weight/", curators.weigh, name="weigh"),
    path("runs/<slug:code>/judges/<int:pk>/reset/", curators.reset_link, name="reset_link"),
    path("runs/<slug:code>/judges/<int:pk>/vouch/", curators.vouch, name="vouch"),
]
