"""Head to head on scored boards: any two entrants, with the gap, its interval and one verdict."""

from __future__ import annotations

import pytest
from django.urls import reverse

from generation.models import Run
from ranking.fitting import fit_run
from ranking.views.differences import seen_from
from ranking.words import stand_words
from tests.pages import collapsed
from tests.ranking.answered_run import make_answered_run
from tests.ranking.graded_run import make_graded_run

pytestmark = pytest.mark.django_db


def address(run, protocol):
    return reverse("ranking:differences", args=[run.code, protocol])


def test_any_two_models_have_a_difference_with_its_interval(client):
    run = make_answered_run()
    fit = fit_run(run)
    first, last = (run.entrants.get(name=fit.result["overall"][place]["entrant"]) for place in (0, -1))

    page = collapsed(client.get(address(run, "automatic"), {"a": last.code, "b": first.code}))
    data = client.get(address(run, "automatic"), {"a": last.code, "b": first.code, "format": "json"}).json()

    assert data["pair"]["upper"] == first.name
    assert data["pair"]["low"] < data["pair"]["gap"] < data["pair"]["high"]
    assert data["sentence"] in page
    assert data["pair"]["low"] > 0.1
    assert len(data["pairs"]) == 10
    assert all(row["gap"] <= 0 for row in data["by_category"]), "from the first chosen to the second"


def test_one_is_drawn_against_every_other_with_both_their_drawings(client):
    run = make_answered_run()
    fit = fit_run(run)
    last = run.entrants.get(name=fit.result["overall"][-1]["entrant"])

    page = collapsed(client.get(address(run, "automatic"), {"a": last.code}))
    data = client.get(address(run, "automatic"), {"a": last.code, "format": "json"}).json()

    assert page.count('<td class="words">') == len(data["by_category"]) + 4
    for pair in fit.result["verdicts"]["pairs"]:
        if last.name in (pair["upper"], pair["lower"]):
            assert stand_words(pair, last.name) in page
    assert f"{last.label} against the others" in page
    assert page.count('<div class="duel"') == len(data["drawings"]) > 0
    assert "<title/>" not in page, "each interval says what it shows"


def test_no_drawing_stands_beside_a_name_while_people_judge(client):
    run = make_graded_run()
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="open")
    fit_run(run)

    assert b'class="duel"' not in client.get(address(run, "rubric")).content


def test_the_boards_link_to_it(client):
    run = make_answered_run()
    fit_run(run)

    assert address(run, "automatic") in client.get(f"/runs/{run.code}/leaderboard/").content.decode()


def test_a_rubric_has_differences_of_totals_and_stages(client):
    run = make_graded_run()
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")
    result = fit_run(run).result

    data = client.get(address(run, "rubric"), {"format": "json"}).json()

    assert len(result["verdicts"]["pairs"]) == 3
    assert set(result["category_verdicts"]) == {"s1", "s2", "s3"}
    assert data["pair"]["state"] in ("settled", "ahead", "tied", "undecided")
    assert len(data["by_category"]) == 3


@pytest.mark.parametrize("query", [{"a": "nobody"}, {"b": "nobody"}])
def test_an_unknown_entrant_is_not_found(client, query):
    run = make_answered_run()
    fit_run(run)

    assert client.get(address(run, "automatic"), query).status_code == 404


def test_a_board_without_scores_says_so(client):
    run = make_answered_run(say=lambda sample: None)

    assert client.get(address(run, "automatic")).status_code == 200


def test_a_pair_seen_from_the_lower_one_turns_its_open_end():
    pair = {"upper": "a", "lower": "b", "state": "ahead", "gap": 0.4, "low": 0.1, "high": None}

    seen = seen_from(pair, "b")

    assert (seen["gap"], seen["low"], seen["high"]) == (-0.4, None, -0.1)
