"""Every page of the site in Chromium, the admin included: none breaks the content policy or a rule of accessibility.

Each is looked at on a desk in the light and on a phone in the dark; in the admin, whose lists and forms have the same colours
whatever they show, the contrast is measured on one page of each kind.
"""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.timezone import now
from playwright.sync_api import expect

from generation.models import Run
from judging.curating.reset_links import reset_path
from judging.models import Invitation
from tests.browser.conftest import DESK
from tests.judging.make import make_run, make_seat
from tests.site.admin.rows import make_rows
from tests.site.url_roles import ADDRESSES, ADMIN
from tests.site.url_world import address, admin_rows

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

# Not pages: pictures, downloads, and what only machines ask.
NO_PAGE = (
    "api_openapi",
    "picture",
    "download",
    "chart",
    "archive",
    "csv",
    "gallery:file",
    "thumbnail",
    "generation:catalogue",
    "judging:card",
    "ranking:drawing",
    "levels",
    "level",
    "favicon",
    "metrics",
    "readyz",
    "healthz",
    "drawing_picture",
    "progress",
    "figures",
    "jsi18n",
)
ASKED = (
    ("generation_sample", "exclude_samples", "Why"),
    ("generation_run", "publish_runs", "Why"),
    ("judging_seat", "exclude_judges", "Why"),
    ("auth_user", "delete_selected", "Are you sure"),
)
WATCH = "window.broken = []; document.addEventListener('securitypolicyviolation', e => window.broken.push(e.blockedURI + ' ' + e.violatedDirective + ' ' + e.sample));"


@pytest.fixture(autouse=True)
def watched(page):
    page.add_init_script(WATCH)


@pytest.fixture
def wrongs(page, live_server, look):
    """What the browser refused on a page and which rules it breaks; on the page at a path, or on the one that is open."""

    def faults_of(path: str = "", status: int = 200, *, contrast: bool = True) -> list:
        if path:
            assert page.goto(live_server.url + path).status == status, path
        return [(page.url, fault) for fault in [*page.evaluate("window.broken"), *look(contrast=contrast)]]

    return faults_of


def pages_of(role: int, world: dict) -> dict[str, str]:
    """Each page that a role may open, once: what it shows of a private run, else of a published one, else of a closed one."""
    addresses = {}
    for name, row in {**ADDRESSES, **admin_rows()}.items():
        bare = name.partition(" ")[0]
        if row.get.split()[role] == "200" and not bare.endswith((*NO_PAGE, "_history")):  # all one page of Django's
            addresses.setdefault(bare, address(name, row, world))
    return addresses


def kind_of(name: str) -> str:
    """Of pages of the admin: a list, a form and so on, whatever the table."""
    return name.rpartition("_")[2] if name.startswith("admin:") and name not in ADMIN else name


DRAWN = ("admin:generation_sample_changelist", "admin:generation_sample_change")  # lists with drawings, too
PARTS = 6  # of the pages of a superuser, so that several browsers have some to look at
VISITS = [("anonymous", 0, 1, 0), ("judge", 1, 1, 0), *(("superuser", 4, PARTS, part) for part in range(PARTS))]


@pytest.mark.parametrize(("role", "number", "parts", "part"), VISITS)
def test_no_page_breaks_a_rule(log_in, world, wrongs, role, number, parts, part):
    if world["users"][role]:
        log_in(world["users"][role])
    pages = pages_of(number, world)
    measured = {*{kind_of(name): name for name in pages}.values(), *DRAWN}

    chosen = list(pages.items())[part::parts]
    refused = [faults for name, path in chosen for faults in wrongs(path, contrast=name in measured)]

    assert len(chosen) > 15
    assert refused == []


def test_no_page_that_asks_before_it_acts_breaks_a_rule(page, live_server, log_in, wrongs):
    root = User.objects.create_superuser("root")
    User.objects.create_user("aaron")  # the first of the users, and one who did nothing that must be kept
    make_rows(root)
    log_in(root)
    for table, action, says in ASKED:
        page.set_viewport_size(DESK)
        page.goto(live_server.url + reverse(f"admin:{table}_changelist"))
        page.locator(".action-select").first.check()
        page.get_by_label("Action:").select_option(action)
        page.get_by_role("button", name="Go").click()

        expect(page.get_by_text(says).first).to_be_visible()
        assert wrongs() == []
    assert len(admin.site._registry) > 20


@pytest.mark.provokes("the server responded with a status of 4")
def test_no_page_that_refuses_breaks_a_rule(page, live_server, log_in, world, wrongs, settings):
    """Wrong address, locked login, used invitation, closed gallery, hidden leaderboard, a curator's page."""
    settings.AXES_FAILURE_LIMIT = 1
    Invitation.objects.update(revoked_at=now())

    faults = wrongs("/nothing/", 404)
    faults += wrongs(reverse("join", args=[world["token"]]), 410)
    faults += wrongs(reverse("gallery:gallery", args=[world["published"]]), 403)
    faults += wrongs(reset_path(world["users"]["judge"]))
    expect(page.get_by_label("New password").first).to_be_visible()
    page.goto(f"{live_server.url}/login/")
    page.get_by_label("Username").fill("bob")
    page.get_by_label("Password").fill("a guess")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("Too many attempts")).to_be_visible()
    faults += wrongs()
    log_in(world["users"]["other judge"])
    faults += wrongs(reverse("ranking:leaderboard", args=[world["published"]]), 403)
    faults += wrongs(reverse("generation:runs"), 403)

    assert faults == []


def test_no_page_of_a_run_that_rests_breaks_a_rule(log_in, world, wrongs):
    """Judging not begun, paused, closed; nothing on the screen yet; a leaderboard without votes."""
    judge, other = world["users"]["judge"], world["users"]["other judge"]
    log_in(judge)
    faults = []
    for state in ("not_open", "paused", "closed"):
        Run.objects.update(judging_state=state)
        faults += wrongs(reverse("judging:judge", args=[world["run"]]))
        faults += wrongs(reverse("judging:drawing", args=[world["item"]]))
    fresh = make_run(entrants=2, prompts=1, attempts=1)
    make_seat(fresh, judge.username)
    faults += wrongs(reverse("judging:judge", args=[fresh.code]))
    Run.objects.filter(pk=fresh.pk).update(visibility="published")
    log_in(other)
    faults += wrongs(reverse("ranking:leaderboard", args=[fresh.code]))

    assert faults == []


def test_no_page_behind_a_button_breaks_a_rule(page, live_server, log_in, world, wrongs):
    log_in(world["users"]["curator"])

    page.goto(live_server.url + reverse("generation:start", args=["ascii"]))
    page.get_by_role("button", name="Check keys, models and prices").click()
    page.wait_for_url("**/check/")
    faults = wrongs()
    page.goto(live_server.url + reverse("judging:overview", args=[world["run"]]))
    page.get_by_text("Manage").first.click()
    page.get_by_role("button", name="Create password link").first.click()
    page.wait_for_url("**/reset/")
    faults += wrongs()

    assert faults == []
