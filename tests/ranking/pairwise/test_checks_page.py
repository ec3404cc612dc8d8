from __future__ import annotations

import pytest

from generation.models import Run
from judging.models import Vote
from judging.pairs.tallies import rebuild_tallies
from ranking.fitting import fit_run
from ranking.statistics.notes import THIN
from tests.pages import collapsed
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return make_voted_run(votes=300)


def test_the_judges_page_says_how_well_the_scale_holds_together_and_names_infit(client, django_user_model, run):
    fit_run(run)
    client.force_login(django_user_model.objects.create_user("curator", is_staff=True))

    page = client.get(f"/runs/{run.code}/leaderboard/judges/").content.decode()

    assert "separation reliability" in page
    assert "split-half reliability" in page
    assert "Infit" in page


def test_a_judge_of_another_taste_is_described_and_not_flagged(client, django_user_model, run):
    seat = run.seats.first()
    place = {entrant.pk: place for place, entrant in enumerate(run.entrants.all())}
    for vote in Vote.objects.filter(seat=seat).select_related("matchup"):
        weaker_left = place[vote.matchup.left_id] > place[vote.matchup.right_id]
        Vote.objects.filter(pk=vote.pk).update(outcome="left" if weaker_left else "right")
    rebuild_tallies(run)
    fit_run(run)
    client.force_login(django_user_model.objects.create_user("curator", is_staff=True))

    board, page = (client.get(f"/runs/{run.code}/leaderboard/{tab}").content.decode() for tab in ("", "judges/"))

    assert "1 judge consistently prefers what the others do not" in board
    assert "1 judge consistently prefers what the others do not" in page
    assert "another taste" in page
    assert "hardly agrees" not in page


def test_a_board_with_many_fails_has_the_ratings_that_use_them(client, django_user_model, run):
    Vote.objects.filter(run=run, pk__in=Vote.objects.filter(run=run).values_list("pk")[:40]).update(outcome="fail")
    rebuild_tallies(run)
    fit_run(run)
    client.force_login(django_user_model.objects.create_user("curator", is_staff=True))

    page = client.get(f"/runs/{run.code}/leaderboard/")

    assert "Ratings that use “both bad” too" in page.content.decode()
    assert run.fits.first().result["joint"]["fails"] > 0.1


def test_own_ratings_stand_with_their_intervals(client):
    run = make_voted_run(votes=360, judges=6)
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")
    fit = fit_run(run)

    page = collapsed(client.get(f"/runs/{run.code}/leaderboard/judges/"))

    shown = [row for judge in fit.result["judges"].values() for row in judge["standings"]]
    assert len(shown) == 6 * 4
    for row in shown:
        assert f"<strong>{row['rating']:,.0f}</strong><br> {row['low']:,.0f}–{row['high']:,.0f}<br>" in page


def test_what_categories_lack_is_said_on_their_pages_and_not_on_the_whole_board(client, run):
    fit = fit_run(run)
    fit.result["notes"].append(f"{THIN}: Animal.")
    fit.save(update_fields=["result"])
    Run.objects.filter(pk=run.pk).update(visibility="published", judging_state="closed")

    first = next(iter(fit.result["categories"]))

    whole, category = (client.get(f"/runs/{run.code}/leaderboard/{tab}").text for tab in ("", f"?category={first}"))

    assert THIN in category
    assert THIN not in whole
