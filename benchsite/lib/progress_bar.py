"""A progress bar for commands that take a while: on a terminal one line that moves, elsewhere a plain line now and then."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TextIO

from django.conf import settings

if TYPE_CHECKING:
    from django.core.management.base import OutputWrapper

WIDTH = 24
Progress = Callable[[int, int], None]


def unwatched(done: int, total: int) -> None:
    """The progress of work that nobody watches."""


@dataclass(frozen=True)
class Pace:
    """How often a bar is drawn, in seconds; PROGRESS_PACE of the settings."""

    patience: float = 0.5  # before anything is shown: most work is over by then
    every: float = 0.2  # between two drawings; with 0 each step is drawn, and nothing between them
    seldom: float = 30.0  # between two lines where no terminal is watching


class Bar:
    """`with Bar(self.stderr, "Reading") as bar:`, and `bar.to(done, total)` as often as you like.

    - Where the total is unknown or 0, it counts; where nothing is counted, it tells the seconds, so that a long step is alive too.
    - `bar.begin("Fitting")` starts the next part. Leaving it wipes the line.
    - With `wanted=False` it is silent, for commands whose own output is on the same screen.
    """

    def __init__(
        self,
        stream: TextIO | OutputWrapper,
        label: str,
        *,
        wanted: bool = True,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Django's wrapper ends every line and paints errors red; a bar wants neither.
        self.stream: Any = getattr(stream, "_out", stream)
        self.live, self.wanted = self.stream.isatty(), wanted
        self.label, self.note, self.count, self.total = label, "", 0, 0
        self.pace, self.clock, self.began = pace or settings.PROGRESS_PACE, clock, clock()
        self.drawn_at, self.longest = self.began, 0
        if self.live:
            self.drawn_at += self.pace.patience - self.pace.every
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.ticker = threading.Thread(target=self._tick, name="progress bar", daemon=True)

    @property
    def pause(self) -> float:
        return self.pace.every if self.live else self.pace.seldom

    def __enter__(self) -> Self:
        if self.wanted and self.pace.every:
            self.ticker.start()
        return self

    def __exit__(self, *problem: Any) -> None:
        self.ended.set()
        if self.ticker.is_alive():
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
        seconds = f"{self.clock() - self.began:.0f} s"
        count, total = self.count, self.total  # the next part may begin while the ticker draws
        if total:
            share = min(1.0, count / total)
            filled = int(share * WIDTH)
            bar = f" [{'#' * filled}{'.' * (WIDTH - filled)}]" if self.live else ""
            counted = f"{bar} {int(share * 100)}% ({count:,} of {total:,})"
        else:
            counted = f" {count:,}" if count else ""
        return f"{self.label}{counted}{self.note}, {seconds}"

    def _draw_when_due(self) -> None:
        with self.lock:
            moment = self.clock()
            if not self.wanted or moment - self.drawn_at < self.pause:
                return
            self.drawn_at = moment
            text = self.text()[: shutil.get_terminal_size().columns - 1 if self.live else None]
            self._write(f"\r{text:<{self.longest}}" if self.live else f"{text}\n")
            self.longest = len(text)

    def _tick(self) -> None:
        while not self.ended.wait(self.pace.every):
            self._draw_when_due()

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
