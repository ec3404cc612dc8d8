from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ranking.statistics.agreement.coefficients import (
    fleiss_kappa,
    gwet_ac1,
    interval_delta,
    krippendorff,
    nominal_delta,
    panel_of,
    raw_agreement,
)
from ranking.statistics.agreement.cohen import cohen_matrix
from ranking.statistics.agreement.intraclass import icc, icc_interval
from tests.ranking.statistics.ratings.test_bradley_terry import vector


def two_judges(table):
    """Units by classes from a square table of two judges."""
    rows = []
    for i, line in enumerate(table):
        for j, times in enumerate(line):
            rows += [np.eye(len(table))[i] + np.eye(len(table))[j]] * times
    return np.array(rows)


def ordinal_delta(marginals):
    """Krippendorff's ordinal metric: how many ratings lie between two classes, squared."""
    upto = np.cumsum(marginals)
    lower = np.minimum(upto[:, None], upto[None, :])
    upper = np.maximum(upto[:, None], upto[None, :])
    between = upper - lower
    # From the middle of one class to the middle of the other.
    ends = 0.5 * (marginals[:, None] + marginals[None, :])
    low_first = np.where(upto[:, None] <= upto[None, :], marginals[:, None], marginals[None, :])
    result = (between + low_first - ends) ** 2
    np.fill_diagonal(result, 0)
    return result


def ratio_delta(values):
    """Squared relative difference of class values."""
    values = np.asarray(values, float)
    total = values[:, None] + values[None, :]
    return np.where(total > 0, ((values[:, None] - values[None, :]) / np.where(total > 0, total, 1)) ** 2, 0)


def cohen_table(table):
    """Cohen's kappa from a square table of two judges' classes."""
    table = np.asarray(table, float)
    n = table.sum()
    observed = np.trace(table) / n
    chance = (table.sum(0) * table.sum(1)).sum() / n**2
    return (observed - chance) / (1 - chance)


def test_krippendorff_four_observers():
    data = vector("krippendorff_4observers_12units")
    answers = np.array([[np.nan if v is None else v for v in line] for line in data["data_coders_by_units"]])
    values = np.arange(1, 6)
    table = np.array([[(answers[:, unit] == v).sum() for v in values] for unit in range(12)])
    metrics = {
        "nominal": nominal_delta(5),
        "ordinal": ordinal_delta(table[table.sum(1) >= 2].sum(0)),
        "interval": interval_delta(values),
        "ratio": ratio_delta(values),
    }
    for name, delta in metrics.items():
        assert round(krippendorff(panel_of(table), delta).value, 3) == data["published"][name], name


def test_gwet_with_missing_ratings_takes_class_shares_from_every_unit():
    """Gwet's four raters and twelve units, as irrCAC prints it."""
    data = vector("krippendorff_4observers_12units")
    answers = np.array([[np.nan if v is None else v for v in line] for line in data["data_coders_by_units"]])
    table = np.array([[(answers[:, unit] == v).sum() for v in range(1, 6)] for unit in range(12)])

    assert round(gwet_ac1(panel_of(table)).value, 5) == 0.77544


def test_judges_who_differ_widen_agreement_as_summed_by_hand():
    rng = np.random.default_rng(3)
    judge, unit = (column.ravel() for column in np.meshgrid(np.arange(5), np.arange(30), indexing="ij"))
    skill = np.array([0.8, 0.8, 0.8, 0.8, 0.3])[judge]
    label = np.where(rng.random(150) < skill, unit % 3, rng.integers(0, 3, 150))
    answers = label.reshape(5, 30)
    table = np.array([np.bincount(answers[:, u], minlength=3) for u in range(30)])

    estimate = raw_agreement(panel_of(table, judge, unit, label))

    plain = raw_agreement(panel_of(table))
    units = ((plain.high - plain.low) / 2 / stats.t.ppf(0.975, 29)) ** 2
    # Each judge's share of the agreement: its four pairs of the ten on every unit, over thirty units.
    shares = np.array(
        [[sum(answers[g, u] == answers[h, u] for h in range(5) if h != g) / 10 for u in range(30)] for g in range(5)]
    )
    influence = (plain.value * 30 + shares) / (30 + 0.4) - plain.value
    influence -= influence.mean()
    sums = influence.sum(1)
    shown = 5 * 4 / 9 * ((sums - sums.mean()) ** 2).sum()
    chance = 5 * 4 / 9 * ((influence**2).sum() - (influence.sum(0) ** 2).sum() / 5)
    df = (units + shown - chance) ** 2 / (units**2 / 29 + shown**2 / 4)
    half = stats.t.ppf(0.975, df) * np.sqrt(units + shown - chance)
    assert shown > chance
    assert estimate.value - estimate.low == pytest.approx(half, rel=1e-9)


def test_judges_who_agree_alike_leave_the_interval_over_units():
    judge, unit = (column.ravel() for column in np.meshgrid(np.arange(5), np.arange(30), indexing="ij"))
    label = ((judge + unit) % 5 >= 3).astype(int)  # everyone is in the minority equally often
    table = np.tile([3, 2], (30, 1))

    with_judges = raw_agreement(panel_of(table, judge, unit, label))

    assert with_judges.value == pytest.approx(0.4)
    assert with_judges == raw_agreement(panel_of(table))


