from __future__ import annotations

import pytest

from generation.suites.loading import load_suite
from generation.suites.model_facts import ModelFacts, fault_of
from tests.generation.suites.suite_files import refusal, write_suite

WHOLE = """\
models:
  - id: a/b
    organisation: Example Labs
    weights: open
    licence: MIT
    released: "2026-08-12"
    context: 256000
    served_by: Example API, fp8
  - id: c/d
"""


def test_facts_of_a_model_are_read_and_absent_ones_stay_unknown(tmp_path):
    one, other = load_suite(write_suite(tmp_path, models=WHOLE)).models

    assert one.facts == ModelFacts("Example Labs", "open", "MIT", "2026-08-12", 256000, "Example API, fp8")
    assert other.facts.known() == {}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("weights: ajar", "unknown_weights"),
        ('released: "2026-13-01"', "bad_date"),
        ("released: soon", "bad_date"),
        ("context: -5", "out_of_range"),
        ("organisation: [Example]", "wrong_type"),
        ("organization: Example", "unknown_key"),
    ],
)
def test_a_fact_that_cannot_be_one_is_refused_with_its_line(tmp_path, line, reason):
    error = refusal(write_suite(tmp_path, models=f"models:\n  - id: a/b\n    {line}\n"))

    assert (error.reason, error.line) == (reason, 3)


@pytest.mark.parametrize(
    "facts",
    [{"weights": "ajar"}, {"released": "soon"}, {"context": True}, {"organisation": "x" * 200}, {"owner": "x"}],
)
def test_facts_from_elsewhere_are_checked_alike(facts):
    assert fault_of(facts)
    assert not fault_of({"organisation": "Example", "weights": "closed", "released": "2026-08", "context": 8})
