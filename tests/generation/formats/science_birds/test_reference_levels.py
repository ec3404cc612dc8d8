"""Levels that the competition's own evaluator judged: where their blocks are, that they stand, and what they look like.

`reference_levels.json` has 26 levels, as drops and as converted coordinates, that the evaluator rated fully stable.
"""

from __future__ import annotations

import math

import pytest

from generation.formats.science_birds import physics
from generation.formats.science_birds.physics import settle
from generation.formats.science_birds.similarity import LETTERS, classify
from tests.generation.formats.science_birds.birds import REFERENCE, level

# Levels in which blocks fell, but none further than the default of the evaluator's script, and how stable they are.
FALLEN = {"5*b11 4, b31 5": 5 / 6, "b13 4, b31 5": 1 / 2, "b31 4, b31 5, b31 6, b31 7, b31 8, b31 9": 1 / 6}
SCRIPT_DEFAULT = 3


def farthest(plan: str) -> float:
    settled = settle(level(plan))
    return max(math.dist((a.x, a.y), (b.x, b.y)) for a, b in zip(settled.blocks, settled.final, strict=True))


@pytest.mark.parametrize("letter", REFERENCE)
def test_a_reference_level_has_its_coordinates_and_stands(letter):
    blocks = level(REFERENCE[letter]["plan"])

    assert " ".join(f"{block.x:.5f},{block.y:.5f}" for block in blocks) == REFERENCE[letter]["at"]
    assert settle(blocks).stability == 1.0


def test_a_lower_threshold_would_call_a_level_unstable_that_the_evaluator_calls_stable():
    assert physics.MOVED / 2 < farthest(REFERENCE["K"]["plan"]) < physics.MOVED
    assert all(farthest(REFERENCE[letter]["plan"]) < physics.MOVED / 4 for letter in set(REFERENCE) - {"K"})


@pytest.mark.parametrize(("plan", "stability"), FALLEN.items())
def test_the_scripts_default_would_call_a_level_stable_that_fell(plan, stability):
    assert physics.MOVED < farthest(plan) < SCRIPT_DEFAULT
    assert settle(level(plan)).stability == pytest.approx(stability)


def test_the_built_in_classifier_reads_more_than_16_of_the_26():
    settled = {letter: settle(level(entry["plan"])) for letter, entry in REFERENCE.items()}
    read = {letter: LETTERS[classify(one.blocks, one.final).argmax()] for letter, one in settled.items()}

    assert sum(letter == seen for letter, seen in read.items()) > 16, read
