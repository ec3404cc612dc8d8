"""Leaderboards, their downloads, galleries, and the API; addresses of a protocol are in its room and come first."""

from __future__ import annotations

from django.urls import path

from generation.protocols import ranking_modules
from ranking.api.site import api_urls
from ranking.views import differences as difference_views
from ranking.views import files as file_views
from ranking.views import frontier as frontier_views
from ranking.views import gallery as gallery_views
from ranking.views import leaderboards as views
from ranking.views import planning as planning_views
from ranking.views import prompts as prompt_views
from ranking.views import share as share_views
from ranking.views import tokens as token_views
from ranking.views import webhooks as webhook_views

app_name = "ranking"

run_urls = [  # /runs/<code>/
    path("runs/import/archive/", file_views.import_archive, name="import_run"),
    path("runs/<slug:code>/archive.zip", file_views.download_archive, name="archive"),
    path("runs/<slug:code>/dataset/", file_views.publish_dataset, name="dataset"),
    path("runs/<slug:code>/leaderboard.png", share_views.share_picture, name="share_picture"),
    path("runs/<slug:code>/leaderboard.<str:form>", views.download, name="download"),
    path("runs/<slug:code>/leaderboard/", views.leaderboard, name="leaderboard"),
    path("runs/<slug:code>/leaderboard/counting/", views.count, name="count"),
    path("runs/<slug:code>/leaderboard/publish/", views.publish, name="publish"),
    path("runs/<slug:code>/leaderboard/fits/<slug:fit>/", views.past, name="past"),
    path("runs/<slug:code>/leaderboard/<slug:protocol>/frontier/", frontier_views.frontier, name="frontier"),
    path("runs/<slug:code>/leaderboard/<slug:protocol>/", views.leaderboard, name="protocol"),
    path("runs/<slug:code>/leaderboard/<slug:protocol>/differences/", difference_views.differences, name="differences"),
    path("runs/<slug:code>/entrants/<slug:entrant>/", views.entrant, name="entrant"),
    path("runs/<slug:code>/drawings/<slug:sample>/", views.drawing, name="drawing"),
]
urlpatterns = [
    *(route for urls in ranking_modules("urls") for route in urls.urlpatterns),
    path("plan/", planning_views.plan, name="plan"),
    path("runs/<slug:code>/dry-run/<slug:study>/", planning_views.study_dry_run, name="study_dry_run"),
    path("analysts/", token_views.tokens, name="tokens"),
    path("analysts/<slug:code>/revoke/", token_views.revoke, name="revoke_token"),
    path("runs/<slug:code>/webhooks/", webhook_views.webhooks, name="webhooks"),
    path("runs/<slug:code>/webhooks/<slug:webhook>/disable/", webhook_views.disable, name="disable_webhook"),
    *api_urls(),
    path("embed/<slug:code>/", share_views.embed, name="embed"),
    path("leaderboards/", views.leaderboards, name="leaderboards"),
    path("leaderboards/<slug:code>.png", share_views.publication_picture, name="publication_picture"),
    path("leaderboards/<slug:code>/", views.publication, name="publication"),
    *run_urls,
]
gallery_urls = [  # names of their own: gallery:sample
    path("runs/<slug:code>/gallery/", gallery_views.gallery, name="gallery"),
    path("runs/<slug:code>/prompts/", prompt_views.prompts, name="prompts"),
    path("runs/<slug:code>/prompts/<slug:prompt>/", prompt_views.prompt, name="prompt"),
    path("runs/<slug:code>/programs/<slug:entrant>/", gallery_views.program, name="program"),
    path("runs/<slug:code>/programs/<slug:entrant>/levels.zip", gallery_views.program_zip, name="levels"),
    path("gallery/<slug:code>/", gallery_views.sample, name="sample"),
    path("gallery/<slug:code>/share.png", gallery_views.share_picture, name="share_picture"),
    path("gallery/<slug:code>/<slug:key>/<int:side>.png", gallery_views.thumbnail_picture, name="thumbnail"),
    path("gallery/<slug:code>/<slug:key>/picture/", gallery_views.picture, name="picture"),
    path("gallery/<slug:code>/picture/", gallery_views.picture, name="newest_picture"),
    path("gallery/<slug:code>/file/", gallery_views.file, name="file"),
    path("gallery/<slug:code>/level.xml", gallery_views.level, name="level"),
]
