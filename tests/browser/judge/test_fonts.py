"""The judge's page loads the fonts that its drawings need, and no more, before it takes a vote."""

from __future__ import annotations

import pytest
from django.conf import settings
from playwright.sync_api import expect

from generation.models import Sample
from tests.browser.pages.test_face import PAGE_BYTES, loaded_bytes
from tests.browser.test_judge import ready

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_waiting")]
LOADED = """[...new Set(performance.getEntriesByType("resource").map((entry) => entry.name.split("/").at(-1))
  .filter((name) => name.endsWith(".woff2")).map((name) => name.split(".")[0]))].sort()"""
PLAIN = ["courier-prime-latin", "dejavu-sans-mono-latin", "fira-code-latin"]


def test_plain_drawings_and_the_key_caps_need_the_small_files_only(page, judge_url):
    page.goto(judge_url.rpartition("/judge/")[0] + "/judge/")
    page.get_by_text("How it works").click()
    expect(page.locator("kbd", has_text="←").first).to_be_visible()
    page.evaluate("document.fonts.ready.then(() => null)")
    assert set(page.evaluate(LOADED)) <= set(PLAIN)

    page.goto(judge_url)
    ready(page)
    assert page.evaluate(LOADED) == PLAIN
    page.keyboard.press("?")
    page.evaluate("document.fonts.ready.then(() => null)")

    assert page.evaluate(LOADED) == PLAIN


def test_voting_waits_for_the_symbols_of_a_drawing(page, judge_url, two_frames):
    Sample.objects.update(drawing="☃ ♥\n(_)")
    held = []
    page.route("**/dejavu-sans-mono-symbols*", lambda route: held.append(route))
    with page.expect_request("**/dejavu-sans-mono-symbols*"):
        page.goto(judge_url, wait_until="domcontentloaded")
    expect(page.locator("main.scripted")).to_be_visible()
    page.wait_for_function("document.fonts.check('16px \"Courier New\"') && document.fonts.check('16px \"Fira Code\"')")
    two_frames()
    expect(page.locator("button[value=left]")).to_be_disabled()

    for route in held:
        route.continue_()

    ready(page)
    assert page.evaluate("document.fonts.check('16px Consolas', '☃')")


def test_a_pair_that_needs_every_font_file_is_light(page, judge_url):
    Sample.objects.update(drawing="Łódź Ωж ∑≈ ☃♥ ╔═╗\n(_)")
    page.goto(judge_url)
    ready(page)
    files = {path.stem for path in (settings.BASE_DIR / "static" / "fonts").glob("*.woff2")}

    assert set(page.evaluate(LOADED)) == files
    assert sum(loaded_bytes(page).values()) < PAGE_BYTES


def test_pictures_need_no_font(page, picture_url):
    page.goto(picture_url)
    ready(page)

    assert not set(page.evaluate(LOADED)) & {"courier-prime-latin", "fira-code-latin"}
