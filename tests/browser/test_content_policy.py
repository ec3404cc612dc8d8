"""Every page of the site in Chromium as a superuser sees it, the admin included: no page breaks the content policy."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse

from tests.admin_rows import make_rows
from tests.test_security_urls import address, admin_rows, world  # noqa: F401 (the same cast as in the matrix)
from tests.url_roles import ADDRESSES

pytestmark = pytest.mark.django_db(transaction=True)

# Not pages: pictures, downloads, and what only machines ask.
NO_PAGE = (
    "picture",
    "download",
    "chart",
    "archive",
    "csv",
    "levels",
    "level",
    "favicon",
    "metrics",
    "readyz",
    "healthz",
    "drawing_picture",
)
WATCH = "window.broken = []; document.addEventListener('securitypolicyviolation', e => window.broken.push(e.blockedURI + ' ' + e.violatedDirective + ' ' + e.sample));"


def is_page(name: str) -> bool:
    """The admin's histories are all one page of Django's."""
    bare = name.partition(" ")[0]
    return not bare.endswith((*NO_PAGE, "_history")) and bare != "ranking:drawing"


def visit(page, live_server, rows, world, role: int) -> tuple[int, list]:  # noqa: F811
    """How many pages were opened, and what the browser refused on them."""
    opened, refused = 0, []
    for name, row in rows.items():
        url = address(name, row, world)
        if url is None or row.get.split()[role] != "200" or not is_page(name):
            continue
        response = page.goto(live_server.url + url)
        assert response.status == 200, (name, url)
        refused += [(name, said) for said in page.evaluate("window.broken")]
        opened += 1
    return opened, refused


@pytest.mark.parametrize(("role", "number"), [("anonymous", 0), ("judge", 1), ("superuser", 4)])
def test_no_page_breaks_the_content_policy(page, live_server, log_in, world, complaints, role, number):  # noqa: F811
    if world["users"][role]:
        log_in(world["users"][role])
    page.add_init_script(WATCH)

    opened, refused = visit(page, live_server, {**ADDRESSES, **(admin_rows() if number == 4 else {})}, world, number)

    assert opened > 5
    assert refused == []
    assert complaints == []


def test_the_page_that_asks_why_breaks_nothing_either(page, live_server, log_in, complaints):
    root = User.objects.create_superuser("root")
    make_rows(root)
    log_in(root)
    page.add_init_script(WATCH)
    page.goto(live_server.url + reverse("admin:generation_sample_changelist"))

    page.locator(".action-select").first.check()
    page.get_by_label("Action:").select_option("exclude_samples")
    page.get_by_role("button", name="Go").click()

    assert page.get_by_label("Why").is_visible()
    assert page.evaluate("window.broken") == []
    assert complaints == []
    assert len(admin.site._registry) > 20
