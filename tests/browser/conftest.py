"""A real Chromium against a real server; every test here watches for script errors and broken content policy."""

from __future__ import annotations

import os

import pytest

from tests.services import find_chromium

FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"

# Playwright keeps an event loop in the test's thread; the database calls of these tests are plain and sequential.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {**browser_type_launch_args, "executable_path": find_chromium(), "args": FLAGS.split()}


@pytest.fixture
def complaints(page):
    """What the browser complained about: uncaught errors, refused content, failed loads."""
    found = []
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    return found


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
    """The accessibility rules a page breaks, as (rule, where)."""
    from axe_playwright_python.sync_playwright import Axe

    def violations():
        found = Axe().run(page).response["violations"]
        return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found]

    return violations
