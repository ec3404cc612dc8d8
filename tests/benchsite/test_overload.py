"""Requests that hang: the last thread stays free, and says so instead of hanging too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Semaphore

import pytest
from django.http import HttpResponse
from django.template.loader import render_to_string

from benchsite.refusals import keep_a_thread


@pytest.fixture
def release():
    return Event()


@pytest.fixture
def stuck(settings, rf, release):
    """A process of four threads, three of which hang until the test ends; asks it for a path with the fourth."""
    settings.WEB_THREADS, settings.STUCK_SECONDS = 4, 0
    arrived = Semaphore(0)

    def view(request):
        if request.path == "/hangs":
            arrived.release()
            release.wait()
        return HttpResponse("fine")

    handle = keep_a_thread(view)
    with ThreadPoolExecutor(3) as threads:
        for _ in range(3):
            threads.submit(handle, rf.get("/hangs"))
            arrived.acquire()
        yield lambda path: handle(rf.get(path))
        release.set()


def test_the_last_thread_answers_at_once_that_it_is_busy(stuck):
    response = stuck("/")

    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert b"waiting for its database" in response.content


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_health_is_asked_all_the_same(stuck, path):
    assert stuck(path).content == b"fine"


def test_the_last_thread_takes_nothing_that_could_hang_too(stuck, settings):
    """Else four requests that come at once would take all threads before any of them is known to hang."""
    settings.STUCK_SECONDS = 0.1

    assert stuck("/hangs").status_code == 503


def test_a_request_waits_for_one_of_the_others_to_end(stuck, release, settings):
    settings.STUCK_SECONDS = 3600
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(stuck, "/")
        release.set()

        assert waiting.result().content == b"fine"


def test_a_request_that_fails_frees_its_place(settings, rf):
    settings.WEB_THREADS, settings.STUCK_SECONDS = 2, 0

    def view(request):
        raise ValueError

    handle = keep_a_thread(view)

    for _ in range(3):
        with pytest.raises(ValueError):
            handle(rf.get("/"))


def test_error_pages_need_neither_the_database_nor_the_list_of_hashed_files(settings):
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": "nowhere.Storage"}}

    for name in ("500.html", "503.html"):
        assert f'href="{settings.STATIC_URL}css/site.css"' in render_to_string(name)
