"""What a judge's schedule promises, item by item. A sitting is played out with the same pure functions serving uses."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, pairwise
from math import gcd

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from judging.pairs.schedule.items import (
    REPEAT_AFTER,
    REPEAT_WITHIN,
    Place,
    is_due,
    next_regular,
    next_repeat,
    next_shared,
    regular_items,
)
from judging.pairs.schedule.plans import Coverage, Plan, make_plan
from judging.pairs.schedule.questions import category_at, row_at
from judging.pairs.schedule.table import Drawing, Table, unordered

SEEDS = st.integers(0, 2**31)


def make_table(entrants=4, sizes=(10, 10, 10, 10), attempts=5, models=(None,), missing=()):
    """A full table but for the (entrant, question) pairs in `missing`; sample ids are unique numbers."""
    prompts = [(prompt, f"c{c}") for c, size in enumerate(sizes) for prompt in range(100 * c, 100 * c + size)]
    questions = [(prompt, model, category) for prompt, category in prompts for model in models]
    drawings, sample = {}, 0
    for entrant in range(entrants):
        for question in range(len(questions)):
            shown_items = []
            for attempt in range(attempts):
                shown_items.append(Drawing(f"{entrant}/{question}/{attempt}", (sample,)))
                sample += 1
            if (entrant, question) not in missing:
                drawings[entrant, question] = tuple(shown_items)
    return Table(
        tuple(range(1000, 1000 + entrants)),
        tuple((prompt, model) for prompt, model, _ in questions),
        tuple(category for *_, category in questions),
        drawings,
    )


def sit(table, count, *, seed=1, overlap=0.0, repeats=0.0, shared_seed=77, coverage=None):
    """The first `count` items of a judge as (kind, item, number of the item it repeats)."""
    plan = make_plan(table, seed=seed, coverage=coverage)
    shared = make_plan(table, seed=shared_seed)
    place, shown, keys = Place(), [], set()

    def unseen(items):
        return next((item for item in items if item.key not in keys), None)

    while len(shown) < count:
        kind, (item, place), source = "shared", next_shared(plan, shared, table, place, unseen, overlap=overlap), None
        if item is None and is_due(place.repeats, share=repeats, served=place.served, seed=seed, kind="repeat"):
            used = {source for _, _, source in shown}
            window = range(max(0, len(shown) - REPEAT_WITHIN), len(shown) - REPEAT_AFTER + 1)
            earlier = [(shown[i][1].pair, i) for i in window if shown[i][0] != "repeat" and i not in used]
            kind, (source, place) = "repeat", next_repeat(plan, place, earlier)
            item = None if source is None else shown[source][1].swapped()
        if item is None:
            kind, (item, place) = "regular", next_regular(plan, table, place, unseen)
        if item is None:
            break
        keys.add(item.key)
        shown.append((kind, item, source))
    return shown


def regular(table, count, **options):
    return [item for _, item, _ in sit(table, count, **options)]


def spread(counter, over):
    return max(counter[x] for x in over) - min(counter[x] for x in over)


def check_balance(items, entrants):
    """Pairs, appearances and sides, at every prefix and after every full cycle. Says how many cycles there were."""
    cycle = entrants * (entrants - 1) // 2
    pairs, appearances, lean, number = Counter(), Counter(), Counter(), 0

    for number, item in enumerate(items, start=1):
        pairs[item.pair] += 1
        appearances.update([item.left, item.right])
        lean.update({item.left: 1})
        lean.subtract({item.right: 1})

        assert pairs[item.pair] == (number - 1) // cycle + 1  # once in each cycle, so all are within 1
        assert spread(appearances, range(entrants)) <= 2
        assert max(map(abs, lean.values())) <= 2
        if number % cycle == 0:
            assert len(pairs) == cycle and len(set(pairs.values())) == 1
            assert spread(appearances, range(entrants)) == 0
            assert max(map(abs, lean.values())) <= 1
        if number % (2 * cycle) == 0:
            assert set(lean.values()) == {0}
    return number / cycle


@pytest.mark.parametrize("entrants", range(2, 41))
def test_cycles_and_prefixes_are_balanced_for_every_number_of_entrants(entrants):
    table, cycle = make_table(entrants, sizes=(3, 3), attempts=3), entrants * (entrants - 1) // 2

    assert check_balance(regular(table, 3 * cycle, seed=entrants), entrants) == 3


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), SEEDS)
def test_cycles_and_prefixes_are_balanced_in_pairs_appearances_and_sides(entrants, seed):
    table, cycle = make_table(entrants, sizes=(3, 3), attempts=3), entrants * (entrants - 1) // 2

    check_balance(regular(table, min(3 * cycle, 900), seed=seed), entrants)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 40), st.floats(0, 0.4), st.floats(0, 0.2), SEEDS)
def test_shared_and_repeated_items_leave_the_balance_of_the_regular_ones_alone(entrants, overlap, repeats, seed):
    shown = sit(make_table(entrants), 600, seed=seed, overlap=overlap, repeats=repeats)

    check_balance([item for kind, item, _ in shown if kind == "regular"], entrants)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(1, 6), st.integers(1, 12), SEEDS)
def test_equal_categories_and_their_prompts_stay_within_one_at_every_prefix(entrants, categories, size, seed):
    table = make_table(entrants, sizes=(size,) * categories, attempts=2)
    by_category, by_question = Counter(), Counter()

    for item in regular(table, min(entrants * (entrants - 1) // 2 * size * categories, 600), seed=seed):
        by_category[table.categories[item.question]] += 1
        by_question[item.question] += 1

        assert spread(by_category, table.by_category) <= 1
        for questions in table.by_category.values():
            assert spread(by_question, questions) <= 1


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.lists(st.integers(1, 9), min_size=2, max_size=5), SEEDS)
def test_unequal_categories_are_weighted_by_their_prompts(entrants, sizes, seed):
    table = make_table(entrants, sizes=sizes, attempts=2)
    counts = Counter()

    for number, item in enumerate(regular(table, 300, seed=seed), start=1):
        counts[table.categories[item.question]] += 1
        for category, questions in table.by_category.items():
            assert abs(counts[category] - Fraction(number * len(questions), len(table.questions))) < 2


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9) | st.integers(10, 40), st.integers(2, 6), SEEDS)
@example(40, 6, 1)
@example(40, 4, 2)
@example(25, 5, 3)
def test_no_pair_is_locked_to_a_category_within_a_super_cycle(entrants, categories, seed):
    table = make_table(entrants, sizes=(2,) * categories)
    cycle = entrants * (entrants - 1) // 2
    counts = defaultdict(Counter)

    for number, item in enumerate(regular(table, cycle * categories * (2 if entrants < 10 else 1), seed=seed), start=1):
        counts[item.pair][table.categories[item.question]] += 1
        assert spread(counts[item.pair], table.by_category) <= (1 if number <= cycle * categories else 2)
        if number % (cycle * categories) == 0:
            assert {spread(count, table.by_category) for count in counts.values()} == {0}


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.lists(st.integers(1, 6), min_size=2, max_size=4), SEEDS)
def test_in_a_super_cycle_of_unequal_categories_every_pair_meets_each_by_its_weight(entrants, sizes, seed):
    table, whole = make_table(entrants, sizes=sizes), sum(sizes) // gcd(*sizes)
    met = Counter()

    for item in regular(table, entrants * (entrants - 1) // 2 * whole, seed=seed):
        met[item.pair, table.categories[item.question]] += 1

    weights = {f"c{number}": size // gcd(*sizes) for number, size in enumerate(sizes)}
    pairs = combinations(range(entrants), 2)
    assert met == {(pair, category): weight for pair in pairs for category, weight in weights.items()}


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.lists(st.integers(1, 5), min_size=1, max_size=3), SEEDS)
def test_every_pair_meets_every_question_before_any_twice_as_often(entrants, sizes, seed):
    table = make_table(entrants, sizes=sizes, attempts=4)
    cycle = entrants * (entrants - 1) // 2
    met = Counter((item.pair, item.question) for item in regular(table, cycle * sum(sizes) * max(sizes), seed=seed))

    over = [(pair, q) for pair in combinations(range(entrants), 2) for q in range(sum(sizes))]
    assert spread(met, over) <= max(sizes)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(1, 6), SEEDS)
def test_attempts_of_an_entrant_stay_within_one_until_questions_come_round(entrants, attempts, seed):
    table = make_table(entrants, sizes=(5, 5), attempts=attempts)
    cycle = entrants * (entrants - 1) // 2
    used = defaultdict(Counter)

    for item in regular(table, min(cycle * 10, 400), seed=seed):
        for entrant, sample in ((item.left, item.left_sample), (item.right, item.right_sample)):
            used[entrant][sample % attempts] += 1
            assert spread(used[entrant], range(attempts)) <= 1


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 8), st.integers(1, 3), st.floats(0, 0.5), st.floats(0, 0.2), SEEDS)
def test_both_samples_answer_one_question_and_no_drawings_meet_twice(entrants, attempts, overlap, repeats, seed):
    table = make_table(entrants, sizes=(3, 2), attempts=attempts, models=("m1", "m2"))
    owner = {s: place for place, cell in table.drawings.items() for drawing in cell for s in drawing.samples}
    met = Counter()

    for kind, item, _ in sit(table, 400, seed=seed, overlap=overlap, repeats=repeats):
        assert item.left != item.right
        assert owner[item.left_sample] == (item.left, item.question)
        assert owner[item.right_sample] == (item.right, item.question)
        met[frozenset((item.left_sample, item.right_sample))] += kind != "repeat"

    assert max(met.values()) == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 20), st.floats(0, 0.5), st.floats(0, 0.2), SEEDS)
def test_the_same_pair_never_comes_twice_in_a_row(entrants, overlap, repeats, seed):
    pairs = [item.pair for _, item, _ in sit(make_table(entrants), 250, seed=seed, overlap=overlap, repeats=repeats)]

    assert len(pairs) == 250
    assert all(one != other for one, other in pairwise(pairs))


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 20), st.sampled_from([0.1, 0.2, 0.35]), st.sampled_from([0.0, 0.05, 0.1]), SEEDS)
@example(3, 0.2, 0.0, 717289)
def test_shares_of_shared_and_repeated_items_are_kept(entrants, overlap, repeats, seed):
    """Of the shared items that are due nearly all were met, as such or by chance before; among three pairs they must wait."""
    assume(seed != 77)
    table = make_table(entrants)
    shown = sit(table, 200, seed=seed, overlap=overlap, repeats=repeats)
    shared, kinds = make_plan(table, seed=77), Counter(kind for kind, _, _ in shown)

    due = {next(regular_items(shared, table, number)).key for number in range(int(200 * overlap))}
    assert len(due - {item.key for _, item, _ in shown}) <= (3 if entrants > 3 or overlap <= 0.2 else 12)
    assert kinds["shared"] <= len(due) + 1
    assert abs(kinds["repeat"] - 200 * repeats) <= 2


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), SEEDS, SEEDS)
def test_every_judge_meets_the_same_shared_samples(entrants, seed, other):
    assume(seed != other)
    table = make_table(entrants)

    def samples_met(judge):
        shown = sit(table, 150, seed=judge, overlap=0.2, repeats=0.05)
        keys = [item.key for kind, item, _ in shown if kind == "shared"]
        return keys, {item.key for _, item, _ in shown}

    mine, _ = samples_met(seed)
    _, theirs = samples_met(other)
    missed = [key for key in mine if key not in theirs]
    assert len(missed) <= 3
    assert missed == mine[len(mine) - len(missed) :]


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), SEEDS)
def test_repeats_are_swapped_come_later_and_happen_once(entrants, seed):
    shown = sit(make_table(entrants), 200, seed=seed, overlap=0.2, repeats=0.1)
    sources = [(number, item, source) for number, (kind, item, source) in enumerate(shown) if kind == "repeat"]

    assert len(sources) >= 15
    assert len({source for *_, source in sources}) == len(sources)
    for number, item, source in sources:
        assert number - source >= REPEAT_AFTER
        assert shown[source][0] != "repeat"
        assert item == shown[source][1].swapped()


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 12), SEEDS, st.data())
def test_with_gaps_the_possible_pairs_stay_balanced(entrants, seed, data):
    cells = [(entrant, question) for entrant in range(entrants) for question in range(8)]
    missing = data.draw(st.sets(st.sampled_from(cells), max_size=len(cells) // 2))
    table = make_table(entrants, sizes=(4, 4), missing=missing)
    assume(len(table.common) > 1)
    pairs, lean, before = Counter(), Counter(), None

    for item in regular(table, 2 * len(table.common), seed=seed):
        assert item.question in table.common[item.pair]
        assert item.pair != before
        before = item.pair
        pairs[item.pair] += 1
        lean.update({item.left: 1})
        lean.subtract({item.right: 1})
        assert set(pairs) <= set(table.common)
        assert spread(pairs, table.common) <= 1
        assert max(map(abs, lean.values())) <= 2

    assert set(lean.values()) == {0}


def prefix_spreads(table, shown):
    """The widest that categories, and prompts inside a category, were ever apart over the regular items."""
    by_category, by_question, widest = Counter(), Counter(), (0, 0)
    for item in (item for kind, item, _ in shown if kind == "regular"):
        by_category[table.categories[item.question]] += 1
        by_question[item.question] += 1
        prompts = max(spread(by_question, questions) for questions in table.by_category.values())
        widest = max(widest[0], spread(by_category, table.by_category)), max(widest[1], prompts)
    return widest


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(5, 12), st.integers(2, 5), st.integers(4, 10), SEEDS, st.data())
def test_prompts_that_an_entrant_lacks_are_made_up_for_by_the_other_pairs(entrants, categories, size, seed, data):
    few = st.sets(st.integers(0, size - 1), min_size=1, max_size=size // 2)
    missing = {(0, c * size + place) for c in range(categories) for place in data.draw(few)}
    table = make_table(entrants, sizes=(size,) * categories, missing=missing)

    by_category, by_prompt = prefix_spreads(table, sit(table, 250, seed=seed))

    assert by_category <= 1
    assert by_prompt <= 4


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(5, 12), st.integers(2, 5), st.integers(4, 10), SEEDS)
def test_a_category_that_an_entrant_lacks_is_made_up_for_by_the_other_pairs(entrants, categories, size, seed):
    table = make_table(entrants, sizes=(size,) * categories, missing={(0, question) for question in range(size)})

    by_category, by_prompt = prefix_spreads(table, sit(table, 250, seed=seed))

    assert by_category <= 4
    assert by_prompt <= 4


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(5, 12), st.integers(1, 3), SEEDS)
def test_shared_items_put_the_judges_own_prompts_out_of_balance_by_two_at_most(entrants, attempts, seed):
    table = make_table(entrants, attempts=attempts)

    by_category, by_prompt = prefix_spreads(table, sit(table, 250, seed=seed, overlap=0.2, repeats=0.05))

    assert by_category <= 1
    assert by_prompt <= 3


def test_the_only_pair_that_can_show_a_category_is_shown_others_too():
    table = make_table(6, missing={(entrant, question) for entrant in range(2, 6) for question in range(10)})

    met = Counter(table.categories[item.question] for item in regular(table, 600) if item.pair == (0, 1))

    assert met["c0"] > met.total() / 3
    assert min(met[f"c{number}"] for number in range(1, 4)) > met.total() / 10


def test_a_prompt_that_no_pair_can_show_takes_no_part_in_the_balance():
    lone = {(entrant, question) for entrant in range(1, 5) for question in range(4)}
    table = make_table(5, sizes=(5, 5), missing=lone)

    shown = regular(table, 60)

    assert Counter(table.categories[item.question] for item in shown) == {"c0": 10, "c1": 50}


def test_without_gaps_nothing_is_ever_owed():
    table, place = make_table(5, sizes=(3, 2)), Place()
    plan = make_plan(table, seed=4)

    for _ in range(200):
        _, place = next_regular(plan, table, place, next)
        assert place.owed == {}


def test_where_nothing_is_owed_the_plan_is_followed_and_each_question_comes_once():
    table = make_table(entrants=4, sizes=(7, 3, 5), attempts=1)
    plan = make_plan(table, seed=5)

    for number in range(200):
        asked = [item.question for item in regular_items(plan, table, number)]

        planned = [question for question, _ in row_at(plan, category_at(plan, number), number)]
        assert asked[: len(planned)] == planned
        assert sorted(asked) == list(range(15))


def test_gaps_name_the_pairs_and_categories_that_cannot_be_shown():
    missing = {(0, question) for question in range(3)} | {(2, question) for question in range(6)}

    table = make_table(3, sizes=(3, 3), missing=missing)

    assert set(table.common) == {(0, 1)}
    assert table.gaps() == [
        ((0, 1), "c0"),
        ((0, 2), "c0"),
        ((0, 2), "c1"),
        ((1, 2), "c0"),
        ((1, 2), "c1"),
    ]


def test_everything_is_shown_once_and_then_the_schedule_ends():
    table = make_table(3, sizes=(2, 1), attempts=2)

    shown = regular(table, 1000)

    assert len(shown) == 3 * 3 * 2 * 2
    assert len({item.key for item in shown}) == len(shown)


def test_equal_drawings_count_as_one_and_take_turns_as_attempts():
    table = Table(
        (1, 2),
        ((7, None), (8, None)),
        ("c", "c"),
        {
            (0, 0): (Drawing("same", (10, 11, 12)),),
            (0, 1): (Drawing("other", (13,)),),
            (1, 0): (Drawing("x", (20,)), Drawing("y", (21,))),
            (1, 1): (Drawing("x", (22,)),),
        },
    )

    shown = regular(table, 50)

    assert len(shown) == 3
    assert {sample for item in shown for sample in (item.left_sample, item.right_sample)} & {10, 11, 12}


def test_programs_are_compared_on_the_same_model():
    table = make_table(3, sizes=(2,), attempts=1, models=("m1", "m2"))

    shown = regular(table, 100)

    assert len(shown) == 3 * 2 * 2
    assert Counter(table.questions[item.question][1] for item in shown) == {"m1": 6, "m2": 6}


def test_across_judges_least_seen_pairs_and_questions_come_first():
    table = make_table(12)
    met_pairs, met_questions = Counter(), Counter()
    for seed in range(40):
        for item in regular(table, 10, seed=seed, coverage=Coverage(met_pairs, met_questions)):
            met_pairs[item.pair] += 1
            met_questions[item.question] += 1

    # 400 items over 66 pairs are 6.06 each; by chance alone the range would be about 2 to 12.
    assert min(met_pairs[pair] for pair in combinations(range(12), 2)) >= 4
    assert max(met_pairs.values()) <= 8
    assert spread(met_questions, range(40)) <= 2


def test_judges_do_not_all_start_alike():
    table = make_table(8)

    first = {regular(table, 1, seed=seed)[0].pair for seed in range(60)}
    sides = {regular(table, 1, seed=seed)[0].left < regular(table, 1, seed=seed)[0].right for seed in range(60)}

    assert len(first) > 15
    assert sides == {True, False}


@pytest.mark.parametrize("number", [0, 10**6, 10**9])
def test_a_step_costs_the_same_however_far_the_judge_has_come(number):
    table = make_table(40)
    plan = make_plan(table, seed=5)

    item = next(regular_items(plan, table, number))

    assert item.pair == unordered(*plan.pair_at(number))
    assert item.question in table.common[item.pair]


def test_plans_and_tables_survive_json():
    table = make_table(5, models=("a", None), missing={(0, 0)})
    plan = make_plan(table, seed=9)

    assert Table.from_json(json.loads(json.dumps(table.to_json()))) == table
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
