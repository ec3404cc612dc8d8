"""The combinatorics under the schedule: every pair once, sides that balance, categories that keep to their share."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judging.pairs.schedule.rounds import assign_sides, category_word, circle_rounds, word_starts


@pytest.mark.parametrize("count", range(2, 41))
def test_circle_rounds_hold_every_pair_once_and_nobody_twice_in_a_round(count):
    rounds = circle_rounds(count)

    pairs = sorted(tuple(sorted(pair)) for pairs in rounds for pair in pairs)
    assert pairs == list(combinations(range(count), 2))
    for pairs_of_round in rounds:
        assert max(Counter(e for pair in pairs_of_round for e in pair).values()) == 1


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 40), st.floats(0.1, 1), st.integers(0, 2**32))
def test_sides_differ_by_at_most_one_at_every_prefix_of_any_list_of_pairs(count, share, seed):
    random = Random(seed)
    pairs = [pair for pair in combinations(range(count), 2) if random.random() < share]
    random.shuffle(pairs)

    sides = assign_sides(pairs, random)

    assert [tuple(sorted(pair)) for pair in sides] == pairs
    balance = Counter()
    for left, right in sides:
        balance[left] += 1
        balance[right] -= 1
        assert abs(balance[left]) <= 1
        assert abs(balance[right]) <= 1


def test_sides_are_not_always_the_same_way_round():
    turned = {assign_sides([(0, 1)], Random(seed))[0] for seed in range(20)}

    assert turned == {(0, 1), (1, 0)}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=7))
def test_category_word_stays_within_one_of_every_share(sizes):
    word = category_word(sizes)

    assert [word.count(c) for c in range(len(sizes))] == [size // gcd(*sizes) for size in sizes]
    counts = Counter()
    for step, letter in enumerate(word, start=1):
        counts[letter] += 1
        for c, size in enumerate(sizes):
            assert abs(counts[c] - Fraction(size * step, sum(sizes))) < 1


def test_category_word_of_equal_sizes_is_a_plain_rotation():
    assert category_word([10, 10, 10, 10]) == [0, 1, 2, 3]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 8), min_size=1, max_size=5), st.integers(1, 60))
def test_word_starts_lead_every_pair_to_every_letter(sizes, pairs):
    word = category_word(sizes)
    starts = word_starts(word, pairs)
    block = lcm(pairs, len(word))

    for turn in range(pairs):
        met = [(start + inside) % len(word) for start in starts for inside in range(turn, block, pairs)]
        assert sorted(met) == list(range(len(word)))
