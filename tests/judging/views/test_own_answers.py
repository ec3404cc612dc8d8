"""A judge's own votes with their drawings, and the figures at the end: nothing that tells names before judging closes."""

from __future__ import annotations

import pytest
from django.urls import reverse

from generation.models import Entrant, Run, Sample
from judging.models import Matchup, Seat
from judging.pairs.serving import take_seat
from judging.pairs.skipping import skip_matchup
from judging.pairs.voting import Ballot, cast_vote
from tests.judging.make import close_judging, make_run, make_seat
from tests.pages import collapsed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def sit(client, **judging):
    seat = make_seat(make_run(**judging), quota=20)
    client.force_login(seat.judge)
    take_seat(seat.pk)
    return seat


def answer(seat, *outcomes):
    codes = []
    for outcome in outcomes:
        codes.append(Matchup.objects.get(seat=seat, state="open").code)
        if outcome == "skip":
            skip_matchup(judge=seat.judge, code=codes[-1])
        else:
            cast_vote(judge=seat.judge, code=codes[-1], ballot=Ballot(outcome))
    return codes


def history(client, seat, **query):
    return client.get(reverse("judging:history", args=[seat.run.code]), query)


def test_votes_and_skips_stand_with_two_drawings_and_the_choice(client):
    seat = sit(client)
    codes = answer(seat, "left", "tie", "skip", "fail")

    page = history(client, seat)

    answers = page.context["answers"]
    assert [one.matchup.code for one in answers] == codes[::-1]
    assert [one.framed for one in answers] == [(), (), ("left", "right"), ("left",)]
    assert page.text.count('class="tile') == 8
    assert page.text.count(" chosen") == 3
    assert "Judge it" in collapsed(page) and "Change" in page.text


def test_answers_are_filtered_by_choice_and_prompt(client):
    seat = sit(client)
    codes = answer(seat, "left", "tie", "skip", "fail")

    only = [one.matchup.code for one in history(client, seat, choice="skip").context["answers"]]
    prompt = Matchup.objects.get(code=codes[0]).prompt.text
    named = history(client, seat, q=prompt.upper()).context["answers"]

    assert only == [codes[2]]
    assert {one.matchup.prompt.text for one in named} == {prompt}
    assert "Nothing here matches" in history(client, seat, q="unicorn").text


def test_a_drawing_that_was_taken_out_is_not_shown_again(client):
    seat = sit(client)
    (code,) = answer(seat, "left")
    Sample.objects.filter(pk=Matchup.objects.get(code=code).left_sample_id).update(excluded_reason="offensive")

    assert history(client, seat).text.count(">removed<") == 2


@pytest.mark.parametrize("votes", [2, 8])
def test_the_page_takes_the_same_statements_for_any_number_of_votes(client, votes, django_assert_max_num_queries):
    seat = sit(client)
    answer(seat, *["left"] * votes)
    history(client, seat)

    with django_assert_max_num_queries(9):
        history(client, seat)


@pytest.mark.parametrize("runs", [1, 4])
def test_the_list_of_runs_takes_the_same_statements_for_any_number_of_them(client, runs, django_assert_max_num_queries):
    for _ in range(runs):
        answer(sit(client), *["left"] * 5)
    client.get(reverse("judging:home"))  # keeps the runs' rules

    with django_assert_max_num_queries(7):
        client.get(reverse("judging:home"))


def test_at_the_end_own_figures_are_shown_and_no_name(client):
    seat = sit(client)
    answer(seat, "left", "left", "right", "tie", "skip")
    page = client.get(reverse("judging:done", args=[seat.run.code]))

    own = page.context["own"]
    assert (own.votes, own.left, own.right, own.neither, own.skipped) == (4, 2, 1, 1, 1)
    assert own.favourite == ""
    assert [label for label in Entrant.objects.values_list("label", flat=True) if label in page.text] == []
    assert "judge it now" in collapsed(page)


def test_somebody_who_has_not_voted_is_sent_to_the_first_pair(client):
    seat = sit(client)

    page = client.get(reverse("judging:done", args=[seat.run.code])).content.decode()

    assert "No votes yet." in page
    assert f'href="{reverse("judging:judge", args=[seat.run.code])}"' in page
    assert "favourite" not in page


