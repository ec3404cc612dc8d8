"""Stored fits of every protocol hold what their types say."""

from __future__ import annotations

import pytest

from ranking.automatic.result import AutomaticResult
from ranking.competition.result import CompetitionResult
from ranking.fitting import fit_run
from ranking.rubric.result import RubricResult
from tests.judging.graded import make_rubric_run
from tests.ranking.answered_run import make_answered_run
from tests.ranking.graded_run import make_graded_run
from tests.ranking.typed import misfits

pytestmark = pytest.mark.django_db


def stored_result(run):
    fit = fit_run(run)
    fit.refresh_from_db()
    return fit.result


@pytest.mark.parametrize("make", [make_graded_run, make_rubric_run])
def test_a_rubric_fit_is_what_its_type_says(make):
    assert misfits(stored_result(make()), RubricResult) == []


def test_an_automatic_fit_is_what_its_type_says_besides_the_parts_of_the_score():
    result = stored_result(make_answered_run())

    faults = misfits(result, AutomaticResult)

    assert result["weights"]
    assert {fault.partition(" ")[0].rpartition(".")[2] for fault in faults} == set(result["weights"])
    assert all(fault.endswith("is not named") for fault in faults)


def test_an_automatic_fit_of_nothing_is_what_its_type_says():
    run = make_answered_run(say=lambda sample: None)

    assert misfits(stored_result(run), AutomaticResult) == []


def test_a_competition_is_what_its_type_says():
    assert misfits(stored_result(make_answered_run("science-birds")), CompetitionResult) == []
