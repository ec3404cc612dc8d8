"""What `script/screenshots` runs: starts a fresh demo site, waits until it is judged and ranked, and photographs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from tests.services import CHROMIUM_FLAGS, chromium, free_port

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PATIENCE = 900  # looks, a second apart
DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
RUNS = 5  # of the demo; the last are ready a while after the first


def wait_for_boards(site: str, log: Path) -> dict[str, str]:
    """The codes of the demo runs by suite, once all of them are on the home page."""
    for _ in range(PATIENCE):
        try:
            document = httpx.get(f"{site}/?format=json", trust_env=False, timeout=30).json()
            boards = {board["suite"]: board["run"] for board in document["leaderboards"]}
            if len(boards) == RUNS:
                return boards
        except (httpx.HTTPError, ValueError):
            pass  # not up yet
        time.sleep(1)
    sys.exit(f"{site} never listed the leaderboards of the demo runs. The server wrote:\n{log.read_text()[-2000:]}")


def logins(folder: Path) -> dict[str, str]:
    return dict(line.split()[:2] for line in (folder / "logins.txt").read_text().splitlines())


def enter(browser: Browser, site: str, name: str, password: str, look: dict[str, object]) -> Page:
    page = browser.new_context(base_url=site, **look).new_page()
    page.goto("/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login/" not in url)
    return page


def photograph(browser: Browser, site: str, runs: dict[str, str], keys: dict[str, str]) -> None:
    code, finished = runs["ascii"], runs["svg-arena"]
    curator = enter(browser, site, "curator", keys["curator"], DESK)
    curator.goto(f"/runs/{code}/")
    curator.screenshot(path=IMAGES / "run.png")
    for look, ending in ((DESK, ""), (PHONE, "-phone")):
        reader = browser.new_context(base_url=site, **look).new_page()
        for name, path in (("home", "/"), ("leaderboard", f"/runs/{finished}/leaderboard/")):
            reader.goto(path, wait_until="networkidle")
            reader.screenshot(path=IMAGES / f"{name}{ending}.png")
        judge = enter(browser, site, "judge1", keys["judge1"], look)
        show_pair(judge, code)
        judge.screenshot(path=IMAGES / f"judge{ending}.png")


def show_pair(judge: Page, code: str) -> None:
    judge.goto(f"/judge/{code}/")
    start = judge.get_by_role("button", name="Start")
    if start.count():
        start.first.click()
    judge.locator("main.scripted button[value=left]:not([aria-disabled])").wait_for()  # both sides are drawn
    judge.evaluate("document.fonts.ready")


@contextmanager
def demo_site() -> Iterator[tuple[str, Browser, dict[str, str], dict[str, str]]]:
    """A fresh demo site in a folder of its own: its address, a browser, the runs' codes by suite, and the logins' passwords."""
    with tempfile.TemporaryDirectory(prefix="benchsite-photo-", ignore_cleanup_errors=True) as made:
        folder, port = Path(made), free_port()
        site, log = f"http://127.0.0.1:{port}", Path(made, "server.txt")
        environment = {**os.environ, "VAR_DIR": made, "PORT": str(port)}
        with log.open("w") as output:
            server = subprocess.Popen([ROOT / "script" / "server"], env=environment, stdout=output, stderr=output)
        try:
            runs = wait_for_boards(site, log)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS.split())
                yield site, browser, runs, logins(folder)
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with demo_site() as (site, browser, runs, keys):
        photograph(browser, site, runs, keys)


if __name__ == "__main__":
    main()
