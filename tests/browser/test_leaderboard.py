"""The leaderboard in a browser: it fits narrow screens, keeps the content policy, and speaks to everybody."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from generation.models import Run
from ranking.fitting import fit_run
from tests.judging.make import make_curator
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
PAGES = ("leaderboard", "judges", "history", "versus", "votes")
LONG = "A model with a very long name indeed, of sixty letters or so"


@pytest.fixture
def run():
    run = make_voted_run(votes=126)
    Run.objects.update(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    run.refresh_from_db()
    entrant = run.entrants.first()
    entrant.label = LONG
    entrant.save(update_fields=["label"])
    fit_run(run)
    return run


def address(live_server, name, run):
    return live_server.url + reverse(f"ranking:{name}", args=[run.code])


def test_every_page_is_accessible_and_fits_the_screen(page, live_server, run, look):
    for name in PAGES:
        page.goto(address(live_server, name, run))
        assert look() == [], name
        page.set_viewport_size({"width": 1024, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 1024, name
    entrant, prompt, sample = run.entrants.first(), run.prompts.first(), run.samples.first()
    for path in (
        reverse("ranking:entrant", args=[run.code, entrant.code]),
        reverse("ranking:frontier", args=[run.code, "pairwise"]),
        reverse("gallery:gallery", args=[run.code]),
        reverse("gallery:prompts", args=[run.code]),
        reverse("gallery:prompt", args=[run.code, prompt.code]),
        reverse("gallery:sample", args=[sample.code]),
    ):
        page.goto(live_server.url + path)
        assert look() == [], path
    Run.objects.update(judging_state=Run.Judging.OPEN)
    page.goto(address(live_server, "leaderboard", run))
    assert look() == [], "while people judge"


def test_typing_narrows_the_table_and_choosing_sorts_it(page, live_server, run):
    page.goto(address(live_server, "leaderboard", run))
    names = page.locator(".leaderboard tbody tr:visible .name")

    page.get_by_role("searchbox").fill("beta")
    assert names.all_inner_texts() == ["bestco/beta-mini label"]
    assert page.url.endswith("?q=beta")
    assert not page.locator(".tie:visible").count()

    page.get_by_role("searchbox").fill("")
    page.get_by_label("Order").select_option("name")
    assert [name.strip() for name in names.all_inner_texts()][:2] == [LONG, "bestco/beta-mini label"]
    page.reload()
    assert [name.strip() for name in names.all_inner_texts()][:2] == [LONG, "bestco/beta-mini label"]


@pytest.mark.parametrize(
    "make",
    [lambda: make_voted_run(votes=400, entrants=40), lambda: make_graded_run(entrants=40, subjects=1, attempts=1)],
)
def test_forty_entrants_with_long_names_fit_a_phone_in_the_dark(page, live_server, axe, make):
    run = make()
    run.entrants.update(label=LONG)
    run.entrants.filter(pk=run.entrants.first().pk).update(label="acme/" + "unbroken-name-" * 5)
    Run.objects.update(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    run.refresh_from_db()
    fit_run(run)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 800})
    entrant = reverse("ranking:entrant", args=[run.code, run.entrants.first().code])

    board = reverse("ranking:leaderboard", args=[run.code])
    for path in (board, f"{board}?rating=answers", entrant, "/leaderboards/"):
        page.goto(live_server.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        assert all(who.bounding_box()["width"] > 90 for who in page.locator("tbody .who").all()), path
        assert axe() == [], path


def test_what_is_wider_than_the_screen_fades_until_it_is_scrolled_to_its_end(page, live_server, run):
    page.goto(address(live_server, "history", run))
    page.get_by_role("heading", name="The same as a table").click()
    table = page.locator(".fold .scroll")
    expect(table).to_have_css("--more", "0px")

    page.set_viewport_size({"width": 390, "height": 800})
    expect(table).to_have_css("--more", "40px")
    table.evaluate("box => box.scrollTo(box.scrollWidth, 0)")

    expect(table).to_have_css("--more", "0px")


def test_a_printed_leaderboard_is_ink_on_paper_also_from_a_dark_screen(page, live_server, run):
    page.emulate_media(color_scheme="dark", media="print")
    page.goto(address(live_server, "leaderboard", run))

    colours = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    assert page.locator("body").evaluate(colours) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    ink = page.locator(".leaderboard tbody th a").first.evaluate("e => getComputedStyle(e).color")
    assert sum(int(part) for part in re.findall(r"[0-9]+", ink)) < 300  # a dark link, not the pale one of dark screens
    assert page.locator("table.leaderboard thead").bounding_box()["x"] >= 0  # columns as on a desk, not stacked


def test_the_intervals_are_drawn_in_their_rows(page, live_server, run):
    page.goto(address(live_server, "leaderboard", run))

    boxes = [dot.bounding_box() for dot in page.locator(".leaderboard td.plot .mark").all()]
    rows = [row.bounding_box() for row in page.locator(".leaderboard tbody tr").all()]
    assert len(boxes) == len(rows) == 4
    for dot, row in zip(boxes, rows, strict=True):
        middle = dot["y"] + dot["height"] / 2
        assert row["y"] < middle < row["y"] + row["height"]
    assert boxes[0]["x"] > boxes[-1]["x"]  # the best stands furthest to the right


def test_a_curator_freezes_a_leaderboard_and_gets_its_link(page, live_server, run, log_in):
    log_in(make_curator())
    page.goto(address(live_server, "leaderboard", run))

    page.get_by_text("Freeze and publish under a link of its own").click()
    page.get_by_label("Title", exact=True).fill("Midterm")
    page.get_by_role("button", name="Freeze these numbers").click()

    page.wait_for_url("**/leaderboards/*/")
    assert page.get_by_role("heading", name="Midterm").is_visible()
