"""While people judge a run blind, nobody but curators can tell one vote from what the site shows; later votes may be unblind."""

from __future__ import annotations

import random
import re

import pytest
import time_machine
from django.urls import reverse
from django.utils.timezone import now

from benchmarks.faults import attacker_http
from benchmarks.faults.attacker import ENTRANTS, PublicPage, attack, exact_page
from generation.models import Run
from judging.curating.runs import set_judging
from judging.files.exports import vote_records
from judging.grades.sheets import next_item
from judging.models import Grade, Invitation, Matchup, PublicState, Seat, Vote
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from judging.pairs.voting import IN_PUBLIC, Ballot, cast_vote, undo_vote
from judging.seats import RefusedError
from ranking.fitting import fit_run, publish_fit
from ranking.public_states import take_public_states
from ranking.statistics.blurring import blurred, bounded_parts, by_others
from tests.judging.graded import grade, make_rubric_run, seat_with_list
from tests.judging.make import make_curator, make_run, make_seat
from tests.ranking.answered_run import make_answered_run
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.django_db, pytest.mark.long, pytest.mark.usefixtures("no_waiting")]
PLACES = (("a", 2000.0), ("b", 1990.0), ("c", 1000.0))
FORMS = ({}, {"format": "json"})
EFFORT = {"seconds": 4321.5, "tokens": 4321, "cost_nano": 4321, "answers": 1}
CHANCE = re.compile(r"""name="csrfmiddlewaretoken" value="\w+""")


def make_published(**shape):
    run = make_voted_run(**{"votes": 60, "judges": 4, **shape})
    Run.objects.filter(pk=run.pk).update(visibility="published")
    run.refresh_from_db()
    return run


def vote(seat, outcome="left"):
    screen = take_seat(seat.pk)
    return cast_vote(judge=seat.judge, code=screen.current.code, ballot=Ballot(outcome))


def public_answers(client, run, fit, link):
    """All that a visitor can fetch about the run's standing."""
    code, entrant = run.code, run.entrants.first().code
    pages = [
        ("home",),
        ("ranking:leaderboards",),
        ("ranking:embed", code),
        ("ranking:leaderboard", code),
        ("ranking:protocol", code, "pairwise"),
        ("ranking:judges", code),
        ("ranking:history", code),
        ("ranking:versus", code),
        ("ranking:past", code, fit.code),
        ("ranking:entrant", code, entrant),
        ("ranking:download", code, "json"),
        ("ranking:download", code, "md"),
        ("ranking:chart", code, "wins", "csv"),
        ("ranking:share_picture", code),
        ("ranking:publication", link.code),
        ("ranking:publication_picture", link.code),
    ]
    addresses = [(reverse(name, args=args), query) for name, *args in pages for query in ({}, {"format": "json"})]
    answers = [client.get(address, query) for address, query in addresses]
    return [
        (a.status_code, CHANCE.sub("", a.content.decode("latin-1")), *where)
        for a, where in zip(answers, addresses, strict=True)
    ]


def test_one_more_vote_changes_nothing_that_a_visitor_can_fetch(client):
    run = make_published()
    fit = fit_run(run)
    link = publish_fit(fit=fit, by=None, title="Midterm")
    take_public_states()
    with time_machine.travel(now(), tick=False):
        before = public_answers(client, run, fit, link)
        Vote.objects.filter(run=run, pk=run.votes.last().pk).update(outcome="fail")
        fit_run(run)
        fit_run(run, full=False)
        take_public_states()

        after = public_answers(client, run, fit, link)

    assert after == before
    assert all("wins" not in text and "losses" not in text for _, text, *_ in after)


