"""The run pages in a browser: start a run, watch it draw, pause it, look at a sample."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from playwright.sync_api import expect

from generation.models import Run, Sample
from generation.runs.lifecycle import start_run
from tests.generation.drawing_room import draw_some, make_suite

pytestmark = pytest.mark.django_db(transaction=True)


def draw(run: Run, wanted: int) -> None:
    """In a thread of its own: Playwright's event loop lives in this one."""

    def work() -> None:
        draw_some(run, wanted)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def test_the_run_page_counts_along_by_itself(page, live_server, log_in, curator, demo, axe):
    demo()
    run = start_run(make_suite())
    log_in(curator)
    page.goto(f"{live_server.url}/runs/{run.code}/")
    expect(page.locator(".big")).to_have_text("0")

    draw(run, 4)

    expect(page.locator(".big")).to_have_text("4")
    expect(page.locator(".strip figure")).to_have_count(4)
    assert axe() == []


def test_the_buttons_follow_a_run_that_pauses_and_ends_by_itself(page, live_server, log_in, curator, demo):
    demo()
    run = start_run(make_suite(prompts=1, attempts=1))
    log_in(curator)
    page.goto(f"{live_server.url}/runs/{run.code}/")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()

    Run.objects.filter(pk=run.pk).update(drawing_state="paused", paused_reason="The budget is spent.")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    Run.objects.filter(pk=run.pk).update(drawing_state="open", paused_reason="")
    draw(run, run.samples.count())

    expect(page.get_by_role("link", name="Set up judging")).to_be_visible()
    expect(page.get_by_role("link", name="Cancel the rest")).to_have_count(0)


def test_a_curator_starts_pauses_and_resumes(page, live_server, log_in, curator):
    log_in(curator)
    page.goto(f"{live_server.url}/suites/ascii/start/")
    page.get_by_label("Label").fill("evening")
    page.get_by_label("Attempts").fill("1")

    page.get_by_role("button", name="Start drawing").dblclick()

    expect(page.get_by_role("heading", level=1)).to_contain_text("evening")
    assert Run.objects.count() == 1
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused by a curator.")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_the_maximum_cost_follows_the_form(page, live_server, log_in, curator):
    log_in(curator)
    page.goto(f"{live_server.url}/suites/ascii/start/")
    bound = page.locator("#bound")
    page.get_by_label("Attempts").fill("1")
    first = float(bound.text_content().split("US$")[1].split(". ")[0].rstrip(".").replace(",", ""))
    page.get_by_label("Attempts").fill("10")
    expect(bound).to_contain_text("10 attempts, the maximum cost is US$")
    tenfold = float(bound.text_content().split("US$")[1].split(". ")[0].rstrip(".").replace(",", ""))
    assert tenfold == pytest.approx(10 * first, rel=0.02)

    page.get_by_label("Budget").fill("0.5")
    expect(bound).to_contain_text("The budget ends the run at US$0.50.")
    for box in page.locator("[name=models]").all():
        box.uncheck()
    expect(bound).to_have_text("Choose at least one model.")


def test_a_hostile_answer_is_shown_as_text(page, live_server, log_in, curator, demo):
    demo(say=lambda *_: "```\n<script>document.title='owned'</script></pre><h1>x\n```")
    run = start_run(make_suite(prompts=1, attempts=1))
    draw(run, 2)
    sample = Sample.objects.filter(run=run, verdict="valid").first()
    log_in(curator)

    page.goto(f"{live_server.url}/samples/{sample.code}/")

    assert page.title() == f"Sample {sample.code}"
    expect(page.locator("pre.drawing").first).to_contain_text("<script>document.title='owned'</script></pre><h1>x")
    expect(page.locator("h1")).to_have_count(1)


def test_pages_do_not_scroll_sideways(page, live_server, log_in, curator, demo):
    demo()
    run = start_run(make_suite())
    draw(run, 12)
    log_in(curator)

    own = ("", "samples/", "judging/", "cancel/", "extend/", "import/", "invitations/", "import/votes/")
    for path in ("/runs/", "/suites/ascii/start/", "/runs/import/archive/", *(f"/runs/{run.code}/{p}" for p in own)):
        page.goto(live_server.url + path)
        for width in (1440, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_a_curator_starts_a_run_of_an_uploaded_suite(page, live_server, log_in, curator, axe, settings):
    log_in(curator)
    page.goto(f"{live_server.url}/runs/")
    page.get_by_role("link", name="Start a run of your own suite").click()
    assert axe() == []
    folder = settings.SUITES_DIR / "ascii"
    page.get_by_label("Name").fill("my-own")
    page.get_by_label("Files").set_input_files([folder / "config.yaml", folder / "prompts.yaml"])
    page.get_by_role("button", name="Check the files").click()
    expect(page.get_by_text("Nothing was started. models.yaml: there is no such file")).to_be_visible()

    page.get_by_label("Files").set_input_files(sorted(folder.glob("*.yaml")))
    page.get_by_role("button", name="Check the files").click()
    expect(page.get_by_text("the maximum cost is")).to_be_visible()
    assert axe() == []
    page.get_by_label("Budget in US$").fill("0.5")
    page.get_by_role("button", name="Start drawing").click()

    expect(page.get_by_text("of 600 drawn")).to_be_visible()
    run = Run.objects.get()
    assert (run.suite, run.budget_nano) == ("my-own", 5 * 10**8)