@pytest.mark.parametrize(("reveal", "expected"), [("closed", True), ("never", False)])
def test_the_favourite_is_told_once_judging_is_closed(client, reveal, expected):
    seat = sit(client, reveal=reveal, entrants=2, prompts=6, overlap=0, repeats=0)
    best = Entrant.objects.first()
    for _ in range(6):
        matchup = Matchup.objects.get(seat=seat, state="open")
        answer(seat, "left" if matchup.left_id == best.pk else "right")
    Run.objects.update(judging_state="closed")

    page = client.get(reverse("judging:done", args=[seat.run.code]))

    assert page.context["own"].favourite == (best.label if expected else "")
    assert (best.label in page.text) == expected


def test_after_the_last_vote_the_judge_comes_to_the_figures(client):
    seat = make_seat(make_run(), quota=1)
    client.force_login(seat.judge)
    take_seat(seat.pk)
    code = Matchup.objects.get(seat=seat, state="open").code

    page = client.post(reverse("judging:vote"), {"code": code, "outcome": "left"}, follow=True)

    assert page.redirect_chain[-1][0] == reverse("judging:done", args=[seat.run.code])
    assert "Done. Your 1 vote is in." in collapsed(page)
    card = client.get(reverse("judging:card", args=[seat.run.code]))
    assert card["Content-Type"] == "image/svg+xml"
    assert "I judged 1 pair, blind." in card.text


def judged_alike(*, others):
    """Alice chose the left of every shared pair; the others chose as told, by the same drawings."""
    run = make_run(entrants=2, prompts=4, attempts=1, overlap=1, repeats=0)
    chosen = {}
    for name, agrees in {"alice": True, **others}.items():
        seat = make_seat(run, name, quota=4)
        take_seat(seat.pk)
        for _ in range(4):
            matchup = Matchup.objects.get(seat=seat, state="open")
            best = chosen.setdefault(matchup.key, matchup.left_sample_id)
            answer(seat, "left" if (matchup.left_sample_id == best) == agrees else "right")
    return run.seats.get(judge__username="alice")


def test_agreement_is_the_share_of_others_who_gave_the_same_answer_once_judging_is_closed(client):
    seat = judged_alike(others={"bob": True, "dora": True, "eve": False})
    client.force_login(seat.judge)
    path = reverse("judging:done", args=[seat.run.code])
    before = client.get(path)
    Run.objects.update(judging_state="closed")

    page = client.get(path)

    assert before.context["own"].agreement is None
    assert "could sway you" in before.text
    agreement = page.context["own"].agreement
    assert agreement.pairs == 4
    assert agreement.share == pytest.approx(2 / 3)
    assert agreement.low < 2 / 3 < agreement.high
    assert "67%" in page.text


def test_a_judge_whose_pairs_nobody_else_saw_is_told_so(client):
    seat = sit(client, overlap=0)
    answer(seat, "left")
    Run.objects.update(judging_state="closed")

    page = client.get(reverse("judging:done", args=[seat.run.code]))

    assert page.context["own"].agreement is None
    assert "nothing to compare" in collapsed(page)


def test_a_pair_that_came_back_is_compared_by_its_drawings(client):
    seat = sit(client, entrants=2, prompts=4, overlap=0, repeats=0.5)
    while not Matchup.objects.filter(seat=seat, kind="repeat", state="voted").exists():
        matchup = Matchup.objects.get(seat=seat, state="open")
        answer(seat, "left" if matchup.left_id == Entrant.objects.first().pk else "right")
    Run.objects.update(judging_state="closed")

    repeats = client.get(reverse("judging:done", args=[seat.run.code])).context["own"].repeats

    assert (repeats.same, repeats.shown) == (1, 1)


@pytest.mark.parametrize("votes", [2, 8])
def test_the_figures_take_the_same_statements_for_any_number_of_votes(client, votes, django_assert_max_num_queries):
    seat = sit(client)
    answer(seat, *["left"] * votes)
    Run.objects.update(judging_state="closed")
    client.get(reverse("judging:done", args=[seat.run.code]))

    with django_assert_max_num_queries(14):
        client.get(reverse("judging:done", args=[seat.run.code]))


def test_the_end_names_other_runs_that_wait_for_the_judge(client):
    seat, other = sit(client), make_run()
    Run.objects.filter(pk=other.pk).update(title="Kites in the wind")
    Seat.objects.create(run=other, judge=seat.judge, pseudonym="judge-2")
    answer(seat, "left")

    waiting = collapsed(client.get(reverse("judging:done", args=[seat.run.code])))
    close_judging(other)
    closed = collapsed(client.get(reverse("judging:done", args=[seat.run.code])))

    assert "Kites in the wind" in waiting and "Judge another run" in waiting
    assert "Kites in the wind" not in closed and "Judge another run" not in closed
