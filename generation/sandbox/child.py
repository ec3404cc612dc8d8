"""The child that runs a Python program, alone in its sandbox: reads one task, writes one line, and ends.

It is started as a file of its own, so that it holds nothing of the site. Its first act is to give up what a program has no
use for; what comes after may be hostile. The parent believes nothing that is written here.

    child.py SECONDS BYTES_OF_MEMORY BYTES_OF_OUTPUT PIPE
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import sys
import traceback
from types import ModuleType
from typing import Any, NoReturn

NAME = "program.py"


def main() -> None:
    seconds, memory, output, pipe = map(int, sys.argv[1:])
    os.write(pipe, b"+")
    os.close(pipe)
    task = json.loads(sys.stdin.buffer.read())
    answers, asked = list(task["answers"]), list(task["asked"])
    random.seed(task["seed"])
    sys.stdout = sys.stderr = io.StringIO()  # a program may print; nobody reads it
    for limit, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_NOFILE, 16),  # modules are read from files
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    turn = 0

    def ask(question: Any) -> str:
        """What the model answers. One that it was not asked yet ends this run; the next has the answer."""
        nonlocal turn
        messages = [{"role": "user", "content": question}] if isinstance(question, str) else question
        if turn == len(answers):
            end(ask=messages)
        if messages != asked[turn]:
            end(
                error=f"Run again, it put another question in place of number {turn + 1}. Use no clock, and no randomness of its own."
            )
        turn += 1
        return str(answers[turn - 1])

    module = ModuleType("program")
    try:
        exec(compile(task["source"], NAME, "exec"), module.__dict__)  # noqa: S102 — what this child is for
        answer = module.run(task["target"], ask)
    except BaseException as error:
        end(error=f"{type(error).__name__}{line_of(error)}: {error}")
    end(answer=answer)


def line_of(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f" in line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME]
    return f" in line {lines[-1]}" if lines else ""


def end(**outcome: Any) -> NoReturn:
    try:
        line = json.dumps(outcome)
    except (TypeError, ValueError):
        line = json.dumps({"error": "It asked or returned something that is not text."})
    os.write(1, line.encode())
    os._exit(0)


if __name__ == "__main__":
    main()
