from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchsite.lib.file_errors import FileError
from benchsite.lib.json_lines import CHUNK
from benchsite.lib.times import parse_time
from generation.formats import get_format
from generation.formats.base import Answer
from judging.files.exports import write_records
from ranking.pairwise.files.samples import read_samples
from ranking.pairwise.files.votes import read_votes
from ranking.statistics.votes import standing_votes
from tests.ranking.pairwise.vote_lines import FIELDS, vote_rows, write_lines
from tests.ranking.statistics.make_votes import simulate

GOOD = {"left_model": "a", "right_model": "b", "outcome": "left"}


def read_one(tmp_path, line, **options):
    return read_votes(write_lines(tmp_path / "votes.jsonl", [GOOD, line, GOOD]), **options)


def test_it_reads_what_the_exporter_writes(tmp_path):
    votes = simulate(300)
    read = read_votes(write_lines(tmp_path / "votes.jsonl", vote_rows(votes))).votes
    assert read.entrants == votes.entrants
    for column in ("left", "right", "outcome", "judge", "prompt", "category", "left_attempt", "kind", "time"):
        assert np.array_equal(getattr(read, column), getattr(votes, column)), column


def test_three_fields_are_enough(tmp_path):
    read = read_votes(write_lines(tmp_path / "votes.jsonl", [GOOD])).votes
    assert (read.judge[0], read.prompt[0], read.category[0], read.left_attempt[0], read.kind[0]) == (-1, -1, -1, -1, 0)
    assert math.isnan(read.time[0]) and math.isinf(read.withdrawn[0])


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        ({**GOOD, "outcome": "draw"}, "outcome", "one of left, right, tie, fail, not 'draw'"),
        ({**GOOD, "outcome": None}, "outcome", "one of"),
        ({**GOOD, "outcome": ["left"]}, "outcome", "one of"),
        ({"left_model": "a", "right_model": "b"}, "outcome", "is missing"),
        ({**GOOD, "right_model": "a"}, "right_model", "cannot be compared with itself"),
        ({"right_model": "b", "outcome": "left"}, "left_model", "is missing"),
        ({**GOOD, "left_model": 7}, "left_model", "must be text, not a number"),
        ({**GOOD, "left_model": True}, "left_model", "true or false"),
        ({**GOOD, "left_model": {}}, "left_model", "an object"),
        ({**GOOD, "right_model": "  "}, "right_model", "is empty"),
        ({**GOOD, "left_model": "x" * 10_001}, "left_model", "longer than"),
        ({**GOOD, "judge": 5}, "judge", "must be text"),
        ({**GOOD, "judge": []}, "judge", "must be text, not a list"),
        ({**GOOD, "kind": "special"}, "kind", "regular, shared, repeat"),
        ({**GOOD, "kind": 0}, "kind", "regular, shared, repeat"),
        ({**GOOD, "left_attempt": "2"}, "left_attempt", "whole number"),
        ({**GOOD, "left_attempt": 1.5}, "left_attempt", "whole number"),
        ({**GOOD, "right_attempt": -3}, "right_attempt", "0 or more"),
        ({**GOOD, "right_attempt": 10**30}, "right_attempt", "whole number"),
        ({**GOOD, "right_attempt": True}, "right_attempt", "whole number"),
        ({**GOOD, "response_ms": "fast"}, "response_ms", "milliseconds"),
        ({**GOOD, "response_ms": -1}, "response_ms", "milliseconds"),
        ({**GOOD, "voted_at": "yesterday"}, "voted_at", "must be a time"),
        ({**GOOD, "voted_at": 12}, "voted_at", "must be a time"),
        ({**GOOD, "withdrawn": "maybe"}, "withdrawn", "true, false"),
        ({**GOOD, "withdrawn": 3}, "withdrawn", "true, false"),
        ("{not json", "", "is not JSON (Expecting property name"),
        ('{"left_model": "a"} {"b": 1}', "", "is not JSON (Extra data at character 21)"),
        ("[1, 2]", "", "is a list"),
        ("17", "", "is a number"),
        (
            '{"left_model": "a", "right_model": "b", "outcome": "left", "response_ms": NaN}',
            "",
            "is not JSON (NaN is not a number)",
        ),
        ("[" * 100_000, "", "it nests too deep"),
    ],
)
def test_a_bad_line_is_named_by_file_line_and_field(tmp_path, line, field, words):
    with pytest.raises(FileError) as caught:
        read_one(tmp_path, line)
    assert (caught.value.line, caught.value.field) == (2, field)
    assert str(caught.value).startswith(f"{tmp_path / 'votes.jsonl'}, line 2{f', {field}' if field else ''}: ")
    assert words in str(caught.value)
    skipping = read_one(tmp_path, line, skip_bad=True)
    assert len(skipping.votes) == 2
    assert [fault.line for fault in skipping.skipped] == [2]
    assert skipping.votes.entrants == ("a", "b")


