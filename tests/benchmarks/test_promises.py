"""Figures are held against promises, and tables find their place in a page."""

from __future__ import annotations

import sys

import pytest

from benchmarks.figures.promises import PROMISES, Promise, dig, judge
from benchmarks.figures.table import figure, markdown, refresh

FIGURES = {"speed": [{"seconds": 0.5}, {"seconds": 2.0}], "lost": 0, "held": [{"ok": True}, {"ok": False}]}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("lost", [0]),
        ("speed.1.seconds", [2.0]),
        ("speed.*.seconds", [0.5, 2.0]),
        ("speed.7.seconds", []),
        ("speed.first.seconds", []),
        ("nothing.here", []),
    ],
)
def test_dig_finds_what_a_path_leads_to(path, found):
    assert dig(FIGURES, path) == found


def test_the_worst_figure_decides():
    slow = judge(Promise("x", "Fast", "speed.*.seconds", "≤", 1, "s"), FIGURES)
    mixed = judge(Promise("x", "Held", "held.*.ok", "=", True), FIGURES)
    fine = judge(Promise("x", "Lost", "lost", "=", 0), FIGURES)

    assert (slow["result"], slow["limit"], slow["holds"]) == ("2 s", "≤ 1", "**no**")
    assert (mixed["result"], mixed["holds"]) == ("no", "**no**")
    assert (fine["result"], fine["holds"]) == ("0", "yes")


def test_what_was_not_measured_does_not_hold():
    assert judge(Promise("x", "Fast", "missing", "≤", 1), FIGURES)["holds"] == "no"


def test_every_promise_names_a_bench():
    from benchmarks.figures.all import BENCHES

    assert {promise.bench for promise in PROMISES} <= set(BENCHES)


def test_a_bench_that_takes_too_long_may_clean_up(tmp_path):
    from benchmarks.figures.all import run_within

    left = tmp_path / "cleaned"
    program = f"import pathlib, time\ntry:\n time.sleep(60)\nfinally:\n pathlib.Path({str(left)!r}).touch()"

    assert run_within([sys.executable, "-c", program], 3) == -1
    assert left.exists()
    assert run_within([sys.executable, "-c", "raise SystemExit(3)"], 60) == 3


def test_refresh_replaces_only_what_stands_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- /a -->\nafter\n<!-- b -->\nkept\n<!-- /b -->\n")

    refresh(page, "a", "new")

    assert page.read_text() == "before\n<!-- a -->\n\nnew\n\n<!-- /a -->\nafter\n<!-- b -->\nkept\n<!-- /b -->\n"
    with pytest.raises(SystemExit, match="no place for c"):
        refresh(page, "c", "new")


def test_a_table_is_written_as_markdown():
    assert markdown([{"what": "a|b", "n": 12345, "share": 0.95}]) == (
        "| what | n | share |\n| --- | --- | --- |\n| a\\|b | 12,345 | 0.95 |"
    )
    assert [figure(value) for value in (True, 0.123456, 12345.6)] == ["yes", "0.1235", "12,346"]