@pytest.mark.parametrize("state", ["not_open", "open", "paused"])
def test_scores_by_a_formula_wait_for_the_last_vote(client, state):
    run = make_answered_run(models=["demo/master", "demo/beginner"], attempts=1, protocols=("automatic", "pairwise"))
    fit = fit_run(run, protocol="automatic")
    fit.result["run"]["effort"] = dict.fromkeys(run.entrants.values_list("name", flat=True), EFFORT)
    fit.save()
    Run.objects.filter(pk=run.pk).update(judging_state=state)
    score = f"{fit.result['overall'][0]['score']:.2f}"
    board, entrant = (run.code, "automatic"), (run.code, run.entrants.first().code)
    pages = [("leaderboard", run.code), ("protocol", *board), ("frontier", *board), ("differences", *board)]
    pages += [("embed", run.code), ("entrant", *entrant), ("download", run.code, "json"), ("leaderboards",)]
    pages += [("download", run.code, "csv"), ("past", run.code, fit.code)]

    answers = [client.get(reverse(f"ranking:{name}", args=args), query) for name, *args in pages for query in FORMS]

    assert not [answer.request["PATH_INFO"] for answer in answers if score in answer.content.decode()]
    assert not [answer.request["PATH_INFO"] for answer in answers if "4321" in answer.content.decode()]
    Run.objects.filter(pk=run.pk).update(judging_state="closed")
    assert score in client.get(reverse("ranking:protocol", args=board)).content.decode()


def test_curators_see_the_exact_leaderboard(client):
    run = make_published()
    fit_run(run)
    client.force_login(make_curator())

    document = client.get(reverse("ranking:leaderboard", args=[run.code]), {"format": "json"}).json()

    assert document["overall"][0]["wins"] > 0


def test_the_leaderboard_opens_when_judging_closes(client):
    run = make_published()
    fit_run(run)
    set_judging(run=run, verb="close", by=None)

    document = client.get(reverse("ranking:leaderboard", args=[run.code]), {"format": "json"}).json()

    assert document["overall"][0]["wins"] > 0


def test_a_state_waits_for_votes_by_others_than_any_two_judges():
    make_published(votes=30, judges=3)

    assert take_public_states() == 0
    assert by_others([500, 400, 19]) == 19
    assert by_others([500, 400, 15, 5]) == 20


def test_judges_who_came_by_one_shared_link_count_as_one():
    run = make_published(votes=120, judges=8)
    own, shared = [Invitation.objects.create(run=run, max_uses=uses, expires_at=now()) for uses in (1, 50)]
    seats = run.seats.order_by("id").values_list("pk", flat=True)
    run.seats.filter(pk__in=seats[:6]).update(invitation=shared)

    assert take_public_states() == 0, "one attacker could be six of the eight"

    run.seats.filter(pk__in=seats[:6]).update(invitation=own)
    assert take_public_states() == 1


def test_judges_of_one_shared_link_share_what_one_judge_may_count_for():
    run = make_published(votes=240, judges=12)
    shared = Invitation.objects.create(run=run, max_uses=50, expires_at=now())
    seats = list(run.seats.order_by("id"))
    Seat.objects.filter(pk__in=[seat.pk for seat in seats[:4]]).update(invitation=shared)
    seen = []

    def analyse(run, *, options, full):
        seen.append(options["parts"])
        return fit_run(run).result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ranking.public_states.load", lambda name: analyse)
        take_public_states()

    [parts] = seen
    together = {parts[seat.pseudonym] for seat in seats[:4]}
    assert len(together) == 1 and together.pop() < min(parts.get(seat.pseudonym, 1.0) for seat in seats[4:])


def test_the_next_state_waits_for_three_times_as_many_votes():
    make_published()

    assert [take_public_states(), take_public_states()] == [1, 0]


def test_a_state_has_one_margin_for_all_and_no_counts():
    make_published()
    take_public_states()

    state = PublicState.objects.get()

    keys = {"entrant", "rank", "rank_low", "rank_high", "rating", "low", "high"}
    assert {frozenset(row) for row in state.standings} == {frozenset(keys)}
    assert len({row["high"] - row["low"] for row in state.standings}) == 1
    assert all(row["rating"] % 10 == 0 for row in state.standings)


