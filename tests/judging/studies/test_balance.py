"""Across short seats: sides, prompts and coverage are as even as in long ones, because nothing is inserted into them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from benchmarks.pairs.short_seats import measure
from judging.models import Kind, Matchup
from tests.judging.make import make_run
from tests.judging.studies.make import Guest, make_study


@pytest.mark.parametrize(("entrants", "prompts"), [(4, 40), (8, 10), (6, 12)])
def test_seats_of_twenty_are_balanced_each_and_together(entrants, prompts):
    figures = measure(entrants, prompts, 40, 20, "studies")

    assert figures["prompt_twice_running"] == 0
    assert figures["left_minus_right"] <= 2
    assert figures["pairs"][1] - figures["pairs"][0] <= 3
    assert figures["prompt_counts"][1] - figures["prompt_counts"][0] <= 2


@pytest.mark.django_db
@pytest.mark.usefixtures("no_waiting")
def test_participants_get_neither_shared_items_nor_repeats():
    study = make_study(make_run(entrants=4, prompts=6, overlap=0.5, repeats=0.4), pairs=12)
    for _ in range(2):
        guest = Guest(study)
        guest.enter()
        guest.judge(12)

    shown = Matchup.objects.order_by("seat", "order")
    running = [
        one == other for one, other in pairwise(shown.filter(seat=shown[0].seat).values_list("prompt", flat=True))
    ]
    assert set(shown.values_list("kind", flat=True)) == {Kind.REGULAR}
    assert not any(running)
    assert Counter(shown.values_list("state", flat=True))["voted"] == 24
