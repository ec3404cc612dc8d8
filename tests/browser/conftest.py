"""A real Chromium against a real server; every test here fails at a script error or at content that its policy refuses.

A test that provokes such an error says which, by `@pytest.mark.provokes("part of what the browser says")`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from threading import Condition
from urllib.parse import urlsplit

import pytest
from django.core.signals import request_finished, request_started
from playwright.sync_api import expect

from generation.models import Sample
from judging.pairs.serving import take_seat
from tests.judging.make import make_run, make_seat
from tests.services import CHROMIUM_FLAGS, find_chromium

# What else axe would list takes longer than the rules, and the style sheets it would load again are our own.
ONLY_VIOLATIONS = {"resultTypes": ["violations"], "preload": False}
DESK, PHONE = {"width": 1280, "height": 720}, {"width": 360, "height": 740}

CIRCLE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 99 99"><circle cx="50" cy="50" r="{}"/></svg>'

# Whatever of a hostile page tries to act does so through one of these.
SPY = """
window.acted = [];
for (const name of ["alert", "confirm", "prompt", "open", "print"]) window[name] = () => window.acted.push(name);
"""

# A page that is waited for comes as late as a busy machine lets it; Playwright's own five seconds are a guess about speed.
expect.set_options(timeout=30_000)

# Playwright keeps an event loop in the test's thread; the database calls of these tests are plain and sequential.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {**browser_type_launch_args, "executable_path": find_chromium(), "args": CHROMIUM_FLAGS.split()}


@pytest.fixture
def answered(live_server):
    """What a page asked for last is answered before the tables are emptied: the two could wait for each other for ever."""
    under_way, changed = [], Condition()

    def begin(**about):
        with changed:
            under_way.append(1)

    def end(**about):
        with changed:
            del under_way[:1]
            changed.notify()

    request_started.connect(begin)
    request_finished.connect(end)
    yield
    with changed:
        changed.wait_for(lambda: not under_way, timeout=30)
    request_started.disconnect(begin)
    request_finished.disconnect(end)


@pytest.fixture(autouse=True)
def complaints(request, answered, context):
    """What the browser complains about on any page of the test: uncaught errors, refused content, failed loads."""
    faults = []
    context.on("weberror", lambda message: faults.append(str(message.error)))
    context.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    yield
    provoked = [part for mark in request.node.iter_markers("provokes") for part in mark.args]
    assert [message for message in faults if not any(part in message for part in provoked)] == []


@pytest.fixture
def two_frames(page):
    """Waits until the page was drawn twice: what its scripts began at once has happened."""
    return lambda: page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


@pytest.fixture
def log_in(page, live_server, client):
    """Logs a user in by cookie: the login page has tests of its own."""

    def enter(user):
        client.force_login(user)
        page.context.add_cookies(
            [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
        )

    return enter


@pytest.fixture
def axe(page):
    """The accessibility rules a page breaks, as (rule, where); all rules, those that are named, or all but one."""
    from axe_playwright_python.base import AXE_SCRIPT

    def violations(*rules, but=""):
        page.wait_for_load_state()  # a click returns as soon as the next page has begun
        if page.evaluate("typeof axe") == "undefined":
            page.evaluate(AXE_SCRIPT)
        options = ONLY_VIOLATIONS | ({"runOnly": rules} if rules else {})
        options |= {"rules": {but: {"enabled": False}}} if but else {}
        result = page.evaluate("async options => (await axe.run(options)).violations", options)
        return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in result]

    return violations


@pytest.fixture
def look(page, axe):
    """What is wrong with a page: rules it breaks on a desk by day, its contrast at night and its width on a phone.

    Contrast takes most of the time; where a page has the colours of another, it is enough to look at that one's.
    """
    page.emulate_media(reduced_motion="reduce")  # the colours of the night are there at once

    def wrong(*, contrast=True):
        page.set_viewport_size(DESK)
        page.emulate_media(color_scheme="light")
        violations = axe(but="" if contrast else "color-contrast")
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="dark")
        width = page.evaluate("document.documentElement.scrollWidth")
        violations += axe("color-contrast") if contrast else []
        return violations + ([f"{width} px wide on a phone"] if width > PHONE["width"] else [])

    return wrong


@dataclass
class Watch:
    """What a page must not do: ask another host, open something, throw."""

    host: str
    elsewhere: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    def ask(self, request) -> None:
        if urlsplit(request.url).netloc != self.host:
            self.elsewhere.append(request.url)


@pytest.fixture
def watch(page, live_server):
    """Watches the page, and says at the end of the test what it saw."""
    seen = Watch(urlsplit(live_server.url).netloc)
    page.on("request", seen.ask)
    page.on("popup", lambda popup: seen.odd.append(f"popup {popup.url}"))
    page.on("pageerror", lambda error: seen.odd.append(str(error)))
    page.on("dialog", lambda dialog: (seen.odd.append(dialog.message), dialog.dismiss()))
    page.add_init_script(SPY)
    yield seen
    assert (seen.elsewhere, seen.odd) == ([], [])


@pytest.fixture
def picture_url(live_server, log_in):
    """The page of a judge of pictures."""
    run = make_run(entrants=4, prompts=6, format="svg")
    for sample in Sample.objects.all():
        Sample.objects.filter(pk=sample.pk).update(drawing=CIRCLE.format(sample.pk % 50 + 1))
    seat = make_seat(run, "alice", quota=40)
    take_seat(seat.pk)
    log_in(seat.judge)
    return f"{live_server.url}/judge/{run.code}/"
