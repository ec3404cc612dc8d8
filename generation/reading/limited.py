"""Readers in a process of their own, each answer with a limit of processor time: no answer can stop a worker.

The process is forked at the first answer, waits for the next, and ends with its parent. The kernel's timer ends it where an
answer takes too long, wherever it is, inside a regular expression or in C; the next answer gets a new one.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, Pipe
from typing import Any, NoReturn

from generation.formats import get_format
from generation.formats.base import Answer, BackendMissing, Extraction
from generation.formats.identity import find_signature
from generation.formats.silence import extract_answer

READ_SECONDS = 10.0  # of processor time


@dataclass(frozen=True)
class Task:
    """One answer for the reader; `backend` measures what `extraction` found."""

    format: str
    answer: Answer
    names: tuple[str, ...] = ()  # by which it could sign itself
    backend: str = ""
    extraction: Extraction | None = None


class TooSlow(Exception):
    """The reader was ended by its limit of processor time."""


class ReaderDied(Exception):
    """The reader ended for another reason; the message says by which signal or status."""


class ReaderProcess:
    """A forked child that runs tasks one at a time; safe to call from several threads."""

    def __init__(self, seconds: float = READ_SECONDS) -> None:
        self.seconds = seconds
        self.lock = threading.Lock()
        self.owner = self.child = 0
        self.pipe: Connection | None = None

    def run(self, step: str, task: Task) -> Any:
        """What the step returned; raises what it raised, TooSlow or ReaderDied."""
        with self.lock:
            pipe = self._connect()
            try:
                pipe.send((step, task))
                done, value = pipe.recv()
            except (EOFError, OSError):
                raise self._reap() from None
        if not done:
            raise value
        return value

    def stop(self) -> None:
        """End the child, so that the next task is run by a fresh copy of this process."""
        with self.lock:
            if self.pipe is not None and self.owner == os.getpid():
                self._reap()

    def _connect(self) -> Connection:
        # A fork of this process may not speak to the child of its parent.
        if self.pipe is None or self.owner != os.getpid():
            ours, theirs = Pipe()
            with warnings.catch_warnings():
                # The child uses no lock that another thread may hold: it reads, and touches no database or socket.
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                _serve(theirs, self.seconds)
            theirs.close()
            self.owner, self.child, self.pipe = os.getpid(), child, ours
        return self.pipe

    def _reap(self) -> Exception:
        if self.pipe is not None:
            self.pipe.close()
        self.pipe = None
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        return TooSlow() if status == -signal.SIGPROF else ReaderDied(f"ended with {status}")


def _serve(pipe: Connection, seconds: float) -> NoReturn:
    """The child: nothing of the parent but its memory; ends when the parent's end of the pipe closes."""
    try:
        gc.freeze()  # what the parent left is never collected here: a connection would say goodbye on its socket
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, and so the child
        os.closerange(3, pipe.fileno())
        os.closerange(pipe.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        while True:
            step, task = pipe.recv()
            signal.setitimer(signal.ITIMER_PROF, seconds)
            reply = _attempt(step, task)
            signal.setitimer(signal.ITIMER_PROF, 0)
            pipe.send(reply)
    except BaseException:
        os._exit(0)


def _attempt(step: str, task: Task) -> tuple[bool, Any]:
    try:
        return True, STEPS[step](task)
    except BackendMissing as missing:
        return False, missing
    except Exception as error:
        return False, RuntimeError(type(error).__name__)


def extract(task: Task) -> tuple[Extraction, list[str]]:
    options = task.answer.options
    known = replace(task.answer, options={**options, "names": (*options.get("names", ()), *task.names)})
    extraction = extract_answer(get_format(task.format), known)
    return extraction, find_signature(extraction.drawing, task.names) if extraction.drawing is not None else []


def measure(task: Task) -> dict[str, Any]:
    form, extraction = get_format(task.format), task.extraction
    assert extraction is not None
    if extraction.drawing is None:
        return form.measure_invalid(task.answer, extraction, backend=task.backend)
    return form.measure(extraction.drawing, task.answer, backend=task.backend)


STEPS = {"extract": extract, "measure": measure}
READER = ReaderProcess()
