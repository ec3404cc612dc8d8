"""Paired differences: what shared prompts separate, how often wrongly, and what too few of them cannot."""

from __future__ import annotations

import numpy as np
import pytest

from ranking.statistics.verdicts.paired import judge_gaps, paired_gaps, verdict_table

HARD = np.linspace(-0.3, 0.3, 12)  # prompts differ far more than models


def test_a_constant_lead_on_hard_and_easy_prompts_is_a_lead():
    wobble = 0.01 * np.cos(np.arange(12))
    verdicts = judge_gaps(paired_gaps(np.array([0.55 + HARD + wobble, 0.5 + HARD])), margin=0.02)

    assert verdicts.ahead[0, 1]
    assert verdicts.gap[0, 1] == pytest.approx(0.05, abs=0.01)
    assert verdicts.rank_low.tolist() == [1, 2]


def test_no_lead_in_scores_is_called_settled_however_clear():
    wobble = 0.01 * np.cos(np.arange(12))
    verdicts = judge_gaps(paired_gaps(np.array([0.9 + HARD + wobble, 0.1 + HARD])), margin=0.02)

    assert verdicts.name(0, 1) == "ahead"
    assert np.isinf(verdicts.bound).all()


def test_models_are_compared_on_the_prompts_that_both_answered():
    one, other = 0.5 + HARD, 0.5 + HARD + 0.001 * np.cos(np.arange(12))
    one[:6] = np.nan  # the hard half is missing: its mean is higher, its drawings are not

    gaps = paired_gaps(np.array([one, other]))

    assert gaps.gap[0, 1] == pytest.approx(0, abs=0.001)
    assert gaps.units[0, 1] == 6
    assert judge_gaps(gaps, margin=0.02).name(0, 1) == "tied"


def test_models_without_a_shared_prompt_are_apart():
    cells = np.array([[0.5, np.nan], [np.nan, 0.7]])

    assert judge_gaps(paired_gaps(cells), margin=0.02).name(0, 1) == "apart"


def test_scores_that_are_exactly_equal_are_not_called_practically_equal():
    verdicts = judge_gaps(paired_gaps(np.ones((2, 7))), margin=0.02)

    assert verdicts.name(0, 1) == "undecided"
    assert np.isinf(verdicts.reach[0, 1])


@pytest.mark.parametrize("prompts", [1, 2])
def test_one_or_two_prompts_that_agree_exactly_prove_nothing(prompts):
    cells = np.array([np.full(prompts, 0.9), np.full(prompts, 0.1)])

    verdicts = judge_gaps(paired_gaps(cells), margin=0.02)

    assert verdicts.name(0, 1) == "undecided"
    assert verdicts.rank_high.tolist() == [2, 2]


def test_every_pair_is_listed_once_better_first():
    cells = np.array([0.3 + HARD, 0.6 + HARD, 0.9 + HARD]) + 0.01 * np.sin(np.arange(36).reshape(3, 12))
    table = verdict_table(judge_gaps(paired_gaps(cells), margin=0.02), ["a", "b", "c"], [2, 1, 0])

    assert [(pair["upper"], pair["lower"]) for pair in table["pairs"]] == [("c", "b"), ("c", "a"), ("b", "a")]
    assert all(pair["low"] < pair["gap"] < pair["high"] for pair in table["pairs"])
    assert table["brackets"] == []


def studies(gap, *, models, prompts=35, runs=150, seed=2):
    """The share of runs with a false lead, the power between neighbours, and the cover of gaps' intervals."""
    rng, false, power, cover = np.random.default_rng(seed), 0, [], []
    truth = gap * np.arange(models)[::-1]
    for _ in range(runs):
        cells = truth[:, None] + rng.normal(0, 0.15, prompts) + rng.normal(0, 0.077, (models, prompts))
        verdicts = judge_gaps(paired_gaps(cells), margin=0.02)
        gaps = truth[:, None] - truth[None, :]
        false += bool((verdicts.ahead & (gaps <= 0)).any())
        power.append(np.mean([verdicts.ahead[i, i + 1] for i in range(models - 1)]))
        cover.append((np.abs(verdicts.gap - gaps) <= verdicts.reach)[np.triu_indices(models, 1)].mean())
    return false / runs, float(np.mean(power)), float(np.mean(cover))


@pytest.mark.long
def test_power_and_false_leads():
    assert studies(0.10, models=2)[1] > 0.97
    assert studies(0.05, models=2)[1] > 0.6
    false, _, cover = studies(0.0, models=2)
    assert false < 0.1
    assert cover > 0.9
    assert studies(0.0, models=6, prompts=5)[0] < 0.12
