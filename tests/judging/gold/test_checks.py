"""Checks among a judge's pairs: where they stand, what they change, and that nothing counts them as votes."""

from __future__ import annotations

import json
from io import StringIO
from itertools import pairwise

import pytest
from django.db import IntegrityError, transaction

from generation.models import Event
from judging.curating.runs import weigh_judge
from judging.files.exports import skip_records, vote_records
from judging.gold.records import COLUMNS, gold_records, write_gold
from judging.models import GoldAnswer, Kind, Matchup, Vote
from judging.pairs.own.agreement import agreement_with_others
from judging.pairs.own.answers import last_answer
from judging.pairs.own.figures import own_figures
from judging.pairs.own.history import counts_by_choice, page_of_answers
from judging.pairs.pages import bar, progress
from judging.pairs.serving import take_seat
from judging.pairs.skipping import skip_matchup
from judging.pairs.tallies import differences
from judging.pairs.voting import Ballot, cast_vote, report_matchup, undo_vote
from judging.seats import RefusedError
from tests.judging.gold.make import honest, judge_all, make_checked_seat, make_drawn_run, reach_check, wrong

EVERY = {"choice": "", "words": "", "number": None}
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def test_one_check_comes_in_every_stretch_and_none_takes_a_place_of_the_quota():
    run = make_drawn_run()
    seat = make_checked_seat(run, quota=20)

    answered = judge_all(seat)

    kinds = [matchup.kind == Kind.GOLD for matchup in answered]
    assert (seat.voted, seat.gold_answered, seat.gold_passed, len(answered)) == (20, 4, 4, 24)
    assert not kinds[0]
    assert not kinds[-1]
    pairs_before = [sum(not kind for kind in kinds[:place]) for place, kind in enumerate(kinds) if kind]
    assert [place // 5 for place in pairs_before] == [0, 1, 2, 3]


def test_a_check_is_no_vote_tally_or_export_and_no_prompt_comes_twice_running():
    run = make_drawn_run(prompts=6)
    seat = make_checked_seat(run, quota=20)

    answered = judge_all(seat)

    assert Vote.objects.filter(run=run).count() == len(list(vote_records(run))) == 20
    assert not Vote.objects.filter(matchup__kind=Kind.GOLD).exists()
    assert differences(run) == 0
    prompts = [matchup.prompt_id for matchup in answered]
    assert all(one != two for one, two in pairwise(prompts))


def test_the_bar_and_the_judges_own_list_count_checks_like_votes():
    run = make_drawn_run()
    seat = make_checked_seat(run, quota=10)

    answered = judge_all(seat)

    assert bar(seat)["words"] == "12 of 12"
    assert progress(seat) == {"done": 12, "left": 0, "total": 12, "percent": 100}
    assert sum(counts_by_choice(seat).values()) == len(answered) == 12
    assert own_figures(seat).is_done


def test_a_judge_with_the_quotas_number_of_answers_is_not_done_before_the_last():
    run = make_drawn_run()
    seat = make_checked_seat(run, quota=10)

    judge_all(seat, most=10)

    assert not own_figures(seat).is_done


def test_checks_with_a_drawing_that_was_taken_out_are_not_promised():
    run = make_drawn_run(checks=2)
    gold = run.gold_pairs.first()
    gold.better.excluded_reason = "signed"
    gold.better.save()

    seat = make_checked_seat(run, quota=10)
    judge_all(seat)

    assert bar(seat)["words"] == "11 of 11"


def test_forty_perfect_judges_fail_no_check_and_agree_entirely():
    """A peer fails 41 of 85 checks of perfect judges, because it compares sides."""
    run = make_drawn_run(entrants=3, prompts=4, attempts=1)
    seats = [make_checked_seat(run, f"judge{number}", quota=6, every=3, on_failure="weight_0") for number in range(40)]

    shown = [judge_all(seat) for seat in seats]

    checks = [matchup for mine in shown for matchup in mine if matchup.kind == Kind.GOLD]
    sides = [matchup.left_sample_id == matchup.gold.better_id for matchup in checks]
    assert len(checks) == 80
    assert 20 < sum(sides) < 60, "the better drawing stands on either side"
    assert sum(seat.gold_failed for seat in seats) == 0
    assert GoldAnswer.objects.filter(choice="better").count() == 80
    assert {seat.weight for seat in seats} == {1}
    assert agreement_with_others(seats[0]).share == 1


@pytest.mark.parametrize("verb", ["skip", "report"])
def test_who_skips_or_reports_a_check_gets_another(verb):
    run = make_drawn_run()
    seat = make_checked_seat(run, quota=10)
    check = reach_check(seat)

    if verb == "skip":
        skip_matchup(judge=seat.judge, code=check.code)
    else:
        report_matchup(judge=seat.judge, code=check.code, side="both", reason="broken")
    judge_all(seat)

    assert (seat.voted, seat.gold_answered, seat.gold_shown) == (10, 2, 2)
    assert list(skip_records(run)) == []
    assert Matchup.objects.filter(seat=seat, kind=Kind.GOLD).values("gold").distinct().count() == 3


def test_an_answer_to_a_check_is_sent_twice_and_undone_like_a_vote():
    run = make_drawn_run()
    seat = make_checked_seat(run)
    check = reach_check(seat)
    first = cast_vote(judge=seat.judge, code=check.code, ballot=Ballot(wrong(check), left_breaks=1))
    again = cast_vote(judge=seat.judge, code=check.code, ballot=Ballot(wrong(check)))
    seat.refresh_from_db()
    counted = (seat.gold_answered, seat.gold_failed)

    undone = undo_vote(judge=seat.judge, code=check.code)

    assert again.again
    assert again.screen.current == first.screen.current
    assert counted == (1, 1)
    assert undone.screen.current.code == check.code
    seat.refresh_from_db()
    assert (seat.gold_answered, seat.gold_failed, seat.gold_shown) == (0, 0, 1)
    assert GoldAnswer.objects.get().withdrawn_at is not None
    cast_vote(judge=seat.judge, code=check.code, ballot=Ballot(honest(check)))
    assert [answer.choice for answer in GoldAnswer.objects.standing()] == ["better"]


def test_votes_of_who_fails_count_for_nothing_until_the_answer_is_taken_back():
    run = make_drawn_run()
    seat = make_checked_seat(run, quota=20, on_failure="weight_0", allowed=0)
    check = reach_check(seat)

    cast_vote(judge=seat.judge, code=check.code, ballot=Ballot(wrong(check)))

    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (0, "Failed the attention checks.")
    undo_vote(judge=seat.judge, code=check.code)
    seat.refresh_from_db()
    assert (seat.weight, seat.excluded_reason) == (1, "")
    assert [event.verb for event in Event.objects.filter(run=run).order_by("pk")][-2:] == [
        "set judge aside",
        "let judge in",
    ]


def test_a_curators_word_about_who_failed_stands_and_undo_gives_back_the_weight_of_before():
    run = make_drawn_run()
    seat = make_checked_seat(run, quota=20, on_failure="weight_0", allowed=0)
    weigh_judge(seat=seat, weight=0.5, by=None, reason="Knows one model.")
    first = reach_check(seat)

    cast_vote(judge=seat.judge, code=first.code, ballot=Ballot(wrong(first)))
    seat.refresh_from_db()
    set_aside = (seat.weight, seat.excluded_reason)
    undo_vote(judge=seat.judge, code=first.code)
    seat.refresh_from_db()
    let_in = (seat.weight, seat.excluded_reason)
    cast_vote(judge=seat.judge, code=first.code, ballot=Ballot(wrong(first)))
    weigh_judge(seat=seat, weight=1, by=None, reason="Looked at the pair: it was unclear.")
    second = reach_check(seat)
    cast_vote(judge=seat.judge, code=second.code, ballot=Ballot(wrong(second)))

    seat.refresh_from_db()
    assert set_aside == (0, "Failed the attention checks.")
    assert let_in == (0.5, "Knows one model.")
    assert (seat.weight, seat.gold_failed) == (1, 2)


def test_an_answer_stands_once_the_judge_was_told_that_it_was_a_check(client):
    run = make_drawn_run()
    seat = make_checked_seat(run, feedback=True)
    check = reach_check(seat)
    client.force_login(seat.judge)

    body = client.post(
        "/judge/vote/", {"code": check.code, "outcome": wrong(check)}, headers={"accept": "application/json"}
    ).json()

    with pytest.raises(RefusedError, match="your answer stands"):
        undo_vote(judge=seat.judge, code=check.code)
    seat.refresh_from_db()
    assert (body["undo"], seat.gold_failed) == (None, 1)
    assert last_answer(seat, None).code == ""
    finals = {answer.matchup: answer.is_final for answer in page_of_answers(seat, run, **EVERY)[1]}
    assert [matchup for matchup, is_final in finals.items() if is_final] == [check]
    vote = next(matchup for matchup in finals if matchup != check)
    assert undo_vote(judge=seat.judge, code=vote.code).screen.current == vote


def test_the_part_of_who_fails_ends_and_nothing_more_is_taken():
    run = make_drawn_run()
    seat = make_checked_seat(run, on_failure="end", allowed=0)
    check = reach_check(seat)

    cast = cast_vote(judge=seat.judge, code=check.code, ballot=Ballot(wrong(check)))

    seat.refresh_from_db()
    assert seat.ended_at is not None
    assert cast.screen.current is None
    assert take_seat(seat.pk).current is None


def test_answers_are_exported_by_drawing_with_a_column_for_each_fact():
    run = make_drawn_run()
    seat = make_checked_seat(run, quota=10)
    judge_all(seat, wrong)
    text = StringIO()

    write_gold(run, text, as_csv=False)

    rows = [json.loads(line) for line in text.getvalue().splitlines()]
    assert rows == list(gold_records(run))
    assert list(rows[0]) == list(COLUMNS)
    assert {(row["choice"], row["verdict"], row["made"]) for row in rows} == {("worse", "failed", "damaged")}
    codes = set(run.samples.values_list("code", flat=True))
    assert {row["better"] for row in rows} | {row["worse"] for row in rows} <= codes


def test_the_database_keeps_checks_and_votes_apart():
    run = make_drawn_run()
    seat = make_checked_seat(run)
    check = reach_check(seat)
    cast_vote(judge=seat.judge, code=check.code, ballot=Ballot("left"))
    facts = {"gold": check.gold, "run": run, "seat": seat, "choice": "better"}

    for breach in (
        lambda: GoldAnswer.objects.create(matchup=check, **facts),
        lambda: Matchup.objects.filter(pk=check.pk).update(kind=Kind.REGULAR),
        lambda: Matchup.objects.filter(seat=seat, kind=Kind.REGULAR).update(kind=Kind.GOLD),
        lambda: type(seat).objects.filter(pk=seat.pk).update(gold_failed=5),
        lambda: GoldAnswer.objects.update(choice="left"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            breach()
