from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.suites.loading import load_suite
from generation.suites.suite import Suite
from generation.suites.yaml_source import SuiteError
from tests.generation.suites.suite_files import FILES, refusal, write_suite

# What is under these keys belongs to a provider, a format or a page, so any key and value may be right there.
FREE = ("parameters", "facts", "format_options")


def lines_with_keys() -> list[tuple[str, int, str]]:
    faults = []
    for file, text in FILES.items():
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r"[\s-]*(\w+):", line)
            if match:
                faults.append((file, number, match[1]))
    return faults


def change_line(file: str, number: int, pattern: str, new: str) -> str:
    lines = FILES[file].splitlines()
    lines[number - 1] = re.sub(pattern, new, lines[number - 1], count=1)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("file", "number", "key"), lines_with_keys())
def test_every_misspelt_key_is_named_with_file_line_and_suggestion(tmp_path, file, number, key):
    text = change_line(file, number, rf"\b{key}:", f"{key}x:")

    error = refusal(write_suite(tmp_path, **{file.removesuffix(".yaml"): text}))

    assert (error.reason, error.line) == ("unknown_key", number)
    assert error.file.endswith(f"letters/{file}")
    assert error.key.endswith(f"{key}x")
    assert error.hint == f"did you mean {key!r}"


SCALARS = [
    row for row in lines_with_keys() if row[2] not in FREE and not FILES[row[0]].splitlines()[row[1] - 1].endswith(":")
]


@pytest.mark.parametrize(("file", "number", "key"), SCALARS)
def test_every_value_of_a_wrong_type_is_named_with_file_and_line(tmp_path, file, number, key):
    text = change_line(file, number, rf"\b{key}:.*", f"{key}: [[]]")

    error = refusal(write_suite(tmp_path, **{file.removesuffix(".yaml"): text}))

    assert (error.reason, error.line) == ("wrong_type", number)
    assert error.file.endswith(f"letters/{file}")
    assert key in error.key


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    file=st.sampled_from(sorted(FILES)),
    start=st.integers(0, 900),
    length=st.integers(0, 30),
    patch=st.text(st.sampled_from("ab0 \n\t-:[]{}&*!|>'\"%@`#,?<~\\.=") | st.characters(), max_size=12),
)
def test_any_damage_gives_a_suite_or_a_clear_error(tmp_path_factory, file, start, length, patch):
    text = FILES[file]
    folder = write_suite(tmp_path_factory.mktemp("damaged"))
    damaged = text[:start] + patch + text[start + length :]
    (folder / file).write_bytes(damaged.encode("utf-8", "surrogatepass"))

    try:
        suite = load_suite(folder)
    except SuiteError as error:
        assert error.file.endswith(f"letters/{file}") or error.file.endswith("prompts.yaml")
        assert error.line >= 1
        assert error.message
    else:
        assert Suite.from_dict(json.loads(json.dumps(suite.to_dict()))) == suite
