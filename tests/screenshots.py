"""What `script/screenshots` runs: starts a fresh demo site, waits until it is judged and ranked, and photographs it."""

from __future__ import annotations

import os
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
PATIENCE = 300  # looks, a second apart


def wait_for(url: str, words: str) -> None:
    for _ in range(PATIENCE):
        try:
            if words in httpx.get(url, trust_env=False).text:
                return
        except httpx.HTTPError:
            pass  # not up yet
        time.sleep(1)
    sys.exit(f"{url} never said {words!r}.")


def logins(folder: Path) -> dict[str, str]:
    return dict(line.split()[:2] for line in (folder / "logins.txt").read_text().splitlines())


def enter(browser: Browser, site: str, name: str, password: str, **context: object) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=site, **context).new_page()
    page.goto("/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login/" not in url)
    return page


def photograph(browser: Browser, site: str, keys: dict[str, str]) -> None:
    reader = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=site).new_page()
    reader.goto("/")
    runs = {link.inner_text(): link.get_attribute("href") for link in reader.locator("tbody th a").all()}
    reader.screenshot(path=IMAGES / "home.png")
    for name, title in {"leaderboard": "ASCII", "rubric": "SVG", "birds": "Birds", "pixel": "Pixel"}.items():
        href = next((href for text, href in runs.items() if title.lower() in text.lower()), None)
        if href:
            reader.goto(href)
            reader.screenshot(path=IMAGES / f"{name}.png")
    code = next(href for text, href in runs.items() if "ASCII" in text).strip("/").split("/")[-1]
    curator = enter(browser, site, "curator", keys["curator"])
    curator.goto(f"/runs/{code}/")
    curator.screenshot(path=IMAGES / "run.png")
    judge = enter(browser, site, "judge1", keys["judge1"])
    judge.goto(f"/judge/{code}/")
    judge.wait_for_timeout(1000)
    judge.screenshot(path=IMAGES / "judge.png")


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    folder, port = Path(tempfile.mkdtemp(prefix="benchsite-photo-")), free_port()
    site = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "VAR_DIR": str(folder), "PORT": str(port)}
    server = subprocess.Popen([ROOT / "script" / "server"], env=environment, stdout=subprocess.DEVNULL)
    try:
        wait_for(f"{site}/", "simulated")
        time.sleep(5)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS.split())
            photograph(browser, site, logins(folder))
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


if __name__ == "__main__":
    main()
