"""What `script/screenshots` runs: starts a fresh demo site, waits until it is judged and ranked, and photographs it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import FLAGS
from tests.services import chromium, free_port

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PATIENCE = 900  # looks, a second apart
DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}
BOARD = re.compile(r"/runs/([a-z0-9]+)/leaderboard/pairwise/\">ASCII art")


def wait_for_board(site: str, log: Path) -> str:
    """The code of the ASCII demo run, once the home page lists its leaderboard."""
    for _ in range(PATIENCE):
        try:
            if found := BOARD.search(httpx.get(f"{site}/", trust_env=False, timeout=30).text):
                return found[1]
        except httpx.HTTPError:
            pass  # not up yet
        time.sleep(1)
    sys.exit(f"{site} never listed the leaderboard of the demo run. The server said:\n{log.read_text()[-2000:]}")


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


def photograph(browser: Browser, site: str, code: str, keys: dict[str, str]) -> None:
    curator = enter(browser, site, "curator", keys["curator"], DESK)
    curator.goto(f"/runs/{code}/")
    curator.screenshot(path=IMAGES / "run.png")
    for look, ending in ((DESK, ""), (PHONE, "-phone")):
        reader = browser.new_context(base_url=site, **look).new_page()
        reader.goto(f"/runs/{code}/leaderboard/pairwise/")
        if look is PHONE:
            reader.evaluate("document.querySelector('table.leaderboard caption').scrollIntoView()")
        reader.screenshot(path=IMAGES / f"leaderboard{ending}.png")
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


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="benchsite-photo-", ignore_cleanup_errors=True) as made:
        folder, port = Path(made), free_port()
        site, log = f"http://127.0.0.1:{port}", Path(made, "said.txt")
        environment = {**os.environ, "VAR_DIR": made, "PORT": str(port)}
        with log.open("w") as said:
            server = subprocess.Popen([ROOT / "script" / "server"], env=environment, stdout=said, stderr=said)
        try:
            code = wait_for_board(site, log)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS.split())
                photograph(browser, site, code, logins(folder))
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


if __name__ == "__main__":
    main()