def test_raw_agreement_of_the_worked_example():
    data = vector("fleiss_kappa_wikipedia")
    assert round(raw_agreement(panel_of(data["counts"])).value, 3) == data["published"]["P_bar"]


def test_fleiss_kappa_of_the_worked_example():
    data = vector("fleiss_kappa_wikipedia")
    assert round(fleiss_kappa(panel_of(data["counts"])).value, 3) == data["published"]["kappa"]


def test_units_with_one_answer_count_in_the_class_shares_of_fleiss_and_ac1():
    table = np.array([[2, 0], [1, 1], [0, 2], [1, 0], [1, 0]])
    shares = (table / table.sum(1, keepdims=True)).mean(0)
    agreed = np.mean([1, 0, 1])

    chance = (shares**2).sum()
    assert fleiss_kappa(panel_of(table)).value == pytest.approx((agreed - chance) / (1 - chance))
    chance = (shares * (1 - shares)).sum()
    assert gwet_ac1(panel_of(table)).value == pytest.approx((agreed - chance) / (1 - chance))


def test_gwet_abstractors():
    data = vector("gwet_cont3x3abstractors")
    published, table = data["published"], two_judges(data["table"])
    ac1 = gwet_ac1(panel_of(table))
    assert round(ac1.value, 7) == published["gwet_ac1"]
    # The printed standard error counts the population as finite in no way; the jackknife must land beside it.
    assert (ac1.high - ac1.low) / 2 / 1.984 == pytest.approx(published["gwet_ac1_se"], rel=0.02)
    assert round(cohen_table(data["table"]), 7) == published["cohen"]
    assert round(krippendorff(panel_of(table), nominal_delta(3)).value, 7) == published["krippendorff"]
    assert round(raw_agreement(panel_of(table)).value, 7) == published["percent"]


def test_shrout_and_fleiss():
    data = vector("icc_shrout_fleiss_1979")
    estimate = icc(np.array(data["targets_by_judges"]))
    for name, published in data["published"].items():
        assert round(getattr(estimate, name.lower()), 2) == published


def test_icc_interval_holds_the_value_and_needs_three_targets():
    scores = np.array(vector("icc_shrout_fleiss_1979")["targets_by_judges"], float)
    estimate = icc_interval(scores, lambda each: each.icc2)
    assert estimate.low < estimate.value < estimate.high
    assert icc_interval(scores[:2], lambda each: each.icc2).low is None
    assert icc(np.full((3, 1), 2.0)).icc2 is None


def test_cohen_matrix_equals_the_table():
    table = vector("gwet_cont3x3abstractors")["table"]
    pairs = [(i, j) for i, line in enumerate(table) for j, times in enumerate(line) for _ in range(times)]
    answers = np.add(pairs, [0, 3]).ravel()  # judge x classes + class, unit by unit
    kappa, shared = cohen_matrix(answers, 2 * np.arange(len(pairs) + 1), judges=3, classes=3)
    assert kappa[0, 1] == kappa[1, 0] == pytest.approx(cohen_table(table))
    assert shared[0, 1] == 100
    assert np.isnan(kappa[0, 2])


def test_no_shared_units_is_no_answer():
    table = np.eye(4)
    for estimate in (
        krippendorff(panel_of(table), nominal_delta(4)),
        gwet_ac1(panel_of(table)),
        raw_agreement(panel_of(table)),
    ):
        assert (estimate.value, estimate.low, estimate.high) == (None, None, None)


def test_full_agreement_is_one_even_in_a_single_class():
    table = np.zeros((5, 4))
    table[:, 0] = 3
    assert krippendorff(panel_of(table), nominal_delta(4)).value == 1
    assert gwet_ac1(panel_of(table)).value == pytest.approx(1)


def test_mirror_makes_alpha_blind_to_which_entrant_is_named_first():
    rng = np.random.default_rng(5)
    table = rng.integers(0, 3, (40, 4)).astype(float)
    flipped = table.copy()
    flipped[::2] = flipped[::2][:, [1, 0, 2, 3]]
    a, b = (krippendorff(panel_of(t), nominal_delta(4), mirror=(0, 1)) for t in (table, flipped))
    assert a == b
    assert krippendorff(panel_of(table), nominal_delta(4)) != krippendorff(panel_of(flipped), nominal_delta(4))


def test_jackknife_equals_leaving_each_unit_out_by_hand():
    rng = np.random.default_rng(6)
    table = rng.integers(0, 4, (15, 3))
    table = table[table.sum(1) > 1]
    delta = nominal_delta(3)
    estimate = krippendorff(panel_of(table), delta)
    by_hand = np.array([krippendorff(panel_of(np.delete(table, i, 0)), delta).value for i in range(len(table))])
    n = len(table)
    error = np.sqrt((n - 1) / n * ((by_hand - by_hand.mean()) ** 2).sum())
    from scipy import stats

    assert estimate.high - estimate.value == pytest.approx(stats.t.ppf(0.975, n - 1) * error)