def test_a_blurred_score_stays_on_its_scale():
    rows = [
        {"entrant": name, "score": score, "low": score - 20, "high": score + 20}
        for name, score in zip("ab", (3, 97), strict=True)
    ]

    shown = [row for _ in range(20) for row in blurred(rows, bounds=(0, 100))]

    assert all(0 <= row["low"] <= row["score"] <= row["high"] <= 100 for row in shown)
    assert any(row["score"] in (0, 100) for row in shown), "some were moved beyond"


def test_a_private_run_has_no_public_state():
    make_voted_run(votes=120)

    assert take_public_states() == 0


def test_a_busy_judge_counts_for_a_part_of_the_others_votes():
    assert bounded_parts({"a": 500, "b": 10, "c": 20, "d": 20}, share=4) == {
        "a": 7 / 500,
        "b": 0.7,
        "c": 0.35,
        "d": 0.35,
    }


def test_equals_seldom_have_an_order():
    rows = [{"entrant": n, "rating": 1000.0, "low": 900.0, "high": 1100.0} for n in range(8)]

    states = [blurred(rows, luck=random.Random(seed)) for seed in range(200)]

    ordered = sum(any((row["rank_low"], row["rank_high"]) != (1, 8) for row in state) for state in states)
    assert ordered <= 14  # 1 in 20 at most, and two standard errors


def test_two_states_of_the_same_votes_differ():
    rows = [{"entrant": name, "rating": 1000.0, "low": 900.0, "high": 1100.0} for name in "abcdef"]

    assert blurred(rows) != blurred(rows)


def test_ranks_are_the_ranges_that_the_margins_allow():
    far = [{"entrant": name, "rating": score, "low": score - 10, "high": score + 10} for name, score in PLACES]

    rows = {row["entrant"]: (row["rank_low"], row["rank_high"]) for row in blurred(far, luck=random.Random(1))}

    assert rows == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}


@pytest.mark.parametrize(
    ("ranges", "sentence", "top"),
    [
        ([(1, 1), (2, 3), (2, 3)], "acme/alpha-1 label is ahead so far; judging is open.", ["1", "2–3", "2–3"]),
        (
            [(1, 2), (1, 2), (3, 3)],
            "Two are not separated at the top so far: acme/alpha-1 label and bestco/beta-mini label. Judging is open.",
            ["1–2", "1–2", "3"],
        ),
        ([(1, 3), (1, 3), (1, 3)], "None of the 3 models is ahead yet; judging is open.", []),
    ],
)
def test_nobody_is_called_first_by_the_error_alone(client, ranges, sentence, top):
    run = make_published(entrants=3)
    names = run.entrants.order_by("id").values_list("name", flat=True)
    standings = [
        {
            "entrant": name,
            "rank": place,
            "rank_low": low,
            "rank_high": high,
            "rating": 1000 - place,
            "low": 900,
            "high": 1100,
        }
        for place, (name, (low, high)) in enumerate(zip(names, ranges, strict=True), start=1)
    ]
    PublicState.objects.create(run=run, protocol="pairwise", number=1, standings=standings, votes=60, upto=0)

    card = client.get(reverse("ranking:leaderboards"), {"format": "json"}).json()["leaderboards"][0]
    page = client.get(reverse("ranking:leaderboard", args=[run.code])).content.decode()

    assert (card["says"], [row["rank"] for row in card["top"]]) == (sentence, top)
    assert sentence in page
    assert re.findall(r'<td class="rank">([^<]+)<', page) == top


def test_a_vote_in_a_public_state_is_withdrawn_and_its_pair_does_not_come_back(client):
    run = make_published()
    seat = make_seat(run, "zoe")
    first = vote(seat).matchup
    take_public_states()
    later = vote(seat).matchup

    back = undo_vote(judge=seat.judge, code=later.code)
    gone = undo_vote(judge=seat.judge, code=first.code)

    assert (back.screen.current.code, back.put_away) == (later.code, "")
    assert gone.put_away == IN_PUBLIC
    assert Matchup.objects.get(pk=first.pk).state == "void"
    assert not Vote.objects.standing().filter(seat=seat).exists()
    assert differences(run) == 0


