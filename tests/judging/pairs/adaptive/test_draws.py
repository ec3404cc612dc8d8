"""What adaptive pairs promise, item by item: sittings that begin balanced and go on by what a fit says."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judging.pairs.adaptive.draws import (
    LAPS,
    SIZE,
    UNDECIDED,
    Focus,
    balanced_plan,
    draw_pairs,
    has_begun,
    is_turn,
    next_plan,
    votes_to_begin,
)
from judging.pairs.schedule.items import (
    REPEAT_AFTER,
    REPEAT_WITHIN,
    Place,
    is_due,
    next_regular,
    next_repeat,
    next_shared,
)
from judging.pairs.schedule.plans import Plan, make_plan
from tests.judging.pairs.schedule.test_items import SEEDS, make_table, spread


def make_focus(table, seed, *, share=0.3, votes=5):
    """A focus in which that share of the pairs is undecided, some much more than others."""
    random = Random(seed)
    undecided = {pair: random.uniform(0.001, 0.5) for pair in table.common if random.random() < share}
    return Focus({pair: votes + random.randrange(4) for pair in table.common}, undecided)


def sit(table, count, *, seed=1, balanced=0, overlap=0.0, repeats=0.0, share=0.3, back=None):
    """The first `count` items of a judge as (kind, item); a fit comes after `balanced` items, another after every twenty.

    After `back` items the curator returns to balanced pairs.
    """
    plan, shared = make_plan(table, seed=seed), make_plan(table, seed=77)
    place, shown, keys, used = Place(), [], set(), set()

    def unseen(items):
        return next((item for item in items if item.key not in keys), None)

    while len(shown) < count:
        where = {"number": place.regular, "last": place.last, "seed": seed + len(shown)}
        is_on = len(shown) >= balanced and (back is None or len(shown) < back)
        if (is_on or plan.is_focused) and is_turn(plan, place.regular):
            focus = make_focus(table, seed + len(shown) // 20, share=share) if is_on else None
            plan = next_plan(plan, table, focus, **where)
        kind, (item, place) = "shared", next_shared(plan, shared, table, place, unseen, overlap=overlap)
        if item is None and is_due(place.repeats, share=repeats, served=place.served, seed=seed, kind="repeat"):
            window = range(max(0, len(shown) - REPEAT_WITHIN), len(shown) - REPEAT_AFTER + 1)
            earlier = [(shown[i][1].pair, i) for i in window if shown[i][0] != "repeat" and i not in used]
            kind, (source, place) = "repeat", next_repeat(plan, place, earlier)
            item = None if source is None else shown[source][1].swapped()
            used.add(source)
        if item is None:
            kind, (item, place) = "regular", next_regular(plan, table, place, unseen)
        if item is None and plan.is_focused:
            plan = balanced_plan(plan, table, **where)
            item, place = next_regular(plan, table, place, unseen)
        if item is None:
            break
        keys.add(item.key)
        shown.append((kind, item))
    return shown


def regular_items(shown):
    return [item for kind, item in shown if kind == "regular"]


@settings(max_examples=60, deadline=None)
@given(st.integers(5, 40), st.integers(0, 400), SEEDS)
def test_of_ten_pairs_seven_are_undecided_and_three_least_seen_each_once(entrants, undecided, seed):
    table, random = make_table(entrants, sizes=(1,), attempts=1), Random(seed)
    doubtful = dict.fromkeys(random.sample(sorted(table.common), min(undecided, len(table.common))), 0.3)
    votes = {pair: random.randrange(9) for pair in table.common}

    pairs = draw_pairs(sorted(table.common), Focus(votes, doubtful), random)

    focused = [pair for pair in pairs if pair in doubtful]
    assert len(set(pairs)) == len(pairs) == SIZE
    assert len(focused) >= min(UNDECIDED, len(doubtful))
    others = [pair for pair in pairs if pair not in doubtful]
    seldom = sorted(votes[pair] for pair in table.common if pair not in focused)[: max(len(table.common) // 4, SIZE)]
    assert len(others) <= SIZE - min(UNDECIDED, len(doubtful))
    assert len(doubtful) > UNDECIDED or all(votes[pair] <= seldom[-1] for pair in others)


def test_the_likelier_an_order_is_wrong_the_more_often_its_pair_comes():
    table = make_table(12, sizes=(1,), attempts=1)
    doubtful = {pair: 0.4 if 0 in pair else 0.02 for pair in table.common}
    focus = Focus(dict.fromkeys(table.common, 3), doubtful)
    drawn = Counter()

    for seed in range(400):
        drawn.update(draw_pairs(sorted(table.common), focus, Random(seed)))

    close = [drawn[pair] for pair in table.common if 0 in pair]
    far = [drawn[pair] for pair in table.common if 0 not in pair]
    assert min(close) > 2.5 * max(far)
    assert min(far) > 0


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 40), st.integers(0, 300), SEEDS)
def test_sides_stay_even_in_both_phases_and_between_them(entrants, balanced, seed):
    table, lean = make_table(entrants, sizes=(5, 5)), Counter()

    for item in regular_items(sit(table, 500, seed=seed, balanced=balanced)):
        lean.update({item.left: 1})
        lean.subtract({item.right: 1})
        assert max(map(abs, lean.values())) <= 3


@pytest.mark.parametrize("entrants", [5, 8, 20, 40])
def test_sides_are_within_one_after_every_twenty(entrants):
    table, lean = make_table(entrants), Counter()

    for number, item in enumerate(regular_items(sit(table, 400, seed=entrants)), start=1):
        lean.update({item.left: 1})
        lean.subtract({item.right: 1})
        if number % (LAPS * SIZE) == 0:
            assert max(map(abs, lean.values())) == 0


def check_questions(table, shown, *, prompts):
    by_category, by_prompt = Counter(), Counter()
    for item in regular_items(shown):
        by_category[table.categories[item.question]] += 1
        by_prompt[item.question] += 1
        assert spread(by_category, table.by_category) <= 1
        assert max(spread(by_prompt, row) for row in table.by_category.values()) <= prompts


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(2, 5), st.integers(0, 150), SEEDS)
def test_categories_and_prompts_stay_balanced_whichever_pairs_come(entrants, categories, balanced, seed):
    table = make_table(entrants, sizes=(6,) * categories)

    check_questions(table, sit(table, 200, seed=seed, balanced=balanced), prompts=1)


@settings(max_examples=25, deadline=None)
@given(st.integers(5, 20), st.integers(0, 100), st.floats(0, 0.3), SEEDS)
def test_shared_items_put_prompts_out_of_balance_by_two_at_most(entrants, balanced, overlap, seed):
    table = make_table(entrants)

    check_questions(table, sit(table, 200, seed=seed, balanced=balanced, overlap=overlap, repeats=0.05), prompts=3)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 40), SEEDS)
def test_attempts_of_an_entrant_are_shown_equally_often(entrants, seed):
    table, used = make_table(entrants, sizes=(10, 10), attempts=5), defaultdict(Counter)

    for item in regular_items(sit(table, 200, seed=seed, balanced=40)):
        for entrant, sample in ((item.left, item.left_sample), (item.right, item.right_sample)):
            used[entrant][sample % 5] += 1

    assert max(spread(counts, range(5)) for counts in used.values()) <= 4


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 20), st.floats(0, 0.5), st.floats(0, 0.2), st.floats(0, 1), SEEDS)
def test_the_same_two_entrants_never_come_in_a_row(entrants, overlap, repeats, share, seed):
    shown = sit(make_table(entrants), 250, seed=seed, balanced=30, overlap=overlap, repeats=repeats, share=share)

    assert len(shown) == 250
    assert all(one.pair != other.pair for (_, one), (_, other) in pairwise(shown))


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(1, 3), st.floats(0, 0.4), SEEDS)
def test_no_two_drawings_meet_twice_and_all_are_shown_in_the_end(entrants, attempts, share, seed):
    table = make_table(entrants, sizes=(2, 1), attempts=attempts)

    shown = regular_items(sit(table, 10**6, seed=seed, share=share))

    assert len({item.key for item in shown}) == len(shown)
    assert len(shown) == entrants * (entrants - 1) // 2 * 3 * attempts**2


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 20), SEEDS)
def test_back_among_balanced_pairs_all_come_equally_often(entrants, seed):
    table, cycle = make_table(entrants), entrants * (entrants - 1) // 2

    shown = regular_items(sit(table, 65 + 2 * cycle, seed=seed, back=45))

    met = Counter(item.pair for item in shown[60 : 60 + 2 * cycle])
    assert spread(met, list(combinations(range(entrants), 2))) <= (0 if cycle >= SIZE else 1)


def test_pairs_are_balanced_till_there_is_a_vote_for_each_and_below_ten_pairs_always():
    table = make_table(5)
    votes = dict.fromkeys(sorted(table.common)[:9], 1)

    assert votes_to_begin(table, Focus(votes)) == 1
    assert not has_begun(table, Focus(votes))
    assert has_begun(table, Focus(votes | {(3, 4): 1}))
    assert not has_begun(make_table(4), Focus(dict.fromkeys(make_table(4).common, 100)))


def test_where_nothing_is_undecided_the_least_seen_pairs_come():
    table = make_table(8, sizes=(1,), attempts=1)
    votes = {pair: number for number, pair in enumerate(sorted(table.common))}

    pairs = draw_pairs(sorted(table.common), Focus(votes), Random(3))

    assert {votes[pair] for pair in pairs} == set(range(SIZE))


def test_a_plan_that_was_followed_survives_json_and_older_ones_are_read():
    table = make_table(8)
    plan = make_plan(table, seed=4)
    followed = next_plan(plan, table, make_focus(table, 1), number=30, last=None, seed=9)
    older = {name: value for name, value in plan.to_json().items() if name in ("seed", "pairs", "questions", "word")}

    assert Plan.from_json(json.loads(json.dumps(followed.to_json()))) == followed
    assert Plan.from_json(json.loads(json.dumps(older))) == plan
