"""A study from right to left: every step in Arabic on a phone and at a desk, drawings and keys where they always are."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from tests.judging.make import make_run
from tests.judging.studies.make import make_study
from tests.judging.studies.test_languages import ARABIC

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_waiting")]


def test_an_arabic_study_runs_from_right_to_left_and_its_drawings_do_not(page, live_server, axe):
    study = make_study(make_run(), pairs=1, **ARABIC)
    faults, next_button = [], page.locator("button.primary")
    page.set_viewport_size({"width": 390, "height": 844})

    def look(name):
        faults.extend((name, fault) for fault in axe())
        if folder := os.environ.get("SHOTS"):
            page.screenshot(path=f"{folder}/ar-{name}-390.png")

    page.goto(f"{live_server.url}/study/{study.code}/?lang=ar")
    look("entry")
    next_button.click()
    look("consent")
    page.get_by_role("checkbox").check()
    next_button.click()
    next_button.click()
    look("profile")
    page.get_by_role("radio").nth(1).check()
    next_button.click()
    look("instructions")
    next_button.click()
    look("check")
    page.get_by_role("radio").first.check()
    next_button.click()
    expect(page.locator(".half")).to_have_count(2)
    look("judge")
    page.set_viewport_size({"width": 1440, "height": 900})
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/ar-judge-1440.png")
    places = [page.locator(f".half[data-side={side}]").bounding_box()["x"] for side in ("left", "right")]
    keys = [page.locator(f".keys [value={value}]").bounding_box()["x"] for value in ("left", "tie", "right", "fail")]
    page.locator(".keys [value=left]:not([aria-disabled])").wait_for()
    page.keyboard.press("a")
    page.wait_for_url(f"**/study/{study.code}/step/")
    look("end")

    assert page.locator("html").get_attribute("dir") == "rtl"
    assert places == sorted(places) and keys == sorted(keys)
    assert faults == []
