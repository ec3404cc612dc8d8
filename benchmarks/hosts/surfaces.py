"""Where a fault is said: the logs of hosts, `/readyz`, `/metrics` and the doctor, each watched in a thread of its own."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx

from benchmarks.hosts.topology import SITE, TOKEN, Topology

HEADERS = {
    "Host": SITE,
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "192.0.2.1",
    "Authorization": f"Bearer {TOKEN}",
}


@dataclass
class Sign:
    """What is to be read on one surface of one host, and after how many seconds it was."""

    surface: str
    host: str
    pattern: str
    seconds: float | None = None
    words: str = ""


@dataclass
class Fault:
    """What goes wrong, the signs of it, and how it is mended."""

    name: str
    signs: list[Sign]
    begin: Callable[[], object]
    end: Callable[[], object]


class Watch:
    """Looks for all signs from the moment it is made, until each was seen or `patience` is over."""

    def __init__(self, site: Topology, signs: list[Sign], *, patience: float) -> None:
        self.site, self.begun, self.end = site, time.monotonic(), time.monotonic() + patience
        self.slowest, self.slowest_page = 0.0, ""  # answer of a health page
        self.signs = signs
        self.places = {sign.host: site.log(sign.host).stat().st_size for sign in signs}
        groups: dict[tuple[str, str], list[Sign]] = {}
        for sign in signs:
            groups.setdefault((sign.surface, sign.host), []).append(sign)
        self.threads = [threading.Thread(target=self._look, args=(*key, group)) for key, group in groups.items()]
        for thread in self.threads:
            thread.start()

    def wait(self) -> None:
        for thread in self.threads:
            thread.join()

    def _look(self, surface: str, host: str, signs: list[Sign]) -> None:
        # Pages are asked until all is seen, as a balancer asks for ever.
        awaited = self.signs if surface in ("readyz", "metrics") else signs
        while any(sign.seconds is None for sign in awaited):
            if time.monotonic() > self.end:
                return
            missing = [sign for sign in signs if sign.seconds is None]
            for text in getattr(self, f"_read_{surface}")(host):
                for sign in missing:
                    if sign.seconds is None and (found := re.search(sign.pattern, text)):
                        sign.seconds, sign.words = round(time.monotonic() - self.begun, 1), found[0][:200]
            time.sleep(0.3)

    def _read_log(self, host: str) -> Iterator[str]:
        with self.site.log(host).open("rb") as file:
            file.seek(self.places[host])
            yield file.read().decode("utf-8", "replace")

    def _read_readyz(self, host: str) -> Iterator[str]:
        yield self._page(host, "/readyz")

    def _read_metrics(self, host: str) -> Iterator[str]:
        yield self._page(host, "/metrics")

    def _page(self, host: str, path: str) -> str:
        begun = time.monotonic()
        try:
            text = httpx.get(
                f"http://{self.site.net[host].address}:8000{path}", headers=HEADERS, timeout=30, trust_env=False
            ).text
        except httpx.HTTPError:
            text = ""
        self.slowest, self.slowest_page = max(
            (self.slowest, self.slowest_page), (time.monotonic() - begun, f"{path} of {host}")
        )
        return text

    def _read_doctor(self, host: str) -> Iterator[str]:
        """Line by line, as somebody who waits at a terminal."""
        yield from self.site.manage_lines(host, "doctor")
