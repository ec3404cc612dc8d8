"""A study in a real browser: on a phone at night as a participant, and as the curator who writes it."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from generation.models import Run
from ranking.fitting import fit_run
from tests.judging.gold.make import judge_all, make_drawn_run
from tests.judging.make import make_curator, make_run
from tests.judging.studies.make import TEXTS, WHOLE, come, make_study, source

pytestmark = pytest.mark.django_db(transaction=True)


def shot(page, name):
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_a_participant_goes_from_the_link_to_the_code_on_a_phone(page, live_server, look, no_waiting):
    texts = TEXTS | {"done": {"text": "Your choices are saved.", "code": "C7QK4M2X"}}
    study = make_study(
        make_drawn_run(checks=0, entrants=4),
        title="Compare drawings made by computers",
        welcome="You will see two drawings at a time and choose the better one.",
        minutes=30,
        platform="prolific",
        outcomes=texts,
        practice={"pairs": 1},
        **WHOLE,
    )
    page.goto(f"{live_server.url}/study/{study.code}/?PROLIFIC_PID=5f1&STUDY_ID=s&SESSION_ID=t")
    wrong = {"door": look()}
    page.set_viewport_size({"width": 390, "height": 844})
    shot(page, "door")
    page.get_by_role("button", name="Start").click()
    wrong["consent"] = look()
    shot(page, "consent")
    page.get_by_label("I am 18 or older.").check()
    page.get_by_role("button", name="Agree and continue").click()
    wrong["profile"] = look()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Choose an answer.")).to_be_visible()
    wrong["profile again"] = look()
    shot(page, "profile")
    page.get_by_label("18 or older").check()
    page.get_by_role("button", name="Continue").click()
    wrong["instructions"] = look()
    page.get_by_role("button", name="Continue").click()
    wrong["practice"] = look()
    shot(page, "practice")
    page.locator("button[value=left]").click()
    wrong["practice, answered"] = look()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("a", exact=True).check()
    wrong["check"] = look()
    page.get_by_role("button", name="Continue").click()
    for number in range(3):
        expect(page.locator("#count")).to_have_text(f"{number} of 3")
        expect(page.locator("main.scripted button[value=left]")).to_be_enabled()
        if number == 0:
            wrong["judge"] = look()
            shot(page, "judge")
        expect(page.locator("button[value=left]")).not_to_have_attribute("aria-disabled", "true")
        page.locator("button[value=left]").click()
    expect(page.get_by_label("Anything to say?")).to_be_visible()
    wrong["closing"] = look()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("C7QK4M2X")).to_be_visible()
    page.reload()
    wrong["end"] = look()
    shot(page, "end")

    back = page.get_by_role("link", name="Return to Prolific").get_attribute("href")
    key = study.participations.get().receipt
    page.get_by_role("link", name="your data").click()
    page.get_by_label("Your key").fill(key)
    page.get_by_role("button", name="Show my data").click()
    expect(page.get_by_role("button", name="Download all of it")).to_be_visible()
    wrong["own data"] = look()
    shot(page, "own_data")

    assert back.endswith("?cc=C7QK4M2X")
    assert study.participations.get().outcome == "done"
    assert {step: faults for step, faults in wrong.items() if faults} == {}


def test_a_curator_writes_previews_and_opens_a_study(page, live_server, log_in, look):
    run = make_run(entrants=4)
    log_in(make_curator())
    page.goto(f"{live_server.url}/runs/{run.code}/studies/")
    wrong = {"list": look()}
    page.get_by_role("link", name="New study").click()
    wrong["editor"] = look()
    shot(page, "editor")
    page.get_by_label("The study").fill(source(outcomes={}, **WHOLE))
    page.get_by_role("button", name="Save").click()
    wrong["faults"] = look()
    page.set_viewport_size({"width": 1440, "height": 900})
    shot(page, "faults")
    expect(page.get_by_role("button", name="Open the study")).to_be_disabled()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("The study").fill(source(**WHOLE))
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Preview as a participant").click()
    wrong["preview"] = look()
    shot(page, "preview")
    page.get_by_role("link", name="Back to the study").click()
    page.get_by_role("button", name="Open the study").click()
    expect(page.get_by_text("The study is open.")).to_be_visible()
    wrong["study"] = look()
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")
    shot(page, "study")

    assert {step: faults for step, faults in wrong.items() if faults} == {}


def test_a_visitor_votes_in_the_open_arena_after_three_clicks_and_an_analyst_reads_its_board(
    page, live_server, log_in, look, no_waiting
):
    run = make_drawn_run(checks=0, entrants=4)
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED)
    study = make_study(run, name="Arena", arena=True, pairs=6, gold={"every": 3})
    page.goto(live_server.url)

    page.locator(f"a[href='/study/{study.code}/']").click()
    wrong = {"door": look()}
    page.get_by_role("button", name="Start").click()
    page.locator("main.scripted button[value=left]:not([aria-disabled=true])").click()
    expect(page.locator("#count")).to_have_text("1 of 8")

    assert study.participations.get().seat.panel == "arena"
    for number in range(5):
        guest, _ = come(study, f"10.0.9.{number}")
        judge_all(guest.participation().seat)
    fit_run(run)
    log_in(make_curator())
    page.goto(f"{live_server.url}/runs/{run.code}/leaderboard/groups/")
    expect(page.get_by_role("columnheader", name="Open arena")).to_be_visible()
    wrong["groups"] = look()
    page.set_viewport_size({"width": 1440, "height": 900})
    shot(page, "groups")
    assert {step: faults for step, faults in wrong.items() if faults} == {}