def test_a_bad_line_is_told_in_one_short_line_that_no_terminal_obeys(tmp_path):
    name = "\x1b[2J\n" * 1000
    with pytest.raises(FileError, match=r"votes␛\[2J\.jsonl, line 1, right_model: ") as caught:
        read_votes(write_lines(tmp_path / "votes\x1b[2J.jsonl", [{**GOOD, "left_model": name, "right_model": name}]))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 600


def test_bytes_that_are_no_utf8_are_a_bad_line(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b'\n{"left_model": "\xff", "right_model": "b", "outcome": "tie"}\n')
    with pytest.raises(FileError, match=", line 2, left_model: is not valid UTF-8"):
        read_votes(path)


def test_blank_lines_crlf_and_a_byte_order_mark_are_no_fault(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n\n" + json.dumps(GOOD).encode())
    assert len(read_votes(path).votes) == 2


def test_line_numbers_hold_across_chunks(tmp_path):
    before = 2 * CHUNK + 1
    path = write_lines(tmp_path / "votes.jsonl", [GOOD] * before + [{**GOOD, "outcome": "x"}] + [GOOD] * CHUNK)
    with pytest.raises(FileError) as caught:
        read_votes(path)
    assert caught.value.line == before + 1
    assert len(read_votes(path, skip_bad=True).votes) == before + CHUNK


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileError, match="No such file"):
        read_votes(tmp_path / "nowhere.jsonl")


def write_csv(path: Path, rows, fields=FIELDS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_csv_reads_as_jsonl(tmp_path):
    rows = vote_rows(simulate(200))
    a = read_votes(write_csv(tmp_path / "votes.csv", rows)).votes
    b = read_votes(write_lines(tmp_path / "votes.jsonl", rows)).votes
    assert a.entrants == b.entrants
    for column in ("left", "right", "outcome", "judge", "right_attempt", "time", "response_ms", "withdrawn"):
        assert np.array_equal(getattr(a, column), getattr(b, column)), column


def test_csv_formula_guards_come_off(tmp_path):
    row = {"left_model": "'@cf/meta", "right_model": "'quoted'", "outcome": "tie"}
    read = read_votes(write_csv(tmp_path / "votes.csv", [row], ["left_model", "right_model", "outcome"]))
    assert read.votes.entrants == ("'quoted'", "@cf/meta")


@pytest.mark.parametrize("start", ["'", "''", "'=", "=", "\n", "\r", "\t", "＝", "＋", "－", "＠"])
def test_names_come_back_from_the_csv_that_the_exporter_writes(tmp_path, start):
    name, row = f"{start}x", vote_rows(simulate(1))[0]
    row |= {"judge": name, "prompt_text": name, "category": name, "left_model": name, "right_model": "b"}
    with (tmp_path / "votes.csv").open("w", encoding="utf-8", newline="") as stream:
        write_records([row], FIELDS, stream, format="csv")

    read = read_votes(tmp_path / "votes.csv").votes

    assert (read.judges, read.prompts, read.categories) == ((name,),) * 3
    assert read.entrants == tuple(sorted((name, "b")))


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("left_model,outcome\na,left\n", 1, "right_model"),
        ("left_model,right_model,outcome\na,b,left\na,b,best\n", 3, "outcome"),
        ("left_model,right_model,outcome\na,b\n", 2, "outcome"),
        ("left_model,right_model,outcome,left_attempt\na,b,tie,two\n", 2, "left_attempt"),
        (f"left_model,right_model,outcome,left_attempt\na,b,tie,{'[' * 9999}\n", 2, "left_attempt"),
        (f"left_model,right_model,outcome,right_attempt\na,b,tie,{'9' * 9999}\n", 2, "right_attempt"),
        ("left_model,right_model,outcome,response_ms\na,b,tie,NaN\n", 2, "response_ms"),
    ],
)
def test_bad_csv_is_named_by_line_and_field(tmp_path, text, line, field):
    path = tmp_path / "votes.csv"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        read_votes(path)
    assert (caught.value.line, caught.value.field) == (line, field)


