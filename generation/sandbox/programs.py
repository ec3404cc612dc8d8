"""One step of a Python program: run it with the answers it has so far, up to its next question or its end.

A program is run from its beginning for every step, in a child that is thrown away. So nothing of it has to be kept between two
answers but text: a worker may die, a run may be paused, and a budget holds between any two questions. The price is that
a program must ask the same questions when it is given the same answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchsite.lib.text import clean_text
from generation.money import prompt_size
from generation.sandbox.isolation import CannotIsolate, call_filter, isolated

MOST_OUTPUT = 1 << 20  # bytes that a step may write
MOST_DETAIL = 300
CHILD = Path(__file__).with_name("child.py")
BEGUN = b"+"
OFF = "Python programs are turned off on this site. An operator can allow them: PYTHON_PROGRAMS=True."
ROLES = ("user", "assistant")

Message = Mapping[str, str]


@dataclass(frozen=True)
class Limits:
    """What one step may take."""

    seconds: int = 5  # of processor time
    patience: float = 20.0  # seconds by the clock
    memory: int = 256 << 20  # bytes

    def __str__(self) -> str:
        return f"{self.seconds} seconds of processor time and {self.memory >> 20} MB of memory"


LIMITS = Limits()


@dataclass(frozen=True)
class Step:
    """What a program is run with: its source, what it is about, and what it asked and was answered so far."""

    source: str
    target: str
    seed: int
    asked: tuple[Sequence[Message], ...] = ()
    answers: tuple[str, ...] = ()
    most_asked: int = 10
    most_bytes: int = 20_000  # of one question


@dataclass(frozen=True)
class Outcome:
    """How a step ended: with a question, with an answer of the model's, or with an error of the program's."""

    question: tuple[dict[str, str], ...] = ()
    answer: str | None = None
    error: str = ""


def take_step(step: Step, limits: Limits = LIMITS) -> Outcome:
    """Runs the program until it asks something new or ends; raises CannotIsolate where it cannot be run safely."""
    task = {"source": step.source, "target": step.target, "seed": step.seed}
    task |= {"asked": [list(question) for question in step.asked], "answers": step.answers}
    ended = Outcome(error=f"It was ended: a step may take {limits}.")
    try:
        reply = json.loads(run_isolated(json.dumps(task).encode(), limits))
    except (ValueError, RecursionError):
        return ended
    if not isinstance(reply, dict):
        return ended
    if "ask" in reply:
        return _asked(reply["ask"], step)
    if "answer" in reply:
        return _answered(reply["answer"], step)
    return Outcome(error=str(reply["error"])[:MOST_DETAIL]) if reply.get("error") else ended


def _asked(messages: Any, step: Step) -> Outcome:
    if len(step.answers) >= step.most_asked:
        return Outcome(error=f"It asked more than {step.most_asked} times.")
    if not isinstance(messages, list) or not messages or not all(map(_is_message, messages)):
        return Outcome(error="A question is text, or a list of messages with a role (user or assistant) and content.")
    if messages[-1]["role"] != "user":
        return Outcome(error="The last message of a question is the user's.")
    if (size := prompt_size(messages)) > step.most_bytes:
        return Outcome(error=f"It asked a question of {size:,} bytes; at most {step.most_bytes:,} are allowed.")
    return Outcome(question=tuple({"role": each["role"], "content": each["content"]} for each in messages))


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.keys() == {"role", "content"}
        and message["role"] in ROLES
        and isinstance(message["content"], str)
        and bool(message["content"].strip())
        and clean_text(message["content"])[0] == message["content"]  # or it could not be stored and asked again
    )


def _answered(answer: Any, step: Step) -> Outcome:
    """A level or drawing is the model's own: a program chooses among its answers, and writes none."""
    if not step.answers:
        return Outcome(error="It ended without asking the model.")
    if not isinstance(answer, str) or answer not in step.answers:
        return Outcome(error="It did not return one of the model's answers as it was given.")
    return Outcome(answer=answer)


def run_isolated(task: bytes, limits: Limits) -> bytes:
    """What the child wrote; nothing where it passed a limit."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(4)]
        source, rules, output, errors = files
        for file, body in ((source, task), (rules, call_filter())):
            file.write(body)
            file.seek(0)
        reader, writer = os.pipe()  # the child says here that it has begun; a program cannot take that back
        stack.callback(os.close, reader)
        arguments = map(str, (limits.seconds, limits.memory, MOST_OUTPUT, writer))
        try:
            process = subprocess.Popen(
                isolated(CHILD, *arguments, filter_fd=rules.fileno()),
                stdin=source,
                stdout=output,
                stderr=errors,
                pass_fds=(rules.fileno(), writer),
                env={},
            )
        finally:
            os.close(writer)
        try:
            process.wait(limits.patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if os.read(reader, 1) != BEGUN:
            errors.seek(0)
            raise CannotIsolate(f"bubblewrap cannot isolate a program here: {_first_line(errors.read(2000))}")
        output.seek(0)
        return output.read(MOST_OUTPUT)


def _first_line(text: bytes) -> str:
    return text.decode("utf-8", "replace").strip().partition("\n")[0] or "it said nothing"


# Tries what must not work, and asks only if none of it did.
SELF_TEST = """
import os, socket

def run(target, ask):
    for attempt in (lambda: socket.socket(), lambda: os.fork(), lambda: open("/etc/passwd"), lambda: open("/x", "w")):
        try:
            attempt()
        except OSError:
            continue
        raise RuntimeError("the sandbox leaks")
    return ask("ready?") if not os.environ.keys() - {"PYTHONHASHSEED", "PWD", "LC_CTYPE"} else ""
"""


@lru_cache(maxsize=1)
def why_not() -> str:
    """Why no program can be run here, in a sentence; empty where one can. Found out by running one."""
    try:
        outcome = take_step(Step(SELF_TEST, "A", seed=0))
    except CannotIsolate as error:
        return str(error)
    if not outcome.question:
        return f"Python programs are not isolated on this machine: {outcome.error}"
    return ""
