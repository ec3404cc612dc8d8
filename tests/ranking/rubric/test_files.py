"""grades.jsonl without a database: good files are scored, bad lines are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchsite.lib.file_errors import FileError
from generation.suites.loading import load_suite
from ranking.rubric.scores import analyse_file

SUITE = load_suite(Path(__file__).resolve().parents[3] / "config" / "pokemon-svg")
GOOD = {
    "judge": "ann",
    "entrant": "m",
    "stage": "s2",
    "subject": "Pikachu",
    "attempt": 1,
    "dimension": "signature",
    "value": 7.5,
}


def write(folder: Path, *lines: dict | str) -> Path:
    path = folder / "grades.jsonl"
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n", encoding="utf-8"
    )
    return path


def all_grades(entrant: str, value: float, judge: str = "ann") -> list[dict]:
    return [
        GOOD | {"judge": judge, "entrant": entrant, "stage": stage.key, "subject": prompt.subject, "dimension": d.key, "value": value}
        for stage in SUITE.rubric.stages
        for prompt in SUITE.prompts
        if prompt.category == stage.key
        for d in stage.dimensions
    ]  # fmt: skip


def test_it_works(tmp_path):
    path = write(tmp_path, *all_grades("m", 8), *all_grades("n|o", 4.5), *all_grades("m", 9, judge="bob"))

    result = json.loads(analyse_file(path, suite=SUITE, out_format="json"))
    text = analyse_file(path, suite=SUITE, out_format="markdown")

    assert [(row["entrant"], row["rank"], round(row["total"]["value"], 6)) for row in result["scores"]] == [
        ("m", 1, 85.0),
        ("n|o", 2, 45.0),
    ]
    assert "| 1 | m | 85.00 |" in text
    assert "| 2 | n\\|o | 45.00 |" in text
    assert "| ann | 30 | 6.25 | -1.00 |" in text


def test_markdown_holds_no_markup_of_entrants_and_judges(tmp_path):
    path = write(tmp_path, *all_grades("<img src=x>", 8, judge="[ann](//x)"))

    text = analyse_file(path, suite=SUITE, out_format="markdown")

    assert "| 1 | \\<img src=x\\> | 80.00 |" in text
    assert "| \\[ann\\](//x) | 15 |" in text


def test_csv_has_a_row_for_each_entrant_and_no_formula(tmp_path):
    lines = analyse_file(write(tmp_path, *all_grades("=m", 8)), suite=SUITE, out_format="csv").splitlines()

    assert lines[0] == "rank,entrant,total,low,high,s1,s2,s3,drawings,graded,invalid,pending,sd"
    assert lines[1].startswith("1,'=m,80.0")
    assert len(lines) == 2


@pytest.mark.parametrize(
    "change, field, words",
    [
        ({"value": 10.5}, "value", "10.5 is not a number from 0 to 10"),
        ({"value": -1}, "value", "-1 is not a number"),
        ({"value": "8"}, "value", "'8' is not a number"),
        ({"value": True}, "value", "True is not a number"),
        ({"value": 7.3}, "value", "not on the scale's steps of 0.5"),
        ({"value": 10**400}, "value", "is not a number"),
        ({"dimension": "geometry"}, "dimension", "none of signature, proportion, impression"),
        ({"stage": "s4"}, "stage", "none of s1, s2, s3"),
        ({"subject": "Voltorb"}, "subject", "no subject of stage s2"),
        ({"judge": " "}, "judge", "is not a name"),
        ({"judge": "a\x00b"}, "judge", r"'a\x00b' has a character that no database can hold"),
        ({"judge": "\ud800"}, "judge", r"'\ud800' has a character that no database can hold"),
        ({"entrant": "\udfff"}, "entrant", "has a character that no database can hold"),
        ({"attempt": 1.0}, "attempt", "is not a whole number"),
        ({"attempt": -1}, "attempt", "is not a whole number"),
    ],
)
def test_bad_line_is_named(tmp_path, change, field, words):
    path = write(tmp_path, GOOD, "", GOOD | {"attempt": 2} | change)

    with pytest.raises(FileError) as raised:
        analyse_file(path, suite=SUITE)

    assert (raised.value.line, raised.value.field) == (3, field)
    assert words in str(raised.value)
    assert str(raised.value).startswith(f"grades.jsonl, line 3, {field}: ")


@pytest.mark.parametrize(
    "line", ["{", "[]", "7", "NaN", "[" * 100_000, '{"value": NaN}', '{"judge": "a", "judge": "b"}']
)
def test_line_that_is_no_object_is_named(tmp_path, line):
    with pytest.raises(FileError, match="line 2"):
        analyse_file(write(tmp_path, GOOD, line), suite=SUITE)


def test_missing_field_is_named(tmp_path):
    row = {key: value for key, value in GOOD.items() if key != "judge"}

    with pytest.raises(FileError, match="line 1, judge: this field is missing"):
        analyse_file(write(tmp_path, row), suite=SUITE)


def test_grade_given_twice_names_both_lines(tmp_path):
    with pytest.raises(FileError, match="line 2, dimension: this judge graded it already in line 1"):
        analyse_file(write(tmp_path, GOOD, GOOD | {"value": 3}), suite=SUITE)


def test_file_without_grades_is_refused(tmp_path):
    with pytest.raises(FileError, match="there is no grade in it"):
        analyse_file(write(tmp_path, ""), suite=SUITE)


def test_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "grades.jsonl"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(FileError, match="not UTF-8"):
        analyse_file(path, suite=SUITE)


def test_suite_without_rubric_is_refused(tmp_path):
    arena = load_suite(Path(__file__).resolve().parents[3] / "config" / "svg-arena")

    with pytest.raises(FileError, match="has no rubric"):
        analyse_file(write(tmp_path, GOOD), suite=arena)


def test_withdrawn_grades_of_an_archive_are_passed_over(tmp_path):
    good = all_grades("m", 8)
    path = write(
        tmp_path,
        good[0] | {"value": 2, "withdrawn_at": "2026-05-01T12:00:00+00:00"},
        *(row | {"withdrawn_at": None} for row in good),
    )

    result = json.loads(analyse_file(path, suite=SUITE, out_format="json"))

    assert result["grades"] == len(good)
    assert round(result["scores"][0]["total"]["value"], 6) == 80.0
