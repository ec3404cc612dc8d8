"""SVG as PNG: drawn by resvg in a few child processes that are used again and again, each with limits of time and memory.

A drawing that passes a limit ends its child, and nothing else: the next drawing gets a new one. It is remembered, so that
asking for it again costs nothing. What a busy machine did not draw in time is not: that says nothing of the drawing.
"""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

FOLDER = Path(__file__).parent
FONT = FOLDER / "fonts" / "dejavu-sans.ttf"
SECONDS = 2.0  # of processor time for one drawing
MEMORY = 512 << 20  # bytes that a child may have
PATIENCE = 30.0  # seconds by the clock; a child that was stopped is ended then
WORKERS = 2
MOST_REMEMBERED = 1000
LARGEST_SIDE = 2048
ENVIRONMENT = {  # memory is kept between drawings: giving it back and asking for it anew is a fifth of a small drawing's time
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
}


class CannotDraw(Exception):
    """A drawing that gave no picture; the message says why."""


class NotDrawnNow(CannotDraw):
    """The machine's doing and not the drawing's: it may be drawn another time."""


@dataclass
class Child:
    process: subprocess.Popen[bytes]
    socket: Connection

    def end(self) -> int:
        self.socket.close()
        self.process.kill()
        return self.process.wait()


class Rasteriser:
    """A small pool of children; safe to call from several threads, and in a fork of the process that made it."""

    def __init__(
        self, *, workers: int = WORKERS, seconds: float = SECONDS, memory: int = MEMORY, patience: float = PATIENCE
    ) -> None:
        self.workers, self.seconds, self.memory, self.patience = workers, seconds, memory, patience
        self.forget()

    def forget(self) -> None:
        """Start anew without ending any child: in a fork they are the parent's."""
        self.owner = os.getpid()
        self.places = threading.BoundedSemaphore(self.workers)
        self.idle: list[Child] = []
        self.failed: OrderedDict[bytes, str] = OrderedDict()

    def png(self, svg: bytes, *, side: int) -> bytes:
        """A square of white with the drawing in its middle; raises CannotDraw."""
        if self.owner != os.getpid():
            self.forget()
        key = hashlib.sha256(svg).digest()
        if why := self.failed.get(key):
            raise CannotDraw(why)
        try:
            with self.places:
                return self._draw(min(side, LARGEST_SIDE).to_bytes(4, "big") + svg)
        except NotDrawnNow:
            raise
        except CannotDraw as error:
            self.failed[key] = str(error)
            while len(self.failed) > MOST_REMEMBERED:
                self.failed.popitem(last=False)
            raise

    def stop(self) -> None:
        while self.idle:
            self.idle.pop().end()

    def _draw(self, request: bytes) -> bytes:
        child = self._ready_child()
        try:
            child.socket.send_bytes(request)
            if not child.socket.poll(self.patience):
                raise EOFError
            reply = child.socket.recv_bytes()
        except (EOFError, OSError):
            if child.end() == -signal.SIGKILL:  # by us, after our patience, or by a machine out of memory
                raise NotDrawnNow("The machine was too busy to draw it in time.") from None
            raise CannotDraw("Drawing it takes more time or memory than a drawing may.") from None
        self.idle.append(child)
        if reply[:1] == b"-":
            raise CannotDraw(reply[1:].decode("utf-8", "replace"))
        return reply[1:]

    def _ready_child(self) -> Child:
        with suppress(IndexError):  # another thread may take the last one
            while child := self.idle.pop():
                if child.process.poll() is None:
                    return child
                child.end()
        ours, theirs = socket.socketpair()
        arguments = [str(FOLDER / "worker.py"), str(FONT), str(self.seconds), str(self.memory)]
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", *arguments], stdin=theirs.fileno(), env=ENVIRONMENT, start_new_session=True
            )
        return Child(process, Connection(ours.detach()))


RASTERISER = Rasteriser()
