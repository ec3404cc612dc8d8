"""A model judge's agreement with people, and its habits, from a handful of votes that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchsite.lib.model_families import family_of
from ranking.statistics.model_judges.agreement import agreement_with_people
from ranking.statistics.model_judges.habits import judge_habits, worst_disagreements
from ranking.statistics.model_judges.pairing import pair_up
from ranking.statistics.votes import FAIL, LEFT, RIGHT, TIE, make_votes

PROMPTS = tuple("pqrstu")


def people(rows):
    """Rows: judge, prompt, left, right, outcome."""
    judge, prompt, left, right, outcome = np.array(rows).T
    return make_votes(
        entrants=("openai/gpt-5", "anthropic/claude", "google/gemini"),
        judges=("ann", "ben", "cem"),
        prompts=PROMPTS,
        categories=("one", "two"),
        judge=judge,
        prompt=prompt,
        left=left,
        right=right,
        outcome=outcome,
        category=prompt % 2,
        left_attempt=np.ones(len(rows)),
        right_attempt=np.ones(len(rows)),
        time=np.arange(len(rows)),
    )


def model(rows):
    """Rows: prompt, left, right, outcome."""
    prompt, left, right, outcome = np.array(rows).T
    return make_votes(
        entrants=("openai/gpt-5", "anthropic/claude", "google/gemini"),
        judges=("openai/gpt-5-mini",),
        prompts=PROMPTS,
        judge=np.zeros(len(rows)),
        prompt=prompt,
        left=left,
        right=right,
        outcome=outcome,
        left_attempt=np.ones(len(rows)),
        right_attempt=np.ones(len(rows)),
    )


def test_both_orders_make_one_verdict_and_a_contradiction_is_a_tie():
    votes = model([(0, 0, 1, LEFT), (0, 1, 0, RIGHT), (1, 0, 1, LEFT), (1, 1, 0, LEFT), (2, 0, 1, FAIL)])

    paired = pair_up(people([(0, 0, 1, 0, LEFT)]), votes)

    assert paired.verdict[:, 0].tolist() == [LEFT, TIE, FAIL]
    assert paired.contradicts[:, 0].tolist() == [False, True, False]
    assert paired.both_orders[:, 0].tolist() == [True, True, False]
    assert paired.score[:, 0].tolist() == [1.0, 0.5, 0.5]


def test_agreement_is_counted_once_a_person_whatever_the_sides():
    votes = people([(0, 0, 0, 1, LEFT), (1, 0, 1, 0, LEFT), (0, 1, 0, 1, TIE), (0, 0, 0, 1, RIGHT), (2, 3, 0, 2, LEFT)])
    judge = model([(0, 0, 1, LEFT), (0, 1, 0, RIGHT), (1, 0, 1, RIGHT)])

    agreement = agreement_with_people(pair_up(votes, judge), 0)

    # ann agrees on p, ben does not; ann's tie on q is no agreement. Her second vote on p, and cem's pair, count nowhere.
    assert (agreement.votes, agreement.pairs, agreement.people) == (3, 2, 2)
    assert agreement.raw.value == pytest.approx(1 / 3)
    assert (agreement.decided.value, agreement.decided_votes) == (pytest.approx(1 / 2), 2)
    assert agreement.among_people.pairs == 1
    assert agreement.among_people.raw.value == 0
    assert [(name, n) for name, n, _ in agreement.by_category] == [("one", 2), ("two", 1)]


def test_coefficients_follow_from_both_sides_answers():
    """Two raters, 6 pairs: people 4 decided, 2 ties; the model 5 decided, 1 tie; they agree on 4."""
    votes = people([(i % 3, i, 0, 1, o) for i, o in enumerate([LEFT, LEFT, RIGHT, RIGHT, TIE, TIE])])
    judge = model([(i, 0, 1, o) for i, o in enumerate([LEFT, LEFT, RIGHT, LEFT, TIE, LEFT])])

    agreement = agreement_with_people(pair_up(votes, judge), 0)

    p, m = np.array([1 / 3, 1 / 3, 1 / 3, 0]), np.array([5 / 12, 5 / 12, 1 / 6, 0])  # which drawing is first is a name
    assert agreement.raw.value == pytest.approx(4 / 6)
    assert agreement.kappa.value == pytest.approx((4 / 6 - p @ m) / (1 - p @ m))
    pooled = (p + m) * 6
    chance = (pooled * (pooled - 1)).sum() / (12 * 11)
    assert agreement.alpha.value == pytest.approx((4 / 6 - chance) / (1 - chance))
    share = (p + m) / 2
    chance = (share * (1 - share)).sum() / 3
    assert agreement.ac1.value == pytest.approx((4 / 6 - chance) / (1 - chance))
    assert agreement.raw.low < 4 / 6 < agreement.raw.high


def test_habits_of_position_ties_and_family():
    votes = people([(0, 0, 0, 1, RIGHT), (1, 1, 1, 0, LEFT), (0, 2, 1, 2, LEFT), (1, 3, 0, 1, FAIL)])
    judge = model([(p, *sides, LEFT) for p in range(4) for sides in ((0, 1), (1, 0))] + [(2, 1, 2, TIE)])
    paired = pair_up(votes, judge)

    habits = judge_habits(paired, judge, 0, lambda name: family_of(name) == "openai")

    assert habits.first.value == 1.0 and habits.first.low > 0.3
    assert habits.contradicts.value == 1.0
    assert habits.both_orders == 4
    assert habits.ties.value == pytest.approx(1 / 9)
    assert habits.people_fails.value == pytest.approx(1 / 4)
    # Its own family's drawings score a half with it on p, q and s, and 0, 0 and a half with people.
    assert (habits.own_family.value, habits.own_votes) == (pytest.approx(1 / 3), 3)


def test_the_worst_disagreement_is_the_one_most_people_are_sure_of():
    votes = people([(0, 0, 0, 1, LEFT), (0, 1, 0, 1, LEFT), (1, 1, 0, 1, LEFT), (2, 1, 1, 0, RIGHT), (0, 2, 0, 1, TIE)])
    judge = model([(p, 0, 1, RIGHT) for p in range(2)] + [(2, 0, 1, TIE)])
    paired = pair_up(votes, judge)

    worst = worst_disagreements(paired, 0)

    assert [PROMPTS[paired.prompt[case.unit]] for case in worst] == ["q", "p"]
    assert (worst[0].people_votes, worst[0].people_score, worst[0].model_score) == (3, 1.0, 0.0)


@pytest.mark.parametrize(
    ("model_id", "family"),
    [
        *(("openai/gpt-5", "openai"), ("gpt-5-mini-2025-08-07", "openai"), ("o3", "openai"), ("o4-mini", "openai")),
        *(("claude-opus-4-1", "anthropic"), ("anthropic/claude-haiku", "anthropic"), ("gemma-3", "google")),
        *(
            ("openrouter/mistralai/pixtral", "mistral"),
            ("demo/otter", "demo/otter"),
            ("x-ai/grok-4", "xai"),
            ("7b", "7b"),
            *(("azure/gpt-5", "openai"), ("azure/o3", "openai"), ("bedrock/us.anthropic.claude-4", "anthropic")),
            *(("groq/deepseek-r1-distill-llama-70b", "deepseek"), ("deepseek/deepseek-r1-distill-llama", "deepseek")),
            *(("acme/alpha-x", "acme"), ("vertex/gemini-3", "google")),
        ),
    ],
)
def test_a_family_is_a_models_maker(model_id, family):
    assert family_of(model_id) == family
