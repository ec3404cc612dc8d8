"""What a judge could tell a check by beside its page: times, statements, what comes next, undo, and meeting it again."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from generation.models import Sample
from judging.gold.pool import choose_gold
from judging.models import GoldAnswer, Kind, Matchup, PublicState, Vote
from judging.pairs.matchups import waiting_of
from judging.pairs.own.figures import own_figures
from judging.pairs.own.history import page_of_answers
from judging.pairs.pages import paces, shown
from judging.pairs.serving import take_seat
from judging.pairs.skipping import skip_matchup
from judging.pairs.voting import Ballot, cast_vote, undo_vote
from tests.judging.gold.make import judge_all, make_checked_seat, make_drawn_run, reach_check

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def statements_of(act):
    with CaptureQueriesContext(connection) as statements:
        act()
    return len(statements)


def test_minutes_and_pace_count_the_time_at_checks():
    run = make_drawn_run()
    seat = make_checked_seat(run, quota=10)
    judge_all(seat)
    slow = [vote.pk for vote in seat.votes.all()[:3]]
    Vote.objects.filter(pk__in=slow).update(response_ms=300_000)
    Vote.objects.exclude(pk__in=slow).update(response_ms=None)
    GoldAnswer.objects.update(response_ms=600_000)

    figures = own_figures(seat)

    assert (figures.minutes, figures.pace) == (35, 300)
    assert paces([seat]) == {seat.pk: 300}, "by five answers, two of which are checks"


@pytest.mark.parametrize("format", ["ascii_art", "svg"])
def test_showing_a_check_takes_as_many_statements_as_a_pair(format):
    run = make_drawn_run(format=format, checks=8 if format == "ascii_art" else 0)
    if format == "svg":
        for better, worse in run_pairs(run):
            choose_gold(run=run, better=better, worse=worse, by=None)
    seat = make_checked_seat(run, quota=20)
    check = reach_check(seat)
    line = {row.kind: row for row in waiting_of(seat)}

    counts = {kind: statements_of(lambda row=row: shown(row)) for kind, row in line.items()}

    assert counts[Kind.GOLD] == counts[Kind.REGULAR] == (1 if format == "ascii_art" else 0)
    if format == "ascii_art":
        sides = {row.pk: row.drawing for row in (line[Kind.GOLD].left_sample, line[Kind.GOLD].right_sample)}
        assert sides[check.gold.worse_id] == check.gold.damaged
        assert sides[check.gold.better_id] == check.gold.better.drawing


def run_pairs(run):
    """The codes of two models' drawings of each prompt."""
    for prompt in run.prompts.all():
        yield [sample.code for sample in Sample.objects.filter(prompt=prompt, attempt=1).order_by("entrant")[:2]]


def test_own_votes_take_the_same_statements_with_any_number_of_checks():
    run = make_drawn_run()
    seats = [make_checked_seat(run, name, quota=12, every=every) for name, every in (("alice", 12), ("bobby", 2))]
    for seat in seats:
        judge_all(seat)

    counts = [
        statements_of(lambda seat=seat: page_of_answers(seat, run, choice="", words="", number=None)) for seat in seats
    ]

    assert [seat.gold_answered for seat in seats] == [1, 6]
    assert counts[0] == counts[1]


def test_another_check_follows_one_that_is_skipped_when_all_pairs_are_made():
    run = make_drawn_run(prompts=6)
    seat = next(
        seat
        for seat in (make_checked_seat(run, f"judge{number}", quota=4, every=4) for number in range(40))
        if all(matchup.kind != Kind.GOLD for matchup in judge_all(seat, most=3))
    )
    check = take_seat(seat.pk).current

    _, screen = skip_matchup(judge=seat.judge, code=check.code)

    assert check.kind == Kind.GOLD, "it stands before the last pair"
    assert screen.upcoming is not None
    answered = judge_all(seat)
    assert (seat.voted, seat.gold_answered) == (4, 1)
    assert [matchup.kind for matchup in answered] == [Kind.REGULAR, Kind.GOLD]


def test_a_check_answered_after_a_public_state_comes_back_like_a_pair():
    run = make_drawn_run()
    seat = make_checked_seat(run)
    check = reach_check(seat)
    newest = Vote.objects.latest("pk").pk
    state = PublicState.objects.create(run=run, protocol="pairwise", number=1, standings=[], votes=1, upto=newest)
    answer = cast_vote(judge=seat.judge, code=check.code, ballot=Ballot("left")).vote

    back = undo_vote(judge=seat.judge, code=check.code)
    again = cast_vote(judge=seat.judge, code=check.code, ballot=Ballot("left")).vote
    PublicState.objects.filter(pk=state.pk).update(read_at=again.answered_at)
    gone = undo_vote(judge=seat.judge, code=check.code)

    assert answer.answered_at > state.read_at
    assert (back.put_away, back.screen.current.code) == ("", check.code)
    assert gone.put_away == "in public"


def test_two_chosen_drawings_meet_once_as_a_check_or_as_a_pair():
    run = make_drawn_run(checks=0, entrants=2, prompts=6, attempts=1)
    for better, worse in run_pairs(run):
        choose_gold(run=run, better=better, worse=worse, by=None)
    seat = make_checked_seat(run, quota=6, every=2)

    answered = judge_all(seat)

    drawings = [frozenset((matchup.left_sample_id, matchup.right_sample_id)) for matchup in answered]
    assert len(set(drawings)) == len(drawings) == 6
    assert Kind.GOLD in {matchup.kind for matchup in answered}
    assert not Matchup.objects.filter(seat=seat, key__startswith="gold-").exists()
