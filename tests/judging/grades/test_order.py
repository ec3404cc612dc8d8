"""The order of grading: balanced over entrants and subjects, random per judge, attempts of one subject apart."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judging.grades.order import Drawing, choose_drawings, mix, order_drawings

STAGES = ("s1", "s2", "s3")


def field(*, entrants=5, subjects=5, attempts=2, stages=STAGES):
    shape = product(range(len(stages)), range(subjects), range(entrants), range(attempts))
    return [
        Drawing(n, entrant, 100 * stage + subject, stages[stage])
        for n, (stage, subject, entrant, _) in enumerate(shape)
    ]


def order(drawings, **options):
    return order_drawings(drawings, **{"stages": STAGES, "first": 0, "seed": 1, **options})


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(2, 6), st.integers(1, 3), st.integers(0, 2**31))
def test_every_drawing_comes_once_and_no_subject_twice_in_a_row(entrants, subjects, attempts, seed):
    drawings = field(entrants=entrants, subjects=subjects, attempts=attempts)

    ordered = order(drawings, seed=seed)

    assert sorted(d.sample for d in ordered) == [d.sample for d in drawings]
    assert all(a.subject != b.subject for a, b in pairwise(ordered))


def test_uneven_subjects_are_kept_apart_while_that_is_possible():
    many = [Drawing(n, n, 1, "s1") for n in range(5)] + [Drawing(9 + n, n, 2 + n, "s1") for n in range(4)]

    for seed in range(20):
        assert all(a.subject != b.subject for a, b in pairwise(mix(many, random.Random(seed))))


def test_stages_stay_together_and_judges_begin_at_different_ones():
    for first in range(3):
        stages = [d.stage for d in order(field(), first=first)]
        assert stages[0] == STAGES[first]
        assert [a for a, b in pairwise([*stages, None]) if a != b] == [STAGES[(first + n) % 3] for n in range(3)]


def test_each_tenth_of_a_stage_has_the_entrants_evenly():
    begun = Counter()
    for seed in range(40):
        stage = order(field(), seed=seed)[:50]
        begun += Counter(d.entrant for d in stage[:10])

    assert all(60 <= count <= 100 for count in begun.values())  # 80 each


def test_two_judges_have_different_orders_and_one_judge_the_same_again():
    assert order(field(), seed=1) == order(field(), seed=1) != order(field(), seed=2)


@pytest.mark.parametrize("quota", [None, 150, 999])
def test_with_room_for_all_every_drawing_is_shared(quota):
    chosen, shared = choose_drawings(field(), quota=quota, overlap=0.2, run_seed=1, seed=2, graded={})

    assert len(chosen) == len(shared) == 150


def test_with_a_quota_judges_share_the_overlap_and_cover_the_rest_evenly():
    graded, seen = Counter(), []
    for judge in range(8):
        chosen, shared = choose_drawings(field(), quota=50, overlap=0.2, run_seed=7, seed=judge, graded=graded)
        graded.update(d.sample for d in chosen)
        seen.append((chosen, shared))

    assert all(len(chosen) == 50 for chosen, _ in seen)
    assert len({frozenset(shared) for _, shared in seen}) == 1
    assert len(seen[0][1]) == 10
    rest = [graded[d.sample] for d in field() if d.sample not in seen[0][1]]
    assert max(rest) - min(rest) <= 1
    for chosen, _ in seen:
        by_entrant = Counter(d.entrant for d in chosen)
        assert max(by_entrant.values()) - min(by_entrant.values()) <= 3
