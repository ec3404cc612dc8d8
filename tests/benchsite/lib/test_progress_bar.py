"""Progress bars: one line that moves on a terminal, a plain line now and then elsewhere, never a byte in the output."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from importlib import import_module
from inspect import getfile
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import OutputWrapper

from benchsite.lib.progress_bar import Bar, Pace
from generation.models import Run
from generation.runs.lifecycle import start_run
from judging.curating.runs import set_judging
from tests.generation.drawing_room import draw_some, make_suite
from tests.processes import database_url

ROOT = Path(__file__).resolve().parents[3]
# Each changes a handful of rows, answers line by line, or runs until it is stopped.
QUICK = {"cancel_run", "pause_run", "resume_run", "retry_failed", "first_logins", "suites", "doctor", "sweep", "work"}
QUICK |= {"plan_study", "close_calls", "migrate", "describe_model", "check_study", "export_study", "model_judge"}
QUICK |= {"emergency_login", "link_login", "reset_second_factor"}
QUICK |= {"dry_run_study", "poll_platform"}


def still():
    """A clock that stands still."""
    return 0.0


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_bar_moves_on_one_line_and_leaves_it_clean(eager):
    screen = Screen()
    with Bar(screen, "Reading", clock=still) as bar:
        bar.to(1, 4)
        bar.to(4, 4)
    drawn = screen.getvalue().split("\r")
    assert drawn[1].startswith(f"Reading [{'#' * 6}{'.' * 18}] 25% (1 of 4), 0 s")
    assert drawn[2].startswith(f"Reading [{'#' * 24}] 100% (4 of 4)")
    assert drawn[3].strip() == "" and len(drawn[3]) >= len(drawn[2].rstrip()) and drawn[4] == ""
    assert "\n" not in screen.getvalue()


def test_bar_without_a_total_counts_and_a_part_has_its_own_name(eager):
    screen = Screen()
    with Bar(screen, "Sending", clock=still) as bar:
        bar.bytes_to(1_234_567)
        bar.begin("Fitting")
        bar._draw_when_due()
    assert "\rSending 1,234,567 bytes, 0 s" in screen.getvalue() and "\rFitting, 0 s" in screen.getvalue()


def test_djangos_wrapper_neither_ends_the_line_nor_paints_it(eager):
    screen = Screen()
    wrapper = OutputWrapper(screen)
    wrapper.style_func = lambda text: f"<red>{text}</red>"
    with Bar(wrapper, "Reading") as bar:
        bar.to(1, 2)
    assert "red" not in screen.getvalue() and "\n" not in screen.getvalue()


def test_a_line_is_said_above_the_bar(eager):
    screen = Screen()
    with Bar(screen, "Reading", clock=still) as bar:
        bar.to(1, 2)
        bar.say("votes.jsonl:3: is bad")
        bar.to(2, 2)
    output = next(line for line in screen.getvalue().split("\n") if "is bad" in line)
    assert output.split("\r")[-1].rstrip() == "votes.jsonl:3: is bad"


def test_seconds_count_while_nothing_is_told():
    screen = Screen()
    with Bar(screen, "Fitting", pace=Pace(patience=0, every=0.01)):
        for _ in range(500):
            if screen.getvalue().count("\rFitting, 0 s") > 2:
                break
            time.sleep(0.01)
    assert screen.getvalue().count("\rFitting, ") > 2


@pytest.mark.parametrize(("stream", "patience"), [(Screen(), 0.5), (io.StringIO(), 30)])
def test_quick_work_shows_nothing(stream, patience):
    times = [100.0]
    with Bar(stream, "Reading", clock=lambda: times[-1]) as bar:
        times.append(99.9 + patience)
        bar.to(1, 2)
        assert stream.getvalue() == ""
        times.append(100.1 + patience)
        bar.to(2, 2)
        assert "Reading" in stream.getvalue()


def test_elsewhere_a_plain_line_comes_now_and_then(eager):
    file = io.StringIO()
    with Bar(file, "Reading", clock=still) as bar:
        bar.to(1, 4)
    assert file.getvalue().splitlines()[0] == "Reading 25% (1 of 4), 0 s" and "\r" not in file.getvalue()


def test_a_bar_that_is_not_wanted_is_silent(eager):
    screen = Screen()
    with Bar(screen, "Reading", wanted=False) as bar:
        bar.to(1, 4)
    assert screen.getvalue() == ""


def test_every_command_has_a_bar_or_is_quick():
    commands = [path for path in ROOT.glob("*/management/commands/*.py") if path.stem != "__init__"]
    assert len(commands) > 30 and {path.stem for path in commands if not has_bar(path)} == QUICK


def has_bar(path):
    """Its own, or that of the class it shares with others."""
    command = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)).Command
    return any("with Bar(self.stderr, " in Path(getfile(base)).read_text() for base in command.__mro__[:-1])


def shown(*arguments, out=None):
    """What a command shows on a terminal while its output goes elsewhere."""
    screen, output = Screen(), out or io.StringIO()
    call_command(*map(str, arguments), stdout=output, stderr=screen)
    assert "\r" not in output.getvalue() and "%" not in output.getvalue().partition("{")[0], "the output stays clean"
    return screen.getvalue()


@pytest.fixture
def run(demo, db):
    demo()
    run = start_run(make_suite())
    draw_some(run)
    return Run.objects.get(pk=run.pk)


def test_commands_about_drawings_show_how_far_they_are(eager, run, tmp_path):
    file = tmp_path / "database.jsonl"
    assert "\rReading again [" in shown("reread", run.code)
    assert "\rMeasuring [" in shown("measure", run.code, "--all")
    assert "\rExporting [" in shown("export", "samples", run.code, "--out", file)
    assert "\rExporting [" in shown("export", "samples", run.code)
    assert "\rExporting [" in shown("export", "all", run.code, "--out", tmp_path / "run.zip")
    assert "\rImporting [" in shown("import_run", tmp_path / "run.zip", "--copy", "--reason", "a test")
    assert "\rAdding [" in shown("extend_run", run.code, "--attempts", "3")
    assert "\rDrawing [" in shown("draw", run.code)


def test_commands_about_votes_show_how_far_they_are(eager, run, tmp_path):
    set_judging(run=run, verb="open", by=None, reason="")
    assert "\rVoting [" in shown("simulate_judges", run.code, "--votes", "6", "--judges", "2")
    assert f"\rCounting {run.code} [" in shown("rebuild_tallies", run.code)
    assert "\rComparing runs [" in shown("check_tallies")
    file = tmp_path / "votes.jsonl"
    assert "\rExporting [" in shown("export", "votes", run.code, "--out", file)
    assert "\rImporting [" in shown("import_votes", file, "--reason", "a test")
    assert "\rReading [" in shown("analyse", file, "--format", "csv")
    assert "\rFitting [" in shown("refit")


@pytest.mark.django_db(transaction=True)
def test_export_to_a_reader_that_leaves_says_nothing(demo):
    demo()
    run = start_run(make_suite())
    draw_some(run)
    command = f"{sys.executable} manage.py export samples {run.code} | true"
    environment = {**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "benchsite.settings"}

    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True)

    assert done.stderr == ""


def test_export_to_a_screen_shows_lines_alone(eager, run):
    screen = Screen()
    call_command("export", "samples", run.code, stdout=screen, stderr=screen)
    assert all(json.loads(line) for line in screen.getvalue().splitlines())
