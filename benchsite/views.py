"""The home page, and what a load balancer asks."""

from __future__ import annotations

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_rq import get_connection
from redis.exceptions import RedisError

from generation.models import Run


def home(request: HttpRequest) -> HttpResponse:
    runs = Run.objects.visible_to(request.user).exclude(visibility=Run.Visibility.ARCHIVED)
    return render(request, "home.html", {"runs": runs})


def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


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
