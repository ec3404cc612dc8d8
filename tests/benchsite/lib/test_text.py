"""Text made safe to store, print and export."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchsite.lib.text import clean_text, csv_cell, csv_uncell, decode, markdown_cell, visible
from tests.hostile import case_bytes, cases

ANY_TEXT = st.text(alphabet=st.characters(codec=None, categories=None))


def test_clean_text_leaves_plain_text_alone():
    assert clean_text("cat 🐈 é\n\t") == ("cat 🐈 é\n\t", ())


def test_clean_text_replaces_nul_and_lone_surrogates_and_says_so():
    assert clean_text("a\0b\ud800c") == ("a\ufffdb\ufffdc", ("nul_replaced", "surrogate_replaced"))


def test_clean_text_joins_a_surrogate_pair():
    assert clean_text("\ud83d\ude00") == ("😀", ())


@settings(max_examples=200, deadline=None)
@given(ANY_TEXT)
def test_clean_text_can_always_be_stored(text):
    cleaned, _ = clean_text(text)

    assert "\0" not in cleaned
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean_text(cleaned) == (cleaned, ())


def test_decode_flags_what_is_not_utf8():
    assert decode(b"ok \xc3\xa9") == ("ok é", ())
    assert decode(b"a\xffb") == ("a\ufffdb", ("invalid_utf8",))


def test_visible_shows_escapes_controls_and_marks():
    assert visible("\x1b[2J\x07\x9b31m\u202ea\u200b\U000e0041\x7f\n") == ("␛[2J␇\\x9b31m\\u202ea\\u200b\\U000e0041␡␊")


def test_visible_can_keep_lines():
    assert visible("a\n\tb\r", newlines=True) == "a\n\tb␍"


@pytest.mark.parametrize("case", cases("ascii"), ids=lambda case: case["id"])
def test_visible_never_lets_a_terminal_obey(case):
    shown = visible(decode(case_bytes(case))[0])

    assert not any(ord(c) < 0x20 or 0x7F <= ord(c) <= 0x9F for c in shown)


@pytest.mark.parametrize("start", list("=+-@\t\r\n'＝＋－＠"))
def test_csv_cell_starts_with_an_apostrophe_where_a_formula_could(start):
    assert csv_cell(f"{start}1+1") == f"'{start}1+1"


def test_csv_cell_leaves_others_alone():
    assert csv_cell("") == ""
    assert csv_cell(" =1") == " =1"
    assert csv_uncell("'tis") == "'tis"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="'=+-@\t\r\na,\"; ＝") | st.text())
def test_csv_cell_comes_back_exactly_through_a_file(text):
    file = io.StringIO(newline="")
    csv.writer(file).writerow(["id", csv_cell(text)])
    file.seek(0)

    assert csv_uncell(next(csv.reader(file))[1]) == text


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("plain name, 7.5 %", "plain name, 7.5 %"),
        ("<img src=x>", r"\<img src=x\>"),
        ("a|b\\|c", r"a\|b\\\|c"),
        ("[x](javascript:1) *_`#", r"\[x\](javascript:1) \*\_\`\#"),
        ("two\nlines\r\n\tthree", "two lines three"),
    ],
)
def test_markdown_cell_is_one_line_without_markup(text, cell):
    assert markdown_cell(text) == cell
