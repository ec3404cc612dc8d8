"""From invitation to first vote, and the curator's page, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from judging.models import Seat, Vote
from tests.judging.make import make_curator, make_run

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_invited_judge_votes_a_moment_later(browser, page, live_server, log_in, axe):
    run = make_run(entrants=3, prompts=4)
    log_in(make_curator())
    page.goto(f"{live_server.url}/runs/{run.code}/judging/")
    assert axe() == []
    page.get_by_role("link", name="Invite judges").first.click()
    page.get_by_role("button", name="Create links").click()
    link = page.get_by_label("Link 1").input_value()
    assert axe() == []

    stranger = browser.new_context().new_page()
    stranger.goto(link)
    stranger.get_by_label("Name").fill("dora")
    stranger.get_by_label("Password").fill("quite-a-good-one")
    stranger.get_by_role("button", name="Start judging").click()
    expect(stranger.locator("main.scripted button[value=left]")).to_be_enabled()
    stranger.keyboard.press("a")
    expect(stranger.locator("#count")).to_contain_text("1 judged")
    page.goto(f"{live_server.url}/runs/{run.code}/judging/")

    expect(page.get_by_text("1 vote by 1 judge")).to_be_visible()
    assert Vote.objects.get().seat == Seat.objects.get(judge__username="dora")
    stranger.context.close()


def test_on_the_coverage_map_long_names_can_be_told_apart(page, live_server, log_in, look):
    """Names often differ at their end, so none is cut off there."""
    run = make_run(entrants=6, prompts=2)
    for number, entrant in enumerate(run.entrants.all()):
        name = f"a-provider/{'long-' * 9}{number:04}"
        run.entrants.filter(pk=entrant.pk).update(name=name, label=name)
    log_in(make_curator())
    page.goto(f"{live_server.url}/runs/{run.code}/judging/")

    cut = """[...document.querySelectorAll('.coverage th span')].filter((name) => {
        const range = document.createRange();
        range.selectNodeContents(name);
        const [inside, outside] = [range.getBoundingClientRect(), name.parentNode.getBoundingClientRect()];
        return inside.width > outside.width + 1 || inside.height > outside.height + 1;
    }).length"""
    assert page.locator(".coverage th").count() == 10
    assert page.evaluate(cut) == 0
    assert page.locator(".coverage tbody tr").first.bounding_box()["height"] < 90
    assert look() == []
