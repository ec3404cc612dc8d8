"""The planner calculates while one types, and without script leads to a page of its own."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.judging.make import make_run

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_plan_follows_what_is_typed(page, live_server, log_in, curator, look):
    log_in(curator)
    page.goto(f"{live_server.url}/suites/ascii/start/")
    page.get_by_label("Judges", exact=True).fill("3")
    page.get_by_label("Votes by each judge").fill("70")

    expect(page.get_by_text("210 votes take about")).to_be_visible()
    page.get_by_label("Judges", exact=True).fill("0")
    expect(page.get_by_text("There is no plan for these numbers")).to_be_visible()
    page.get_by_label("Judges", exact=True).fill("1")
    expect(page.get_by_text("holds for that judge only")).to_be_visible()
    assert look() == []


def test_a_plan_on_the_judging_page_works_without_script(browser, live_server, client, curator):
    run = make_run(entrants=3, prompts=4)
    client.force_login(curator)
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}/runs/{run.code}/judging/")
    page.get_by_label("Judges", exact=True).fill("7")
    page.get_by_role("button", name="Calculate").click()

    expect(page.get_by_role("heading", name="Plan a study")).to_be_visible()
    expect(page.get_by_text("700 votes take about")).to_be_visible()
    expect(page.get_by_label("Models or programs")).to_have_value("3")
    context.close()
