"""script/bench face: how fast home, a board and the judge page are in Chromium, on a fresh demo site.

Largest contentful paint (home and board with an empty cache; the judge page after a login, so with a warm one), and interaction to next paint: the slowest answer to some keys and
clicks. Bytes are what a page loads without its pictures, before compression. Medians of several visits.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.figures.table import make_parser, show, write_json
from tests.screenshots import demo_site, enter, show_pair

VISITS = {False: 5, True: 20}
PAINT = "new Promise((seen) => new PerformanceObserver((list) => seen(list.getEntries().at(-1).startTime)).observe({type: 'largest-contentful-paint', buffered: true}))"
WATCH = """window.slowest = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries())
  if (entry.interactionId) window.slowest = Math.max(window.slowest, entry.duration); }).observe({type: 'event', durationThreshold: 16, buffered: true});"""
BYTES = """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((entry) => entry.initiatorType !== "img").map((entry) => [entry.name, entry.decodedBodySize])"""


def measure(
    site: str, browser: Browser, runs: dict[str, str], keys: dict[str, str], visits: int
) -> list[dict[str, Any]]:
    def stranger() -> Page:
        return browser.new_context(base_url=site, viewport={"width": 1440, "height": 900}).new_page()

    def judge() -> Page:
        page = enter(browser, site, "judge1", keys["judge1"], {"viewport": {"width": 1440, "height": 900}})
        show_pair(page, runs["ascii"])
        return page

    pages: dict[str, tuple[Callable[[], Page], str, Callable[[Page], None]]] = {
        "home": (stranger, "/", try_pairs),
        "board": (stranger, f"/runs/{runs['svg-arena']}/leaderboard/", move_focus),
        "judge": (judge, f"/judge/{runs['ascii']}/", vote),
    }
    rows = []
    for name, (come, path, act) in pages.items():
        seen = [visit(come(), path, act) for _ in range(visits)]
        figures = {figure: round(median(one[figure] for one in seen)) for figure in seen[0]}
        rows.append({"page": name, "visits": visits, **figures})
    return rows


def visit(page: Page, path: str, act: Callable[[Page], None]) -> dict[str, float]:
    page.goto(path, wait_until="networkidle")
    paint, loaded = page.evaluate(PAINT), page.evaluate(BYTES)
    page.evaluate(WATCH)
    act(page)
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 50)))")
    script = sum(size for name, size in loaded if name.partition("?")[0].endswith(".js"))
    figures = {"lcp_ms": paint, "inp_ms": page.evaluate("window.slowest"), "script_bytes": script}
    page.context.close()
    return figures | {"page_bytes": sum(size for _, size in loaded)}


def try_pairs(page: Page) -> None:
    for key in ("a", " ", "d", " ", "s"):
        page.keyboard.press(key)
        page.wait_for_load_state("networkidle")


def move_focus(page: Page) -> None:
    for _ in range(12):
        page.keyboard.press("Tab")


def vote(page: Page) -> None:
    for key in ("a", "d", "s"):
        page.locator("main.scripted button[value=left]:not([aria-disabled])").wait_for()
        page.keyboard.press(key)
        page.wait_for_load_state("networkidle")


def main() -> None:
    options = make_parser(__doc__, "20 visits of each page instead of 5").parse_args()
    with demo_site() as (site, browser, runs, keys):
        rows = measure(site, browser, runs, keys, VISITS[options.full])
    show("Pages in Chromium", rows)
    write_json(options.json, {"pages": rows})


if __name__ == "__main__":
    main()