def test_grades_in_a_public_state_stand():
    run = make_rubric_run()
    seat = seat_with_list(run)
    item = next_item(seat)
    grade(seat, item, 5.0)
    newest = Grade.objects.order_by("-id").first().pk
    PublicState.objects.create(run=run, protocol="rubric", number=1, standings=[], votes=1, upto=newest)

    with pytest.raises(RefusedError) as refused:
        grade(seat, item, 9.0)

    assert refused.value.code == "public"
    assert set(Grade.objects.standing().values_list("value", flat=True)) == {5.0}


def reopen(run):
    for verb in ("close", "open"):
        set_judging(run=run, verb=verb, by=None)


def test_votes_after_names_were_shown_are_stored_and_kept_out():
    run = make_published()
    seat = make_seat(run, "zoe")
    counted = fit_run(run).votes
    reopen(run)

    cast = vote(seat).vote

    assert (cast.unblind, cast.kept_out) == (True, True)
    for full in (True, False):
        fit = fit_run(run, full=full)
        assert (fit.votes, fit.result["run"]["kept_out"]) == (counted, 1)
    assert differences(run) == 0
    assert not Vote.objects.counting(run).filter(pk=cast.pk).exists()
    assert [row["withdrawn"] for row in vote_records(run) if row["kept_out"]] == [True]


def test_undoing_a_vote_that_was_kept_out_keeps_the_tallies():
    run = make_published()
    seat = make_seat(run, "zoe")
    reopen(run)
    codes = [vote(seat).matchup.code for _ in range(5)]

    for code in reversed(codes):
        undo_vote(judge=seat.judge, code=code)
        assert differences(run) == 0

    assert Seat.objects.get(pk=seat.pk).voted == 0


def test_a_private_run_that_never_tells_names_stays_blind_when_opened_again():
    run = make_run(reveal="never")
    seat = make_seat(run)
    reopen(run)

    assert not vote(seat).vote.kept_out


def test_drawings_made_after_names_were_shown_are_judged_blind():
    run = make_published()
    reopen(run)
    run.samples.update(drawn_at=now())

    assert not vote(make_seat(run, "zoe")).vote.kept_out


def test_curators_votes_are_kept_out():
    run = make_run()
    make_curator("carol")

    assert vote(make_seat(run, "carol")).vote.kept_out


def test_curators_grades_are_kept_out():
    run = make_rubric_run()
    make_curator("carol")
    seat = seat_with_list(run, "carol")

    grade(seat, next_item(seat), 5.0)

    assert not Grade.objects.rated().exists()
    assert Grade.objects.standing().exists()


@pytest.mark.once
def test_no_page_lets_an_attacker_follow_votes():
    """The short form of `script/bench attacker_http`: what a curator's pages tell is the control.

    That no address begins to tell anything with a vote is in tests/site/test_vote_traces.py.
    """
    boards = [
        ("ranking:leaderboard", (0,), "json"),
        ("ranking:protocol", (0, 0), "json"),
        ("ranking:api_board", (0, 0), ""),
    ]
    speaking = {who: set(boards) for who in ("visitor", "judge", "analyst", "curator")}
    outside = attacker_http.attack(1, votes=72, speaking=speaking, whole=False)
    inside = attacker_http.attack(2, votes=48, speaking=speaking, whole=False, as_curator=True)

    assert (outside["states"], outside["changes"], outside["named"], outside["read"] > 0) == (1, 0, 0, True)
    assert (inside["changes"], inside["read"] > outside["read"]) == (1, True)


@pytest.mark.once
def test_an_attacker_finds_no_more_names_than_by_chance():
    looks = range(24)

    exact = sum(attack(seed, look=exact_page, own=0.2) for seed in looks[:4]) / 4
    public = sum(attack(seed, look=PublicPage(), own=0.2) for seed in looks) / len(looks)

    chance = 1 / len(ENTRANTS)
    assert exact > 0.6
    # Four standard errors of the share of fixed points of a random order.
    assert public < chance + 4 * chance / len(looks) ** 0.5
