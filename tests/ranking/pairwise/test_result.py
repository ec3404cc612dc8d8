"""Stored pairwise fits hold what their types say."""

from __future__ import annotations

import pytest

from judging.models import Seat
from ranking.fitting import fit_run
from ranking.pairwise.result import PairwiseResult
from tests.judging.make import make_run
from tests.ranking.typed import misfits
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db


def stored_result(run, **choices):
    fit = fit_run(run, **choices)
    fit.refresh_from_db()
    return fit.result


@pytest.mark.parametrize("full", [True, False])
def test_a_fit_is_what_its_type_says(full):
    run = make_voted_run(votes=60)

    result = stored_result(run, full=full)

    assert misfits(result, PairwiseResult) == []


def test_a_fit_with_judges_set_aside_is_what_its_type_says():
    run = make_voted_run(votes=60)
    Seat.objects.filter(pk=run.seats.first().pk).update(weight=0, excluded_reason="always left")

    result = stored_result(run)

    assert result["run"]["everyone"]
    assert misfits(result, PairwiseResult) == []


def test_a_fit_of_nothing_is_what_its_type_says():
    assert misfits(stored_result(make_run()), PairwiseResult) == []


def test_a_missing_a_wrong_and_an_unknown_key_are_found():
    result = stored_result(make_run())
    del result["notes"]
    result |= {"votes": "many", "luck": 7}

    faults = misfits(result, PairwiseResult)

    assert faults == [
        "result.notes is missing",
        "result.votes is 'many', not <class 'int'>",
        "result.luck is not named",
    ]
