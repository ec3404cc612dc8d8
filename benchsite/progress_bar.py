"""A progress bar for commands that take a while: on a terminal one line that moves, elsewhere nothing until the end."""

from __future__ import annotations

import time
from typing import TextIO

WIDTH = 30
EVERY = 0.1  # seconds between two drawings of the bar


class Bar:
    """`bar.to(done, total)` as often as one likes; `bar.end()` leaves a clean line."""

    def __init__(self, stream: TextIO, label: str) -> None:
        self.stream, self.label = stream, label
        self.live, self.drawn_at = stream.isatty(), 0.0

    def to(self, done: int, total: int) -> None:
        moment = time.monotonic()
        if not self.live or moment - self.drawn_at < EVERY:
            return
        self.drawn_at = moment
        share = min(1.0, done / total) if total else 1.0
        filled = round(share * WIDTH)
        self.stream.write(f"\r{self.label} [{'#' * filled}{'.' * (WIDTH - filled)}] {share:4.0%}")
        self.stream.flush()

    def end(self) -> None:
        if self.live:
            self.stream.write("\r" + " " * (len(self.label) + WIDTH + 10) + "\r")
            self.stream.flush()
