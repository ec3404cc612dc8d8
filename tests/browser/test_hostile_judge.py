"""The hostile corpus on the judge page, in Chromium with the network recorded: shown, judged, and nothing happens."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from judging.models import Matchup, Vote
from judging.pairs.serving import take_seat
from tests.hostile import all_cases
from tests.hostile.runs import KINDS, hostile_run, worded_run, words_of
from tests.judging.make import make_seat

pytestmark = pytest.mark.django_db(transaction=True)
NEXT = (
    """code => !document.querySelector("#stage .waiting") && document.querySelector(".pair")?.dataset.code !== code"""
)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "yaml"])
def test_on_the_judge_page_as_what_it_was_drawn_for(page, live_server, log_in, watch, no_waiting, kind):
    """Every pair to the last one by the keyboard: both sides are there, and a vote goes through."""
    run, cast = hostile_run(kind)
    seat = make_seat(run, "alice")
    log_in(seat.judge)
    take_seat(seat.pk)
    drawn = {
        (sample.prompt_id, sample.drawing) for sample in cast.values() if sample.verdict == "valid" and not sample.held
    }

    judge_all(page, live_server, seat, lambda: None)

    voted = Matchup.objects.filter(seat=seat, state="voted").select_related("left_sample", "right_sample")
    shown = {(one.prompt_id, s.drawing) for one in voted for s in (one.left_sample, one.right_sample)}
    assert drawn and drawn <= shown
    assert Vote.objects.filter(seat=seat).count() == len(voted)


def test_on_the_judge_page_as_words(page, live_server, log_in, watch, no_waiting):
    """All 120, past every reader, as a text drawing and its prompt: shown letter by letter, and not one element more."""
    run, _ = worded_run()
    seat = make_seat(run, "alice")
    log_in(seat.judge)
    take_seat(seat.pk)
    seen, elements = set(), set()

    def look() -> None:
        seen.update(page.locator(".pair pre.font-1").all_text_contents())
        elements.add(page.locator(".pair *").count())

    judge_all(page, live_server, seat, look)

    met = {case["id"]: re.sub("\r\n?", "\n", words_of(case)) in seen for case in all_cases()}
    assert [name for name, was_seen in met.items() if not was_seen] == []
    assert (len(met), len(elements), Vote.objects.filter(seat=seat).count()) == (120, 1, 120)


def judge_all(page, live_server, seat, look) -> None:
    """Votes by key until all is judged, looking at each pair once it is drawn."""
    here = f"{live_server.url}/judge/{seat.run.code}/"
    page.goto(here)
    for _ in range(130):
        if page.url != here:
            break
        expect(page.locator("main.scripted button[value=tie]")).to_be_enabled()
        assert page.locator(".half").count() == 2
        assert page.locator(".pair svg, .pair iframe, .pair object, .pair embed, .pair script").count() == 0
        assert (page.evaluate("window.acted"), page.title()) == ([], f"Judge · {seat.run.title}")
        look()
        before = page.locator(".pair").get_attribute("data-code")
        page.keyboard.press("s")
        page.wait_for_function(NEXT, arg=before)
    assert page.url == f"{here}done/"
