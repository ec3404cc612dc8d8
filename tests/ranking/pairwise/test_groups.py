"""Boards by group of judges: nothing of so few people that one of them could be told, not even by what is left over."""

from __future__ import annotations

import pytest

from judging.models import StudyAnswer
from ranking.fitting import fit_run
from ranking.pairwise.panels.groups import TOGETHER, large_enough
from tests.judging.gold.make import judge_all
from tests.judging.make import make_run
from tests.judging.studies.make import Guest, make_study


def people(prefix, count):
    return {f"{prefix}{number}" for number in range(count)}


def test_small_groups_are_shown_together():
    shown, left = large_enough({"a": people("a", 9), "b": people("b", 3), "c": people("c", 2)})

    assert {label: len(names) for label, names in shown.items()} == {"a": 9, TOGETHER: 5} and not left


def test_one_small_group_takes_the_smallest_with_it_so_that_no_difference_tells_it():
    shown, left = large_enough({"a": people("a", 9), "b": people("b", 6), "c": people("c", 1)})

    assert {label: len(names) for label, names in shown.items()} == {"a": 9, TOGETHER: 7} and not left


def test_too_few_in_all_are_left_out():
    assert large_enough({"a": people("a", 2), "b": people("b", 1)}) == ({}, {"a0", "a1", "b0"})


def test_the_arena_is_never_joined_with_judges():
    members = {"Judges": people("j", 2), "Open arena": people("g", 3)}

    assert large_enough(members, apart=("Judges", "Open arena")) == ({"Judges": people("j", 2)}, people("g", 3))


@pytest.mark.django_db
@pytest.mark.usefixtures("no_waiting")
def test_a_full_fit_ranks_each_group_by_its_own_votes():
    profile = [{"key": "draws", "text": "Do you draw?", "options": ["no", "yes"]}]
    run = make_run()
    study = make_study(run, pairs=2, platform="prolific", profile=profile)
    for number in range(11):
        guest = Guest(study, f"?PROLIFIC_PID=p{number}")
        guest.enter()
        guest.pass_step("profile", draws="yes" if number < 5 else "no")
        judge_all(guest.participation().seat)
    erased = StudyAnswer.objects.filter(participation__external_id="p10")
    erased.delete()

    groupings = {row["key"]: row for row in fit_run(run).result["run"]["groups"]}

    assert list(groupings) == ["draws"]  # one study and one platform leave nothing to compare
    draws = groupings["draws"]
    assert (draws["by"], draws["title"], draws["left_out"]) == ("answer", "Do you draw?", 0)
    assert [(group["label"], group["judges"], group["votes"]) for group in draws["groups"]] == [
        ("no", 5, 10),
        ("yes", 5, 10),
    ]
    assert all(row["low"] is None or row["low"] <= row["rating"] for row in draws["groups"][0]["standings"])
