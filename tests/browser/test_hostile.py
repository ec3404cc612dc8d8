"""The hostile corpus in Chromium with the network recorded: nothing leaves the site, no script runs, no title changes."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judging.models import Report
from judging.pairs.serving import take_seat
from tests.hostile import all_cases
from tests.hostile.runs import KINDS, hostile_run, worded_run, words_of, write_hostile_suites
from tests.judging.make import make_seat

pytestmark = pytest.mark.django_db(transaction=True)
ADMIN_LISTS = ("generation_sample", "generation_prompt", "generation_event", "judging_matchup", "judging_report")


def title_of(page, url: str) -> str:
    """The title of a page that was opened and did nothing."""
    page.goto(url, wait_until="load")
    assert page.evaluate("window.acted") == [], url
    assert page.url == url
    return page.title()


@pytest.mark.parametrize("kind", KINDS)
def test_on_the_curators_pages(page, live_server, log_in, curator, watch, kind):
    run, cast = hostile_run(kind)
    log_in(curator)
    admin = live_server.url + reverse("admin:generation_sample_changelist") + f"?run__id__exact={run.pk}"
    listed, titles = "", {}

    page.set_viewport_size({"width": 1440, "height": 6000})  # pictures further down are not asked for
    for number in range(1, -(-run.samples.count() // 50) + 1):
        assert title_of(page, f"{admin}&p={number}") == "Select sample to view · Benchsite"
        listed += page.locator("#result_list").inner_text()
        table, filters = (page.locator(part).bounding_box() for part in ("#result_list", "#changelist-filter"))
        assert table["x"] + table["width"] <= filters["x"], "no column is cut"
    assert title_of(page, live_server.url + reverse("generation:samples", args=[run.code])) == f"Samples of {run}"
    page.set_viewport_size({"width": 1200, "height": 800})
    for name, sample in cast.items():
        titles[name] = title_of(page, live_server.url + reverse("generation:sample", args=[sample.code]))

    assert titles == {name: f"Sample {sample.code}" for name, sample in cast.items()}
    assert [name for name, sample in cast.items() if sample.code not in listed] == []


def test_on_the_admins_lists_as_words(page, live_server, log_in, curator, watch):
    """As prompt, drawing, detail and reason, and as a judge's note."""
    run, _ = worded_run()
    seat = make_seat(run, "alice")
    matchup = take_seat(seat.pk).current
    Report.objects.bulk_create(
        Report(matchup=matchup, side="left", reason="broken", note=words_of(case)[:500]) for case in all_cases()
    )
    log_in(curator)

    for table in ADMIN_LISTS:
        where = live_server.url + reverse(f"admin:{table}_changelist")
        for number in range(1, 4):
            assert title_of(page, f"{where}?p={number}").endswith("· Benchsite")


def test_on_the_page_that_names_broken_suites(page, live_server, log_in, curator, watch, settings, tmp_path):
    settings.SUITES_DIR = tmp_path
    write_hostile_suites(tmp_path)
    log_in(curator)

    assert title_of(page, live_server.url + reverse("generation:runs")) == "Runs"
    text = page.locator("main").inner_text()
    refused = [case["id"] for case in all_cases() if case["kind"] == "yaml" and case["verdict"] != "accept"]
    assert [name for name in refused if name not in text] == []
    assert len(refused) == 6
