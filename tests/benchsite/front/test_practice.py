"""The pair on the home page: anybody can vote on it, nothing is stored, and no run that is judged blind is in it."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from django.test import override_settings
from django.urls import reverse

from benchsite.front.practice import Pair, Side, crowd_sentence, practice_of
from generation.models import Run
from judging.models import Matchup, Vote
from ranking.fitting import fit_run
from ranking.models import Fit, Standing
from ranking.pairwise.practice import _dull, practice_pairs, weakest
from ranking.simulated.judges import judge_demo_run
from tests.judging.make import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def judged(module_rows):
    """A published run that four simulated judges have voted on, closed. Made once: what a test does to it is taken back."""
    run = make_run(entrants=3, prompts=4)
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="open", is_demo=True)
    run.refresh_from_db()
    with override_settings(DEMO_JUDGES=4, DEMO_VOTES=60):
        judge_demo_run(run)
    Run.objects.filter(pk=run.pk).update(judging_state="closed")
    return run.pk


@pytest.fixture
def finished(judged):
    return Run.objects.get(pk=judged)


def test_pairs_with_the_weakest_entrants_come_last(finished):
    fit_run(finished)
    places = Standing.objects.filter(fit=Fit.objects.newest(finished, "pairwise"), scope="overall").order_by("score")
    lowest = places.first().entrant

    finished.refresh_from_db()
    pairs = practice_pairs(finished, most=24)
    below = [lowest.pk in (one.left.entrant_id, one.right.entrant_id) for one in pairs]
    first_of_prompts = below[: finished.prompts.count()]

    assert weakest(finished) == {lowest.pk}
    assert True in below and False in below
    assert first_of_prompts == sorted(first_of_prompts)


def test_a_landslide_and_a_tie_are_duller_than_a_close_vote():
    close, landslide, tied = (
        Counter({("side", 1): 6, ("side", 2): 4}),
        Counter({("side", 1): 10}),
        Counter({("tie", None): 10}),
    )

    assert _dull(close) < _dull(landslide) < _dull(tied) < _dull(Counter({("fail", None): 10}))


def test_more_judges_cost_no_more_statements(finished, django_assert_max_num_queries):
    finished.refresh_from_db()

    with django_assert_max_num_queries(5):  # none for each judge
        assert practice_pairs(finished, most=6)


def labels(run):
    return set(run.entrants.values_list("label", flat=True))


def practice_part(text):
    return text[text.index('<section id="practice"') :].split("</section>")[0]


def test_before_the_vote_nothing_says_who_drew_what(client, finished):
    part = practice_part(client.get("/").text)

    assert not [label for label in labels(finished) if label in part]
    assert "Practice · not counted" in part
    assert not re.search(r"/gallery/\w+/\"", part), "a drawing's page names who drew it"


def test_a_vote_shows_names_and_what_the_judges_chose_and_stores_nothing(client, finished):
    votes, matchups = Vote.objects.count(), Matchup.objects.count()
    code = re.search(r'name="pair" value="([^"]+)"', client.get("/").text).group(1)

    part = practice_part(client.get("/", {"pair": code, "choice": "left"}).text)

    assert len([label for label in labels(finished) if label in part]) == 2
    assert "simulated judge" in part and "chose the same" in part
    assert re.search(r"You said: <span\s+class=\"beside\">left</span>", part)
    assert (Vote.objects.count(), Matchup.objects.count()) == (votes, matchups)


def test_the_sides_and_counts_belong_together(finished):
    """Counted again from the votes themselves, for every pair of the round."""
    first = practice_of({})
    codes = [first.pair.code]
    while (following := practice_of({"pair": codes[-1]}).next_code) != codes[0]:
        codes.append(following)
    assert len(codes) == first.total > 1
    for code in codes:
        pair, left = practice_of({"pair": code}).pair, code.split("-")[0]
        chosen = {"left": 0, "right": 0, "tie": 0, "fail": 0}
        right = code.split("-")[1]
        for vote in (
            Vote.objects.rated().without_repeats().select_related("matchup__left_sample", "matchup__right_sample")
        ):
            shown = [vote.matchup.left_sample.code, vote.matchup.right_sample.code]
            if sorted(shown) != sorted((left, right)):
                continue
            turned = {"left": "right", "right": "left"} if shown != [left, right] else {}
            chosen[turned.get(vote.outcome, vote.outcome)] += 1
        assert dict(pair.votes) == chosen


@pytest.mark.parametrize("state", ["open", "paused", "not_open"])
def test_a_run_whose_judging_is_not_closed_is_never_in_it(client, finished, state):
    Run.objects.update(judging_state=state)

    assert practice_of({}).pair.run is None


@pytest.mark.parametrize("visibility", ["private", "archived"])
def test_a_run_that_is_not_public_is_never_in_it(client, finished, visibility):
    Run.objects.update(visibility=visibility)

    assert practice_of({}).pair.run is None


def test_an_excluded_drawing_is_not_shown(finished):
    code = practice_of({}).pair.code.split("-")[0]
    finished.samples.filter(code=code).update(excluded_reason="broken")

    assert code not in practice_of({}).pair.code


def test_a_site_without_a_finished_run_has_a_set_of_its_own(client):
    Run.objects.update(visibility="private")
    first = client.get("/").text
    part = practice_part(client.get("/?pair=walrus&choice=right").text)

    assert "practice/walrus-" in first and "Demo Master" not in first
    assert "Demo Master" in part and "Demo Apprentice" in part
    assert "there are no votes to compare with" in part


@pytest.mark.parametrize("query", ["pair=none", "pair=walrus&choice=up", "choice=left", "pair=&choice=left"])
def test_an_odd_address_shows_a_pair_to_vote_on(client, query):
    part = practice_part(client.get(f"/?{query}").text)

    assert 'value="left"' in part


def test_few_votes_are_counted_and_not_given_as_a_share():
    sides = Side("left", "A"), Side("right", "B")

    assert crowd_sentence(Pair("x", "a cat", sides), "left").startswith("These drawings come with the site")
    few = Pair("x", "a cat", sides)
    few.votes.update(left=2, tie=1)
    assert crowd_sentence(few, "left") == "2 of 3 judges chose the same."
    many = Pair("x", "a cat", sides, simulated=True)
    many.votes.update(left=8, right=2)
    assert crowd_sentence(many, "right") == "20% of 10 simulated judges chose the same."


def test_more_votes_cost_no_more_statements(client, finished, django_assert_max_num_queries):
    with django_assert_max_num_queries(20):
        client.get(reverse("home"))


def test_ranks_are_those_of_the_votes_and_not_of_another_score(finished):
    fit_run(finished)
    code = practice_of({}).pair.code
    by_votes = practice_of({"pair": code, "choice": "left"}).ranks
    newer = fit_run(finished)
    Fit.objects.filter(pk=newer.pk).update(protocol="automatic")  # as if a formula had scored the drawings since
    Standing.objects.filter(fit=newer).update(rank_low=3, rank_high=3)

    assert by_votes and practice_of({"pair": code, "choice": "left"}).ranks == by_votes
