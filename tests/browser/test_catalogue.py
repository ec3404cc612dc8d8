"""Models are searched in the provider's catalogue while one types."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from generation.models import Run
from tests.generation.views.test_catalogue import router  # noqa: F401  # a fixture

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_ticked_stays_through_the_next_search_and_joins_the_run(
    page,
    live_server,
    log_in,
    curator,
    look,
    router,  # noqa: F811
):
    log_in(curator)
    page.goto(f"{live_server.url}/suites/ascii/start/")
    for box in page.locator("[name=models]").all():
        box.uncheck()
    page.get_by_label("More models").fill("vision")
    page.get_by_label("Drawer 2 Vision").check()
    page.get_by_label("More models").fill("cubist")

    expect(page.get_by_label("Cubist (free)")).to_be_visible()
    expect(page.get_by_label("Drawer 2 Vision")).to_be_checked()
    expect(page.locator("#bound")).to_contain_text("With 1 model and")
    if folder := os.environ.get("LOOK"):
        page.screenshot(path=f"{folder}/start.png", full_page=True)
        page.set_viewport_size({"width": 390, "height": 844})
        page.screenshot(path=f"{folder}/start-phone.png", full_page=True)
        page.set_viewport_size({"width": 1280, "height": 720})
    assert look() == []
    page.get_by_label("Budget in US$").fill("5")
    page.get_by_role("button", name="Start drawing").click()
    expect(page.get_by_role("heading", name="ASCII")).to_be_visible()
    assert [model.model_id for model in Run.objects.get().models.all()] == ["acme/drawer-2-vision"]