def test_empty_files_hold_no_votes(tmp_path):
    for name in ("votes.jsonl", "votes.csv"):
        (tmp_path / name).write_text("")
        assert len(read_votes(tmp_path / name).votes) == 0


def test_withdrawn_votes_do_not_stand_but_stood_before(tmp_path):
    rows = [
        {**GOOD, "voted_at": "2026-05-01T10:00:00Z"},
        {**GOOD, "voted_at": "2026-05-01T11:00:00Z", "withdrawn": "2026-05-01T12:00:00Z"},
        {**GOOD, "voted_at": "2026-05-01T13:00:00Z", "withdrawn": True},
        GOOD,
    ]
    votes = read_votes(write_lines(tmp_path / "votes.jsonl", rows)).votes
    assert len(standing_votes(votes)) == 2
    assert len(standing_votes(votes, until=parse_time("2026-05-01T11:30:00Z").timestamp())) == 2
    assert len(standing_votes(votes, until=parse_time("2026-05-01T12:30").timestamp())) == 1


def test_samples_give_valid_rates_and_robustness(tmp_path):
    rows = [
        {
            "model_id": "a",
            "valid": True,
            "measures": {"robustness": 0.5, "similarity": {}, "coverage": 1, "fonts": {"fira": 0.5, "dejavu": 1}},
        },
        {
            "model_id": "a",
            "valid": True,
            "measures": {"robustness": 1.0, "similarity": {}, "coverage": 0.5, "fonts": {"fira": 1.0, "dejavu": "all"}},
        },
        {"model_id": "b", "valid": True, "measures": {"robustness": 7, "fonts": ["fira"]}},
        {"model_id": "a", "valid": False, "measures": {}},
        {"model_id": "b", "sanitized_output": None},
        {"model_id": "b", "sanitized_output": "art"},
    ]
    rates, _ = read_samples(write_lines(tmp_path / "database.jsonl", rows))
    assert (rates["a"].samples, rates["a"].valid, rates["a"].robustness) == (3, 2, 0.75)
    assert (rates["a"].measured, rates["a"].fonts) == (2, {"dejavu": 1.0, "fira": 0.75})
    assert (rates["b"].valid_rate, rates["b"].measured, rates["a"].coverage) == (2 / 3, 1, 0.75)
    assert rates["a"].low < 2 / 3 < rates["a"].high


def test_samples_without_measures_are_measured_as_the_site_would(tmp_path):
    drawing = " /\\_/\\\n( o.o )"
    rows = [
        {"model_id": "a", "sanitized_output": drawing},
        {"model_id": "b", "sanitized_output": drawing, "format": "svg"},
        {"model_id": "c", "valid": True, "measures": {"robustness": 1.0, "fonts": {"fira": 1.0}}},
    ]

    rates, _ = read_samples(write_lines(tmp_path / "database.jsonl", rows))

    measured = get_format("ascii_art").measure(drawing, Answer(""), backend="builtin")
    assert (rates["a"].robustness, rates["a"].coverage) == (measured["robustness"], 1.0)
    assert rates["b"].robustness is None, "only text that is shown in fonts has it"
    assert (rates["c"].robustness, rates["c"].coverage) == (None, 1.0), "measured before pictures were compared"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"valid": True}, "bad.jsonl:1: model_id is missing."),
        ({"model_id": "a", "valid": "yes"}, "bad.jsonl:1: valid must be true or false."),
        ({"model_id": "a", "program": 7}, "bad.jsonl:1: program must be text, not a number."),
        ([], "bad.jsonl:1: the line is a list, not a JSON object."),
    ],
)
def test_bad_sample_is_named_by_file_line_and_field(tmp_path, row, message):
    with pytest.raises(FileError) as error:
        read_samples(write_lines(tmp_path / "bad.jsonl", [row]))

    assert str(error.value) == message


def test_samples_that_are_not_there(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        read_samples(tmp_path / "none.jsonl")
