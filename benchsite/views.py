"""The public front: home, suites, about the numbers; and what a load balancer asks."""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django_rq import get_connection
from redis.exceptions import RedisError

from benchsite.front import demo_runs_are_coming, live_numbers, shown_runs
from generation.config import Suite, load_suites
from ranking.pages import overview

SHOWN = 12  # runs on the home page; the rest are under Leaderboards


def good_suites() -> list[Suite]:
    return [suite for suite in load_suites(settings.SUITES_DIR) if isinstance(suite, Suite)]


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    runs = list(shown_runs(request.user)[:SHOWN])
    context = {
        "lines": overview(runs, request.user),
        "demo_runs": not runs and demo_runs_are_coming(),
        "numbers": live_numbers(),
        "suites": good_suites(),
    }
    return render(request, "site/home.html", context)


@require_safe
def suite(request: HttpRequest, slug: str) -> HttpResponse:
    found = next((suite for suite in good_suites() if suite.slug == slug), None)
    if found is None:
        raise Http404
    prompts = {category.key: [p for p in found.prompts if p.category == category.key] for category in found.categories}
    context = {
        "suite": found,
        "groups": [(category, prompts[category.key]) for category in found.categories] or [(None, found.prompts)],
        "runs": shown_runs(request.user).filter(suite=slug),
    }
    return render(request, "site/suite.html", context)


@require_safe
def numbers(request: HttpRequest) -> HttpResponse:
    return render(request, "site/numbers.html")


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database and the queue answer too."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        get_connection("draw").ping()
    except (RedisError, OSError) as error:
        return HttpResponse(f"queue: {type(error).__name__}\n", status=503, content_type="text/plain")
    except Exception as error:  # any database driver's own error class
        return HttpResponse(f"database: {type(error).__name__}\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")
