"""script/bench first_vote [--full] [--json FILE]: from a link to the first vote in Chromium: seconds and clicks, without consent and questions.

By a study's shared link, and by the home page to the run's open arena. A visitor clicks as soon as a button can be pressed; the
clock runs from the request of the first page until the server has taken the vote in and the next pair counts it.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.figures.table import make_parser, show, write_json
from benchmarks.speed.judging import gunicorn
from tests.services import CHROMIUM_FLAGS, chromium

VISITS = {False: 5, True: 20}
FIRST = re.compile(r"\s*1 ")


def visit(browser: Browser, base: str, first: str, through: str) -> dict[str, Any]:
    """One visitor with an empty cache; `through` is the link to click on the first page, if it is not the door itself."""
    page = browser.new_context(base_url=base, viewport={"width": 390, "height": 844}).new_page()
    began, clicks = time.monotonic(), 0

    def click(what: Any) -> None:
        nonlocal clicks
        what.click()
        clicks += 1

    page.goto(first)
    if through:
        click(page.locator(f"a[href='{through}']"))
    click(page.get_by_role("button", name="Start"))
    click(page.locator("main.scripted button[value=left]:not([aria-disabled])"))
    _wait_for_first(page)
    seconds = time.monotonic() - began
    page.context.close()
    return {"seconds": seconds, "clicks": clicks}


def _wait_for_first(page: Page) -> None:
    expect(page.locator("#count")).to_have_text(FIRST, timeout=30_000)


def measure(visits: int) -> list[dict[str, Any]]:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    from generation.models import Run
    from tests.judging.gold.make import make_drawn_run
    from tests.judging.studies.make import make_study

    run = make_drawn_run(checks=0, entrants=4)
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED)
    shared = make_study(run, name="Shared", pairs=6, per_address=1000)
    arena = make_study(run, name="Arena", pairs=6, per_address=1000, arena=True, gold={"every": 3})
    ways = {"shared link": (f"/study/{shared.code}/", ""), "open arena": ("/", f"/study/{arena.code}/")}
    rows = []
    with gunicorn() as (base, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS.split())
        for way, (first, through) in ways.items():
            seen = [visit(browser, base, first, through) for _ in range(visits)]
            seconds = [one["seconds"] for one in seen]
            figures = {"seconds": round(median(seconds), 2), "slowest": round(max(seconds), 2)}
            rows.append({"way": way, "visits": visits, **figures, "clicks": max(one["clicks"] for one in seen)})
        browser.close()
    return rows


def main() -> None:
    options = make_parser(__doc__, "20 visits of each way instead of 5").parse_args()
    with tempfile.TemporaryDirectory(prefix="benchsite-first-") as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "benchsite.settings", "VAR_DIR": folder, "LOG_LEVEL": "CRITICAL"}
        os.environ |= {"DJANGO_ALLOW_ASYNC_UNSAFE": "1"}
        os.environ.pop("DATABASE_URL", None)
        rows = measure(VISITS[options.full])
    show("From a link to the first vote", rows)
    write_json(options.json, {"ways": rows})


if __name__ == "__main__":
    main()
