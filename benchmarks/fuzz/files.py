"""The importers that the fuzz bench reads: samples, grades, trials, programs, from files of anybody's making."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.fuzz.readers import (
    ANY,
    FOLDER,
    YAML,
    Reader,
    assert_storable,
    corpus,
    damaged,
    encoded,
    pieces,
    refuses,
)
from benchsite.lib.file_errors import FileError
from generation.files.inspect_logs import read_log
from generation.files.sample_lines import read_lines as read_sample_lines
from generation.suites.demo_sizes import load_demo
from generation.suites.loading import load_suite
from generation.suites.profiles import load_profiles
from generation.suites.program_files import read_programs
from generation.suites.suite import Suite
from generation.suites.yaml_source import SuiteError
from judging.files.model_grade_lines import ModelGradeLine, read_model_grades
from ranking.automatic.files import read_samples as read_answers
from ranking.competition.files import read_trials
from ranking.pairwise.files.samples import read_samples
from ranking.rubric.files import NAMES, read_grades
from tests.generation.suites.suite_files import PROGRAMS, PROVIDERS, write_suite

CONFIG = Path(__file__).resolve().parents[2] / "config"
PIXELS = load_suite(CONFIG / "pixel-art-lite")

TRIALS = b"""program,model,target,trial,stability,similarity,diversity,baseline
one,m,A,1,0.5,0.25,0.1,no
one,m,A,2,1,0,0.2,no
"""


def sample_lines() -> Reader:
    good = {"model_id": "a/b", "prompt_text": "Draw a cat", "attempt_number": 1, "raw_output": "```\n/\\\n```"}
    more = {**good, "category": "c", "finish_reason": "stop", "completion_tokens": 3, "program": "p"}
    own = [encoded("\n".join(json.dumps(line) for line in (good, more)))]

    def read(raw: bytes) -> Any:
        return read_sample_lines(io.BytesIO(raw), "file")

    def check(raw: bytes) -> bool:
        lines, bad = read(raw)
        assert all(str(line) for line in bad)
        # raw_output is cleaned when it is stored, and the rest is only compared.
        assert_storable(text for line in lines for text in (line.model_id, line.finish_reason))
        rows = [
            {**asdict(line), "attempt_number": line.attempt, "raw_output": line.text, "program": line.program}
            for line in lines
        ]
        again, worse = read_sample_lines(io.BytesIO(b"".join(json.dumps(row).encode() + b"\n" for row in rows)), "file")
        kept = [{**asdict(line), "number": 0} for line in again]
        assert not (rows and worse), "what was read is refused"
        assert kept == [{**asdict(line), "number": 0} for line in lines], "a line does not read as itself"
        return bool(lines)

    inputs = (
        damaged(own)
        | damaged(corpus("json"))
        | (ANY | pieces('{"a":', "[", "]", "}", '"', "1e999", "NaN")).map(encoded)
    )
    return Reader("sample lines", inputs, read, check, ['{"a":', "[", "{}\n", '"', "\\u0000", "9"])


def set_up_django() -> None:
    """What readers beside the database need of it: its classes, not a connection."""
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            USE_TZ=True,
            SUITES_DIR=CONFIG,
            INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "generation", "judging"],
        )
        django.setup()


def graded_suite() -> Suite:
    return load_suite(write_suite(FOLDER / "graded"))


def grades(suite: Suite) -> bytes:
    row, dimensions = graded_drawing(suite)
    return encoded("\n".join(json.dumps(row | {"dimension": name, "value": 5}) for name in dimensions))


def graded_drawing(suite: Suite) -> tuple[dict[str, Any], list[str]]:
    """What names it and its judge in a row, and the dimensions of its stage."""
    prompt = next(entry for entry in suite.prompts if entry.subject or entry.key)
    stage = next(stage for stage in suite.rubric.stages if stage.key == prompt.category)
    row = {"judge": "j", "entrant": "e", "stage": stage.key, "subject": prompt.subject or prompt.key, "attempt": 1}
    return row, [dimension.key for dimension in stage.dimensions]


def model_grades(suite: Suite) -> list[bytes]:
    row, dimensions = graded_drawing(suite)
    read = row | {"model": "m", "grades": dict.fromkeys(dimensions, 5), "reasons": dict.fromkeys(dimensions, "Even.")}
    unread = row | {"model": "m", "attempt": 2, "grades": None, "unreadable": "?", "cost_nano": 5, "version": 1}
    return [encoded("\n".join(json.dumps(line) for line in (read, unread)))]


def storable_model_grades(lines: list[ModelGradeLine]) -> None:
    assert_storable(
        getattr(line, name)
        for line in lines
        for name in ("judge", "model", "entrant", "stage", "subject", "unreadable")
    )
    assert_storable(reason for line in lines for reason in line.reasons.values())


def storable_names(grades: pd.DataFrame) -> None:
    assert_storable(text for name in NAMES for text in grades[name])


def answers() -> list[bytes]:
    row = {"model_id": "a/b", "prompt_text": PIXELS.prompts[0].text, "attempt_number": 1, "raw_output": '{"grid": []}'}
    more = {**row, "prompt_text": "Draw a cat", "category": "c", "attempt_number": 2, "finish_reason": "stop"}
    return [encoded("\n".join(json.dumps(line) for line in (row, more)))]


def storable_answers(rows: list[dict[str, Any]]) -> None:
    assert_storable(row[name] for row in rows for name in ("model", "prompt", "category", "finish_reason"))


def samples() -> list[bytes]:
    measured = {"model_id": "a", "valid": True, "measures": {"robustness": 0.5, "fonts": {"fira": 0.5, "dejavu": 1}}}
    rows = [measured, {"program": "p", "model_id": "b", "invalid": True}, {"model_id": "a", "sanitized_output": "art"}]
    return [encoded("\n".join(json.dumps(row) for row in rows))]


def inspect_logs() -> list[bytes]:
    answer = {"message": {"role": "assistant", "content": "/\\_/\\"}, "stop_reason": "stop"}
    sample = {"id": 1, "epoch": 1, "input": "Draw a cat", "output": {"choices": [answer]}}
    asked = {**sample, "epoch": 2, "input": [{"role": "user", "content": [{"type": "text", "text": "Draw a cat"}]}]}
    return [encoded(json.dumps({"eval": {"model": "a/b"}, "samples": [sample, asked]}))]


IMPORTERS = (
    refuses("log.json", FileError, read_log, inspect_logs()),
    sample_lines(),
    refuses(
        "grades.jsonl",
        FileError,
        partial(read_grades, suite=(SUITE := graded_suite())),
        [grades(SUITE)],
        holds=storable_names,
    ),
    refuses(
        "model_grades.jsonl",
        FileError,
        partial(read_model_grades, rubric=SUITE.rubric),
        model_grades(SUITE),
        holds=storable_model_grades,
    ),
    refuses(
        "answers.jsonl",
        FileError,
        lambda path: list(read_answers(path, suite=PIXELS)),
        answers(),
        holds=storable_answers,
    ),
    refuses("database.jsonl", FileError, read_samples, samples(), holds=lambda read: "".join(read[0]).encode()),
    refuses("trials.csv", FileError, read_trials, [TRIALS]),
    refuses("programs.yaml", SuiteError, read_programs, [PROGRAMS.encode(), *corpus("yaml")], YAML),
    refuses("providers.yaml", SuiteError, load_profiles, [PROVIDERS.encode(), *corpus("yaml")], YAML),
    refuses("demo.yaml", SuiteError, load_demo, [(CONFIG / "demo.yaml").read_bytes(), *corpus("yaml")], YAML),
)
