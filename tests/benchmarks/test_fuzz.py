"""The fuzz bench: it reads by every format, every importer and the suite loader, and says so when one breaks."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks.fuzz.fuzz import MOST_GROWTH, READERS, fuzz, measure_growth
from benchmarks.fuzz.readers import Hints, extractor
from generation.formats import format_names
from tests.generation.formats.packages import install
from tests.test_architecture import ROOT, imports, modules

APPS = ("benchsite", "generation", "judging", "ranking")
# What fuzzed readers read by, or what reads by them.
WITHIN = {
    "generation.files.inspect_logs.read_answers",
    "generation.files.sample_lines.read_file",
    "generation.files.sample_lines.read_rows",
    "generation.suites.loading.load_suites",
    "generation.suites.loading.read_models",
    "generation.suites.prompt_files.read_prompts",
    "generation.suites.yaml_source.load_yaml",
    "judging.files.model_lines.read_lines",
    "judging.files.parquet.open_parquet",  # a child that the kernel bounds: tests/judging/files/test_parquet.py
    "judging.files.vote_files.open_votes",
    "ranking.dataset.reading.open_dataset",  # its bytes are compared with checksums, and its rows checked as an archive's
}


def readers_of_files() -> set[str]:
    """Public functions that read, load or open what a path or a stream of bytes, their first argument, holds."""
    return {
        f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}.{node.name}"
        for app in APPS
        for path in modules(app)
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith(("read_", "load_", "open_"))
        and any(
            ast.unparse(arg.annotation) in ("Path", "Iterable[bytes]") for arg in node.args.args[:1] if arg.annotation
        )
    }


def test_nothing_that_reads_is_left_out():
    fuzzed = {name for path in (ROOT / "benchmarks" / "fuzz").glob("*.py") for name in imports(path)}

    assert readers_of_files() >= {"judging.files.vote_files.read_vote_lines", "ranking.pairwise.files.votes.read_votes"}
    assert readers_of_files() - WITHIN - fuzzed == set()
    assert set(format_names()) - {reader.name for reader in READERS} == set()


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_few_examples_break_nothing(reader):
    row = fuzz(reader, examples=20, number=1)

    assert row["broken"] == ""
    assert row["examples"] >= 20


def test_a_format_of_a_package_is_fuzzed_from_its_example(tmp_path, monkeypatch):
    value = "tests.generation.formats.haiku:FORMAT"
    monkeypatch.syspath_prepend(install(tmp_path, name="haiku", value=value))

    row = fuzz(extractor("haiku", Hints()), examples=50, number=1)

    assert row["broken"] == ""


def test_a_reader_that_breaks_is_told():
    def check(raw: bytes) -> bool:
        raise ZeroDivisionError("as an example")

    assert "ZeroDivisionError" in fuzz(replace(READERS[0], check=check), examples=5, number=1)["broken"]


@pytest.mark.parametrize(
    "name, place, pattern",
    [
        ("svg", "<svg><style>%s</style></svg>", "["),
        ("svg", "<svg><style>%s</style></svg>", ":a("),
        ("svg", "<svg><style>a{b:%s}</style></svg>", (":a(", ")")),
        ("svg", "<svg><style>%s a{animation-duration:%s}</style></svg>", "@keyframes k{a{b:c}} 1s,"),
        ("svg", "<svg><rect fill='url(%sx#'/></svg>", " "),
        ("svg", "<svg><animate dur='%sx'/></svg>", "1"),
        ("ascii_art", "```\n%s\n```", "👨\u200d"),
    ],
)
def test_repeated_and_nested_delimiters_take_linear_time(name, place, pattern):
    reader = next(reader for reader in READERS if reader.name == name)

    # The least of up to three: other work on the machine only ever adds to a measurement.
    growths = (measure_growth(reader, place, pattern, 6_000, 48_000) for _ in range(3))

    assert any(growth <= MOST_GROWTH for growth in growths)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_no_reader_grows_faster_than_what_it_reads(reader):
    growths = [measure_growth(reader, place, ('["', '"]'), 2_000, 16_000) for place in reader.places[:3]]

    assert max(growths) <= MOST_GROWTH


@pytest.mark.once
def test_the_bench_runs_by_itself():
    """Its readers need no settings; whatever they import must not either."""
    environment = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", "benchmarks.fuzz.fuzz", "--examples", "1", "--only", "providers.yaml"]

    ended = subprocess.run([*command, "--processes", "1"], cwd=ROOT, env=environment, capture_output=True, text=True)

    assert (ended.returncode, ended.stderr) == (0, "")
