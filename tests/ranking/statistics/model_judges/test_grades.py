"""Agreement of grades: the same numbers as known formulas, intervals that hold the truth, and favour found where it is."""

from __future__ import annotations

import numpy as np
import pytest

from ranking.statistics.agreement.coefficients import interval_delta, krippendorff, panel_of
from ranking.statistics.model_judges.grades import GradePairs, favour, grade_agreement


def simulated(*, seed, people=8, subjects=12, each=3, strict=0.0, noise=1.0):
    """A model's and people's grades of the same drawings, around the drawings' own quality."""
    rng = np.random.default_rng(seed)
    drawings = subjects * each
    quality = rng.normal(0, 1, subjects).repeat(each) + rng.normal(0, 1, drawings)
    severity = rng.normal(0, 0.5, people)
    model = 5 + quality + strict + rng.normal(0, noise, drawings)
    given = 5 + quality[:, None] + severity + rng.normal(0, 1, (drawings, people))
    drawing, person = np.indices(given.shape).reshape(2, -1)
    return GradePairs(model[drawing], given.ravel(), drawing, drawing // each, person[:, None])


def test_alpha_is_krippendorffs():
    pairs = simulated(seed=1)
    values, label = np.unique(np.concatenate([pairs.first, pairs.second]), return_inverse=True)
    table = np.zeros((len(pairs), len(values)))
    for column in np.split(label, 2):
        table[np.arange(len(pairs)), column] += 1

    expected = krippendorff(panel_of(table), interval_delta(values)).value

    assert grade_agreement(pairs).alpha.value == pytest.approx(expected, abs=1e-12)


def test_strictness_lowers_alpha_and_not_the_order():
    same, strict = (grade_agreement(simulated(seed=2, strict=by)) for by in (0.0, -2.0))
    assert strict.alpha.value < same.alpha.value - 0.2
    assert strict.order.value == pytest.approx(same.order.value, abs=1e-12)
    assert strict.higher.value == pytest.approx(same.higher.value - 2, abs=1e-12)


@pytest.mark.parametrize("figure", ["alpha", "order", "apart", "higher"])
def test_intervals_hold_what_endless_people_and_subjects_would_give(figure):
    estimates = [getattr(grade_agreement(simulated(seed=seed)), figure) for seed in range(300)]
    truth = np.mean([estimate.value for estimate in estimates])
    covered = np.mean([estimate.low <= truth <= estimate.high for estimate in estimates])
    assert 0.9 <= covered <= 0.99


def test_people_among_each_other_are_two_persons_a_row():
    """Whoever stands first: leaving out a person leaves out all of his comparisons."""
    rng = np.random.default_rng(3)
    quality, severity = rng.normal(0, 1, 40), rng.normal(0, 2, 5)
    grades = quality[:, None] + severity + rng.normal(0, 0.5, (40, 5))
    one, other = np.triu_indices(5, 1)
    drawing = np.repeat(np.arange(40), len(one))
    a, b = np.tile(one, 40), np.tile(other, 40)
    pairs = GradePairs(grades[drawing, a], grades[drawing, b], drawing, drawing, np.column_stack([a, b]))
    swapped = GradePairs(grades[drawing, b], grades[drawing, a], drawing, drawing, np.column_stack([b, a]))

    ours, theirs = grade_agreement(pairs), grade_agreement(swapped)

    assert ours.people == 5 and ours.drawings == 40
    assert (ours.alpha.value, ours.alpha.low) == pytest.approx((theirs.alpha.value, theirs.alpha.low))
    assert ours.alpha.high - ours.alpha.low > 0.2  # five people who differ in strictness say little about others
    assert ours.order.value > 0.7


def test_favour_of_its_own_family_is_found_with_its_interval():
    pairs = simulated(seed=4)
    favoured = pairs.drawing % 3 == 0
    gap = pairs.first - pairs.second + 1.5 * favoured

    favoured_by = favour(gap, favoured, pairs.person, pairs.subject)

    assert favoured_by.low < 1.5 < favoured_by.high and favoured_by.low > 0
    assert favour(gap, np.zeros(len(gap), bool), pairs.person, pairs.subject).value is None


def test_nothing_shared_says_nothing():
    nothing = np.zeros(0, int)
    agreement = grade_agreement(GradePairs(np.zeros(0), np.zeros(0), nothing, nothing, nothing))
    assert agreement.grades == 0
    assert agreement.alpha.value is agreement.order.value is agreement.higher.value is None
