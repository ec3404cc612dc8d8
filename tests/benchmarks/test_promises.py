"""Figures are held against promises, and tables find their place in a page."""

from __future__ import annotations

import sys

import pytest

from benchmarks.figures.promises import PROMISES
from benchmarks.figures.promises.promise import Promise, dig, judge
from benchmarks.figures.proof_page import section, shortfalls
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


def test_a_range_is_missed_on_either_side():
    figures = {"worlds": [{"held": 0.94}, {"held": 0.97}]}

    def row(*limits):
        return judge(Promise("x", "Held", "worlds.*.held", "within", limits), figures)

    assert (row(0.93, 0.98)["result"], row(0.93, 0.98)["limit"]) == ("0.94 to 0.97", "within 0.93 to 0.98")
    assert [row(*limits)["holds"] for limits in ((0.93, 0.98), (0.95, 0.98), (0.93, 0.96))] == [
        "yes",
        "**no**",
        "**no**",
    ]


def test_no_limit_of_coverage_is_looser_than_the_goal():
    promised = [promise for promise in PROMISES if promise.bench == "coverage" and promise.sign]
    shares = ("rating", "gap", "rate", "alpha_nominal", "alpha_interval", "ac1", "fleiss", "raw", "gap_cover")

    for promise in promised:
        column = promise.path.split(".")[-1]
        if column in shares:
            assert promise.sign == "within", promise.says
            assert promise.limit[0] >= 0.93 and promise.limit[1] <= 0.98, promise.says
        elif promise.sign == "≤" and column != "width":
            assert promise.limit <= 0.05, promise.says


def test_a_record_of_several_runs_is_not_called_a_form_of_the_bench():
    sources = [{"table": "gaps", "commit": "abc1234", "studies": 100}]
    record = {"exit": None, "full": False, "sources": sources, "figures": {}, "at": "2026-01-01T00:00", "load": None}

    page = section("coverage", record | {"seconds": None})

    assert "full form" not in page and "short form" not in page
    assert "Not one run of `script/bench coverage`" in page and "abc1234" in page
    assert "Put together from several runs: coverage." in shortfalls({"coverage": record | {"seconds": None}})


def test_what_was_not_measured_does_not_hold():
    assert judge(Promise("x", "Fast", "missing", "≤", 1), FIGURES)["holds"] == "no"


def test_every_promise_names_a_bench():
    from benchmarks.figures.all import BENCHES, ON_REQUEST

    assert {promise.bench for promise in PROMISES} <= {*BENCHES, *ON_REQUEST}


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
