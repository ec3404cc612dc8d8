"""script/bench face: how fast and how clear the pages of a fresh demo site are in Chromium.

Largest contentful paint (home and board with an empty cache; the judge page after a login, so with a warm one), and interaction to next paint: the slowest answer to some keys and
clicks. Bytes are what a page loads without its pictures, before compression. Medians of several visits.
Then every kind of public page at 1440 and 390 px, light and dark: accessibility rules it breaks (axe, all rules), pixels that stick out,
words with a letter above the fold, and where its first drawing begins.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from benchmarks.figures.table import make_parser, show, write_json
from tests.browser.pages.words import COUNT, DRAWINGS
from tests.screenshots import demo_site, enter, show_pair

VISITS = {False: 5, True: 20}
SCREENS = ((1440, 900), (390, 844))
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


def look_at(site: str, browser: Browser, runs: dict[str, str]) -> list[dict[str, Any]]:
    """What is wrong with each kind of public page: the worst of both widths, by day and by night."""
    rows: dict[str, dict[str, Any]] = {}
    for width, height in SCREENS:
        for scheme in ("light", "dark"):
            size: Any = {"width": width, "height": height}
            context = browser.new_context(base_url=site, viewport=size, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            page = context.new_page()
            for name, path in public_pages(page, runs).items():
                row = rows.setdefault(name, {"page": name, "axe": 0, "too_wide_px": 0, "words": 0})
                page.goto(path, wait_until="load")
                row["too_wide_px"] = max(
                    row["too_wide_px"], page.evaluate("document.documentElement.scrollWidth") - width
                )
                row["words"] = max(row["words"], len(page.evaluate(COUNT)))
                drawing = page.locator(DRAWINGS).first
                box = drawing.bounding_box() if page.locator(DRAWINGS).count() else None
                row[f"drawing_at_{width}"] = round(box["y"]) if box else None
                page.evaluate(AXE_SCRIPT)
                row["axe"] += page.evaluate(
                    "async () => (await axe.run({resultTypes: ['violations'], preload: false})).violations.length"
                )
            context.close()
    return list(rows.values())


def public_pages(page: Page, runs: dict[str, str]) -> dict[str, str]:
    """One address of each kind: those of a finished run from its own links."""
    finished = f"/runs/{runs['svg-arena']}"
    page.goto(f"{finished}/leaderboard/")
    tabs = {link.inner_text(): link.get_attribute("href") or "" for link in page.locator("nav.tab-row a").all()}
    model = page.locator(".leaderboard .who a").first.get_attribute("href") or ""
    page.goto(f"{finished}/prompts/")
    prompt = page.locator(".prompt-list h2 a").first.get_attribute("href") or ""
    drawing = page.locator(".prompt-list a.tile").first.get_attribute("href") or ""
    boards = {f"board: {suite}": f"/runs/{code}/leaderboard/" for suite, code in runs.items()}
    plain = {"home": "/", "leaderboards": "/leaderboards/", "drawings": "/drawings/", "suites": "/suites/"}
    plain |= {
        "suite": "/suites/svg-arena/",
        "numbers": "/about/numbers/",
        "log in": "/login/",
        "not found": "/nowhere/",
    }
    return plain | boards | tabs | {"model": model, "prompt": prompt, "drawing": drawing}


def main() -> None:
    options = make_parser(__doc__, "20 visits of each page instead of 5").parse_args()
    with demo_site() as (site, browser, runs, keys):
        rows = measure(site, browser, runs, keys, VISITS[options.full])
        looks = look_at(site, browser, runs)
    show("Pages in Chromium", rows)
    show("Every kind of public page", looks)
    boards = [row["words"] for row in looks if row["page"].startswith("board")]
    shown = [
        row[f"drawing_at_{width}"] / height
        for row in looks
        for width, height in SCREENS
        if row[f"drawing_at_{width}"] is not None
    ]
    write_json(
        options.json,
        {
            "pages": rows,
            "looks": looks,
            "board_words": max(boards),
            "drawing_begins": round(max(shown), 3),
            "with_drawings": len({row["page"] for row in looks if row["drawing_at_1440"] is not None}),
        },
    )


if __name__ == "__main__":
    main()
