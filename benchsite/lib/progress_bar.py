"""A progress bar for commands that take a while: on a terminal one line that moves, elsewhere a plain line now and then."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TextIO

if TYPE_CHECKING:
    from django.core.management.base import OutputWrapper

WIDTH = 24
PATIENCE = 0.5  # seconds before anything is shown: most work is over by then
EVERY = 0.2  # seconds between two drawings of the bar
SELDOM = 30.0  # seconds between two lines where no terminal is watching
Progress = Callable[[int, int], None]


def unwatched(done: int, total: int) -> None:
    """The progress of work that nobody watches."""


class Bar:
    """`with Bar(self.stderr, "Reading") as bar:`, and `bar.to(done, total)` as often as one likes.

    - Where the total is unknown or 0, it counts; where nothing is counted, it tells the seconds, so that a long step is alive too.
    - `bar.begin("Fitting")` starts the next part. Leaving it wipes the line.
    - With `wanted=False` it is silent, for commands whose own output is on the same screen.
    """

    def __init__(self, stream: TextIO | OutputWrapper, label: str, *, wanted: bool = True) -> None:
        # Django's wrapper ends every line and paints errors red; a bar wants neither.
        self.stream: Any = getattr(stream, "_out", stream)
        self.live, self.wanted = self.stream.isatty(), wanted
        self.label, self.note, self.count, self.total = label, "", 0, 0
        self.began = time.monotonic()
        self.drawn_at, self.longest = self.began + PATIENCE - EVERY if self.live else self.began, 0
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.ticker = threading.Thread(target=self._tick, name="progress bar", daemon=True)

    @property
    def pause(self) -> float:
        return EVERY if self.live else SELDOM

    def __enter__(self) -> Self:
        if self.wanted:
            self.ticker.start()
        return self

    def __exit__(self, *problem: Any) -> None:
        self.ended.set()
        if self.wanted:
            self.ticker.join()
        if self.longest and self.live:
            self._write("\r" + " " * self.longest + "\r")

    def begin(self, label: str) -> None:
        self.label, self.note, self.count, self.total = label, "", 0, 0

    def to(self, done: int, total: int = 0, note: str = "") -> None:
        self.count, self.total, self.note = done, total, note
        self._draw_when_due()

    def bytes_to(self, done: int, total: int = 0) -> None:
        self.to(done, total, "" if total else " bytes")

    def say(self, line: str) -> None:
        """A line of its own, above the bar."""
        with self.lock:
            self._write(f"\r{line:<{self.longest}}\n" if self.longest and self.live else f"{line}\n")
            self.longest = 0

    def text(self) -> str:
        seconds = f"{time.monotonic() - self.began:.0f} s"
        count, total = self.count, self.total  # the next part may begin while the ticker draws
        if total:
            share = min(1.0, count / total)
            filled = int(share * WIDTH)
            bar = f" [{'#' * filled}{'.' * (WIDTH - filled)}]" if self.live else ""
            counted = f"{bar} {int(share * 100)} % ({count:,} of {total:,})"
        else:
            counted = f" {count:,}" if count else ""
        return f"{self.label}{counted}{self.note}, {seconds}"

    def _draw_when_due(self) -> None:
        with self.lock:
            moment = time.monotonic()
            if not self.wanted or moment - self.drawn_at < self.pause:
                return
            self.drawn_at = moment
            text = self.text()[: shutil.get_terminal_size().columns - 1 if self.live else None]
            self._write(f"\r{text:<{self.longest}}" if self.live else f"{text}\n")
            self.longest = len(text)

    def _tick(self) -> None:
        while not self.ended.wait(EVERY):
            self._draw_when_due()

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
