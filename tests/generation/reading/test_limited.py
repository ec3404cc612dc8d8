"""An answer that would take for ever, or breaks the reader, ends its reader and nothing else."""

from __future__ import annotations

import os
import signal
import time

import pytest

from generation.formats.ascii_art import AsciiArt
from generation.formats.base import Answer
from generation.models import Sample
from generation.reading import answers
from generation.reading.limited import ReaderDied, ReaderProcess, Task, TooSlow
from generation.runs.loaded import load_run
from tests.judging.make import make_run

CAT = "```\n=^.^=\n```"


def task(text: str = CAT) -> Task:
    return Task("ascii_art", Answer(text))


@pytest.fixture
def reader():
    process = ReaderProcess(seconds=0.2)
    yield process
    process.stop()


def spin(self, answer):
    deadline = time.process_time() + (60 if answer.text == "slow" else 0)
    while time.process_time() < deadline:
        pass
    return real(self, answer)


real = AsciiArt.extract


def test_answers_are_read_in_another_process(reader):
    extraction, signed = reader.run("extract", task())

    assert (extraction.drawing, signed) == ("=^.^=", [])
    assert reader.child not in (0, os.getpid())


def test_slow_answer_is_ended_and_the_next_is_read(reader, monkeypatch):
    monkeypatch.setattr(AsciiArt, "extract", spin)

    with pytest.raises(TooSlow):
        reader.run("extract", task("slow"))

    assert reader.run("extract", task())[0].drawing == "=^.^="


def test_slow_answer_in_c_is_ended_too(reader, monkeypatch):
    monkeypatch.setattr(AsciiArt, "extract", lambda self, answer: __import__("re").match("(a+)+$", "a" * 60 + "b"))

    with pytest.raises(TooSlow):
        reader.run("extract", task())


def test_reader_that_is_killed_is_not_called_slow(reader, monkeypatch):
    monkeypatch.setattr(AsciiArt, "extract", lambda self, answer: os.kill(os.getpid(), signal.SIGKILL))

    with pytest.raises(ReaderDied, match="-9"):
        reader.run("extract", task())


def test_fork_gets_a_reader_of_its_own(reader):
    reader.run("extract", task())
    theirs = reader.child

    child = os.fork()
    if child == 0:
        same = reader.run("extract", task())[0].drawing == "=^.^=" and reader.child != theirs
        reader.stop()
        os._exit(0 if same else 1)

    assert os.waitpid(child, 0)[1] == 0
    assert reader.run("extract", task())[0].valid


@pytest.mark.django_db
def test_slow_answer_is_an_invalid_drawing_with_that_reason(reader, monkeypatch):
    monkeypatch.setattr(AsciiArt, "extract", spin)
    monkeypatch.setattr(answers, "READER", reader)
    loaded = load_run(make_run(entrants=2, prompts=1, attempts=1).pk)

    read = answers.read_answer(loaded, prompt_pk=next(iter(loaded.prompts)), text="slow", measure=False)

    assert (read.verdict, read.reason, read.held) == (Sample.Verdict.INVALID, "too_slow", False)
    assert "0.2 seconds of processor time" in read.detail
