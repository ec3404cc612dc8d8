"""A vote is a fact: once, on the right side, by the right judge, counted at every commit."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random
from threading import Thread

import pytest
import time_machine
from django.db import connection
from django.db.models import Sum
from django.test import TestCase
from django.utils.timezone import now

from generation.models import Run, Sample
from judging.models import Epoch, JudgeTally, Matchup, PromptTally, Report, Seat, Vote
from judging.pairs import tallies
from judging.pairs.epochs import load_table, refresh_epoch
from judging.pairs.own.answers import last_answer
from judging.pairs.serving import screen_of, take_seat
from judging.pairs.tallies import differences, rebuild_tallies
from judging.pairs.voting import Ballot, cast_vote, mark_missed, report_matchup, undo_vote
from judging.seats import RefusedError
from tests.judging.make import make_entrant, make_run, make_seat

pytestmark = [pytest.mark.django_db, pytest.mark.long]


class Clock:
    """Votes a second apart, without waiting."""

    def __init__(self):
        self.moment = now() + timedelta(minutes=1)  # however long the test takes to put a pair on the screen

    def vote(self, seat, outcome="left", code=None, **ballot):
        code = code or Matchup.objects.get(seat=seat, state="open").code
        self.moment += timedelta(seconds=1)
        with time_machine.travel(self.moment, tick=False):
            return cast_vote(judge=seat.judge, code=code, ballot=Ballot(outcome, **ballot))


@pytest.fixture
def clock():
    return Clock()


def test_it_works(clock):
    seat = make_seat(make_run())
    first = take_seat(seat.pk)

    cast = clock.vote(seat, "left")

    assert cast.matchup.code == first.current.code
    assert cast.screen.current.code == first.upcoming.code
    assert cast.screen.upcoming.code not in {first.current.code, first.upcoming.code}
    assert cast.vote.outcome == "left"
    assert Counter(Matchup.objects.values_list("state", flat=True)) == {"voted": 1, "open": 1, "queued": 1}
    assert differences(seat.run) == 0


def test_taking_a_seat_twice_shows_the_same_pair():
    seat = make_seat(make_run())

    first, second = take_seat(seat.pk), take_seat(seat.pk)

    assert (first.current, first.upcoming) == (second.current, second.upcoming)
    assert Matchup.objects.count() == 2


def test_the_same_choice_twice_is_one_vote(clock):
    seat = make_seat(make_run())
    code = take_seat(seat.pk).current.code

    one = clock.vote(seat, "tie", code)
    other = clock.vote(seat, "tie", code)

    assert other.again
    assert (one.vote, one.screen.current) == (other.vote, other.screen.current)
    assert Vote.objects.count() == 1


def test_another_choice_on_a_voted_pair_says_that_it_is_recorded(clock):
    seat = make_seat(make_run())
    code = take_seat(seat.pk).current.code
    clock.vote(seat, "tie", code)

    with pytest.raises(RefusedError, match="You already voted differently") as refused:
        clock.vote(seat, "fail", code)

    assert refused.value.code == "recorded"
    assert Vote.objects.get().outcome == "tie"


def test_another_judges_code_is_unknown(clock):
    run = make_run()
    alice, bob = make_seat(run, "alice"), make_seat(run, "bob")
    code = take_seat(alice.pk).current.code

    with pytest.raises(Matchup.DoesNotExist):
        clock.vote(bob, "left", code)
    with pytest.raises(Matchup.DoesNotExist):
        undo_vote(judge=bob.judge, code=code)

    assert Vote.objects.count() == 0


def test_a_queued_pair_takes_no_vote(clock):
    seat = make_seat(make_run())
    screen = take_seat(seat.pk)

    with pytest.raises(RefusedError) as refused:
        clock.vote(seat, "left", screen.upcoming.code)

    assert refused.value.code == "not_on_screen"


@pytest.mark.parametrize("state", ["not_open", "paused", "closed"])
def test_a_run_that_is_not_open_takes_no_vote_and_no_undo(clock, state):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    voted = clock.vote(seat).matchup.code
    Run.objects.update(judging_state=state)

    for attempt in (lambda: clock.vote(seat), lambda: undo_vote(judge=seat.judge, code=voted)):
        with pytest.raises(RefusedError) as refused:
            attempt()
        assert refused.value.code == ("paused" if state == "paused" else "closed")

    assert Vote.objects.filter(withdrawn_at=None).count() == 1


def test_votes_less_than_300_ms_apart_are_refused(clock):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    clock.vote(seat)
    code = Matchup.objects.get(seat=seat, state="open").code

    with (
        time_machine.travel(clock.moment + timedelta(milliseconds=299), tick=False),
        pytest.raises(RefusedError) as refused,
    ):
        cast_vote(judge=seat.judge, code=code, ballot=Ballot("left"))
    with time_machine.travel(clock.moment + timedelta(milliseconds=300), tick=False):
        cast_vote(judge=seat.judge, code=code, ballot=Ballot("left"))

    assert refused.value.code == "too_fast"
    assert Vote.objects.count() == 2


def test_a_clock_that_is_set_back_loses_no_vote_and_makes_nobody_wait(clock):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    clock.vote(seat)

    clock.moment -= timedelta(hours=1)
    clock.vote(seat)

    assert list(Vote.objects.order_by("id").values_list("response_ms", flat=True))[1] == 0


def test_a_claimed_time_is_never_longer_than_the_pair_was_open(clock):
    seat = make_seat(make_run())
    take_seat(seat.pk)

    clock.vote(seat, response_ms=250)
    clock.vote(seat, response_ms=10**9)
    clock.vote(seat)

    assert list(Vote.objects.values_list("response_ms", flat=True)) == [250, 1000, 1000]


def test_undo_withdraws_reopens_and_queues_what_was_on_screen(clock):
    seat = make_seat(make_run())
    screen = take_seat(seat.pk)
    cast = clock.vote(seat, "right")

    undone = undo_vote(judge=seat.judge, code=screen.current.code).screen

    assert undone.current.code == screen.current.code
    assert undone.upcoming.code == cast.screen.current.code
    vote = Vote.objects.get()
    assert vote.withdrawn_by == seat.judge
    assert vote.withdrawn_at is not None
    assert differences(seat.run) == 0
    assert sum(JudgeTally.objects.values_list("votes", flat=True)) == 0
    assert Seat.objects.get().voted == 0


def test_undo_goes_back_as_far_as_one_likes_and_forward_in_the_same_order(clock):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    codes = [clock.vote(seat).matchup.code for _ in range(5)]

    while code := last_answer(seat, None).code:
        undo_vote(judge=seat.judge, code=code)
    again = [clock.vote(seat, "fail").matchup.code for _ in range(5)]

    assert again == codes
    assert Vote.objects.filter(withdrawn_at=None).count() == 5
    assert Matchup.objects.filter(seat=seat).count() == 7
    assert differences(seat.run) == 0


@pytest.mark.parametrize("taken_out", [{"held": True}, {"excluded_reason": "offensive"}])
def test_a_drawing_taken_out_does_not_stand_in_the_way_of_older_votes(clock, taken_out):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    first, second, third = (clock.vote(seat).matchup for _ in range(3))
    Sample.objects.filter(pk=third.left_sample_id).update(**taken_out)
    still = {m.code for m in (first, second) if third.left_sample_id not in (m.left_sample_id, m.right_sample_id)}

    undone = []
    while code := last_answer(seat, None).code:
        back = undo_vote(judge=seat.judge, code=code)
        undone.append((code, back.put_away))

    assert [code for code, _ in undone] == [third.code, second.code, first.code]
    assert {code for code, put_away in undone if not put_away} == still
    seat.refresh_from_db()
    assert (seat.voted, seat.void) == (0, 3 - len(still))
    assert sum(JudgeTally.objects.values_list("votes", flat=True)) == 0
    assert differences(seat.run) == 0


def test_undo_pressed_twice_undoes_once(clock):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    clock.vote(seat)
    code = clock.vote(seat).matchup.code

    one, other = undo_vote(judge=seat.judge, code=code), undo_vote(judge=seat.judge, code=code)

    assert one.screen.current == other.screen.current
    assert Vote.objects.filter(withdrawn_at=None).count() == 1


def test_where_names_are_shown_votes_are_unblind_and_stand(clock):
    seat = make_seat(make_run(reveal="after_vote", repeats=0.5))
    take_seat(seat.pk)
    for _ in range(15):
        cast = clock.vote(seat)

    with pytest.raises(RefusedError) as refused:
        undo_vote(judge=seat.judge, code=cast.matchup.code)

    assert refused.value.code == "revealed"
    assert set(Vote.objects.values_list("unblind", flat=True)) == {True}
    assert not Matchup.objects.filter(kind="repeat").exists()


def test_a_report_takes_the_pair_away_for_good(clock):
    seat = make_seat(make_run(quota=None))
    screen = take_seat(seat.pk)

    after = report_matchup(judge=seat.judge, code=screen.current.code, side="left", reason="signed", note="says Acme")
    again = report_matchup(judge=seat.judge, code=screen.current.code, side="left", reason="signed")

    assert after.current.code == again.current.code == screen.upcoming.code
    assert Report.objects.get().note == "says Acme"
    with pytest.raises(RefusedError) as refused:
        clock.vote(seat, "left", screen.current.code)
    assert refused.value.code == "void"


def test_reports_of_a_judge_are_limited_by_the_hour(clock, settings):
    settings.REPORTS_AN_HOUR = 2
    seat = make_seat(make_run(quota=None))
    screen = take_seat(seat.pk)
    for _ in range(2):
        screen = report_matchup(judge=seat.judge, code=screen.current.code, side="left", reason="broken")

    with pytest.raises(RefusedError, match="within an hour") as refused:
        report_matchup(judge=seat.judge, code=screen.current.code, side="left", reason="broken")

    assert refused.value.code == "reports"
    assert Report.objects.count() == 2
    Report.objects.update(created_at=now() - timedelta(minutes=61))
    report_matchup(judge=seat.judge, code=screen.current.code, side="left", reason="broken")
    assert Report.objects.count() == 3


@pytest.mark.once
@pytest.mark.django_db(transaction=True)  # in one transaction, PostgreSQL would keep all that a row ever was
def test_a_thousand_random_votes_are_recorded_on_the_side_shown(clock):
    run = make_run(entrants=6, prompts=8, attempts=3)
    random, given = Random(3), {}
    for seat in [make_seat(run, name) for name in ("alice", "bob", "cleo", "dora")]:
        screen = take_seat(seat.pk)
        for _ in range(250):
            shown = screen.current
            outcome = random.choice(["left", "right", "tie", "fail"])
            given[seat.pk, shown.left_sample.drawing, shown.right_sample.drawing, shown.kind] = outcome
            screen = clock.vote(seat, outcome).screen

    votes = Vote.objects.select_related("matchup__left_sample", "matchup__right_sample", "matchup__prompt")
    recorded = {
        (v.seat_id, v.matchup.left_sample.drawing, v.matchup.right_sample.drawing, v.matchup.kind): v.outcome
        for v in votes
    }
    assert len(votes) == len(given) == 1000
    assert recorded == given
    for vote in votes:
        matchup = vote.matchup
        assert (matchup.left_sample.entrant_id, matchup.right_sample.entrant_id) == (matchup.left_id, matchup.right_id)
        assert matchup.left_sample.prompt_id == matchup.right_sample.prompt_id == matchup.prompt_id
        assert vote.seat_id == matchup.seat_id
    assert differences(run) == 0


def test_kinds_come_in_their_shares_and_repeats_swap_sides(clock):
    run = make_run(entrants=4, prompts=8, attempts=3, overlap=0.2, repeats=0.1)
    alice, bob = make_seat(run, "alice"), make_seat(run, "bob")
    for seat in (alice, bob):
        take_seat(seat.pk)
        for _ in range(60):
            clock.vote(seat)

    kinds = Counter(Matchup.objects.filter(seat=alice).values_list("kind", flat=True))
    assert 8 <= kinds["shared"] <= 13
    assert 4 <= kinds["repeat"] <= 7
    for repeat in Matchup.objects.filter(kind="repeat").select_related("repeat_of"):
        source = repeat.repeat_of
        assert (repeat.left_sample_id, repeat.right_sample_id) == (source.right_sample_id, source.left_sample_id)
        assert repeat.order - source.order >= 10
        assert source.seat_id == repeat.seat_id
    shared = [set(Matchup.objects.filter(seat=s, kind="shared").values_list("key", flat=True)) for s in (alice, bob)]
    met = [set(Matchup.objects.filter(seat=s).values_list("key", flat=True)) for s in (alice, bob)]
    assert len(shared[0] - met[1]) <= 2
    assert len(shared[1] - met[0]) <= 2


def test_repeats_stay_out_of_the_other_tallies(clock):
    run = make_run(entrants=3, prompts=8, attempts=3, repeats=0.2, overlap=0)
    seat = make_seat(run)
    take_seat(seat.pk)
    for _ in range(40):
        clock.vote(seat)

    repeats = Vote.objects.filter(matchup__kind="repeat").count()
    assert repeats >= 4
    for tally in (JudgeTally, PromptTally):
        assert sum(tally.objects.filter(is_repeat=True).values_list("votes", flat=True)) == repeats
        assert sum(tally.objects.filter(is_repeat=False).values_list("votes", flat=True)) == 40 - repeats


def test_a_quota_ends_the_sitting(clock):
    seat = make_seat(make_run(), quota=7)
    screen = take_seat(seat.pk)
    count = 0
    while screen.current is not None:
        screen = clock.vote(seat).screen
        count += 1

    assert count == 7
    assert take_seat(seat.pk).current is None


def test_a_target_ends_the_run_when_every_pair_has_its_votes(clock):
    run = make_run(entrants=3, prompts=8, attempts=3, target=10, overlap=0, repeats=0)
    seat = make_seat(run)
    screen = take_seat(seat.pk)
    count = 0
    while screen.current is not None:
        screen = clock.vote(seat).screen
        count += 1

    assert 30 <= count <= 40


def test_everything_shown_once_ends_the_sitting(clock):
    seat = make_seat(make_run(entrants=2, prompts=2, attempts=2, overlap=0.2, repeats=0))
    screen = take_seat(seat.pk)
    count = 0
    while screen.current is not None:
        screen = clock.vote(seat).screen
        count += 1

    assert count == 2 * 2 * 2


def test_held_and_excluded_samples_are_never_shown(clock):
    run = make_run(entrants=3, prompts=4, attempts=2, overlap=0)  # the first pairs then share no drawing
    held = Sample.objects.filter(run=run).first()
    Sample.objects.filter(pk=held.pk).update(held=True)
    seat = make_seat(run)
    screen = take_seat(seat.pk)
    excluded = screen.upcoming.left_sample_id
    Sample.objects.filter(pk=excluded).update(excluded_reason="reported")
    while screen.current is not None:
        screen = clock.vote(seat).screen

    shown = Matchup.objects.filter(state="voted")
    assert not shown.filter(left_sample__in=[held.pk, excluded]).exists()
    assert not shown.filter(right_sample__in=[held.pk, excluded]).exists()
    assert Epoch.objects.count() == 2


def test_a_pair_that_was_taken_out_leaves_the_screen_and_stays_away(clock):
    seat = make_seat(make_run())
    screen = take_seat(seat.pk)
    cast = clock.vote(seat)
    Sample.objects.filter(pk__in=[screen.current.left_sample_id, screen.upcoming.left_sample_id]).update(
        excluded_reason="offensive"
    )

    assert screen_of(seat).current is None  # the page offers to go on, which takes the next one
    undone = undo_vote(judge=seat.judge, code=cast.matchup.code)
    assert undone.put_away
    assert undone.screen.current.code not in {screen.current.code, screen.upcoming.code}
    assert take_seat(seat.pk).current == undone.screen.current
    assert Vote.objects.get().withdrawn_by == seat.judge
    assert differences(seat.run) == 0


def test_new_entrants_begin_a_new_epoch_and_old_drawings_never_meet_again(clock):
    run = make_run(entrants=3, prompts=4, attempts=2)
    seat = make_seat(run)
    take_seat(seat.pk)
    for _ in range(10):
        clock.vote(seat)
    make_entrant(run, "new/one")
    refresh_epoch(run)
    for _ in range(30):
        screen = clock.vote(seat).screen

    assert screen.seat.epoch.number == 2
    keys = Counter(Matchup.objects.exclude(kind="repeat").values_list("key", flat=True))
    assert max(keys.values()) == 1
    assert Matchup.objects.filter(left__name="new/one").exists()


def test_what_gaps_leave_owed_is_kept_between_votes_and_a_plan_without_it_goes_on(clock):
    run = make_run(entrants=5, prompts=8, attempts=3, overlap=0, repeats=0)
    Sample.objects.filter(entrant=run.entrants.first(), prompt__category="animal").update(held=True)
    seat = make_seat(run)
    take_seat(seat.pk)
    for _ in range(60):
        clock.vote(seat)
    by_category = Counter(Matchup.objects.values_list("category", flat=True))

    seat.refresh_from_db()
    assert abs(by_category["animal"] - by_category["object"]) <= 4
    assert seat.owed
    Seat.objects.update(owed=[])
    assert clock.vote(seat).screen.upcoming.order == 62


def test_equal_drawings_are_one(clock):
    run = make_run(entrants=2, prompts=1, attempts=3)
    Sample.objects.update(drawing="the same")
    seat = make_seat(run)

    screen = take_seat(seat.pk)

    assert screen.upcoming is None
    assert clock.vote(seat).screen.current is None


def test_tallies_rebuild_to_what_they_were(clock):
    run = make_run()
    seat = make_seat(run)
    take_seat(seat.pk)
    for outcome in ("left", "right", "tie", "fail", "left"):
        clock.vote(seat, outcome)
    before = sorted(JudgeTally.objects.values_list("left", "right", "outcome", "votes"))
    JudgeTally.objects.filter(pk=JudgeTally.objects.first().pk).update(votes=9)
    PromptTally.objects.filter(pk=PromptTally.objects.filter(votes__gt=0).first().pk).delete()

    assert differences(run) == 2
    assert rebuild_tallies(run) == 2

    assert differences(run) == 0
    assert sorted(JudgeTally.objects.values_list("left", "right", "outcome", "votes")) == before


def test_tallies_by_prompt_follow_the_activity_of_judges(clock):
    run = make_run()
    busy, calm = make_seat(run, "busy"), make_seat(run, "calm")
    cast = []
    for seat, votes in ((busy, 9), (calm, 3)):
        take_seat(seat.pk)
        cast = [clock.vote(seat, ("left", "tie")[n % 2]) for n in range(votes)]

    def by_class():
        rows = PromptTally.objects.filter(run=run, votes__gt=0).order_by("activity")
        return dict(rows.values_list("activity").annotate(Sum("votes")))

    assert by_class() == {1: 3, 3: 9}
    assert differences(run) == 0

    for done in reversed(cast[1:]):
        undo_vote(judge=calm.judge, code=done.matchup.code)

    assert by_class() == {0: 1, 3: 9}
    assert differences(run) == 0


@pytest.mark.django_db(transaction=True)
def test_an_undo_in_the_middle_of_a_rebuild_is_counted_once(clock, monkeypatch):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    cast = clock.vote(seat)
    counted, undone = tallies._counted, []

    def undo():
        undo_vote(judge=seat.judge, code=cast.matchup.code)
        connection.close()

    def count(run, key):
        rows = counted(run, key)
        if JudgeTally.objects.count() == 0 and not undone:
            undone.append(Thread(target=undo))
            undone[0].start()
            undone[0].join(0.5)  # it waits for the rebuild, or is over by then
        return rows

    monkeypatch.setattr(tallies, "_counted", count)
    rebuild_tallies(seat.run)
    undone[0].join()

    assert Vote.objects.get().withdrawn_at is not None
    assert differences(seat.run) == 0


def test_a_vote_marks_the_ranking_as_stale(clock, django_capture_on_commit_callbacks):
    seat = make_seat(make_run())
    take_seat(seat.pk)

    with django_capture_on_commit_callbacks(execute=True):
        clock.vote(seat)

    assert Run.objects.get().scores_changed_at is not None


def test_a_vote_that_commits_late_marks_again(clock):
    """A fit may have read the votes between the moment of a vote and its commit."""
    seat = make_seat(make_run())
    take_seat(seat.pk)
    with TestCase.captureOnCommitCallbacks() as late:
        clock.vote(seat)
    fitted = clock.moment + timedelta(seconds=1)
    Run.objects.update(scores_changed_at=clock.moment + timedelta(milliseconds=1))

    with time_machine.travel(fitted + timedelta(seconds=1), tick=False):
        for callback in late:
            callback()

    assert Run.objects.get().scores_changed_at > fitted


def test_a_mark_that_was_lost_is_found_by_the_vote(clock):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    Run.objects.update(scores_changed_at=clock.moment)
    clock.vote(seat)  # its process dies right after the commit

    with time_machine.travel(clock.moment + timedelta(seconds=1), tick=False):
        assert (mark_missed(), mark_missed()) == (1, 0)

    assert Run.objects.get().scores_changed_at > seat.votes.get().voted_at


def test_an_undo_is_marked_in_its_own_transaction(clock):
    seat = make_seat(make_run())
    take_seat(seat.pk)
    cast = clock.vote(seat)

    undo_vote(judge=seat.judge, code=cast.matchup.code)

    assert Run.objects.get().scores_changed_at is not None


def test_votes_of_the_future_mark_nothing_for_ever():
    make_seat(make_run(), last_vote_at=now() + timedelta(days=400))
    Run.objects.update(scores_changed_at=now())

    assert mark_missed() == 0


def test_tables_are_kept_in_memory_by_epoch(clock, django_assert_num_queries):
    run = make_run()
    epoch = refresh_epoch(run)
    load_table(epoch.pk, epoch.seed)

    with django_assert_num_queries(0):
        load_table(epoch.pk, epoch.seed)


def test_an_undo_that_comes_between_reading_and_undoing_is_no_error(clock):
    """PostgreSQL shows what others committed between two statements: two undos at once met here."""
    seat = make_seat(make_run())
    code = take_seat(seat.pk).current.code
    clock.vote(seat, "left")
    between = iter([lambda: undo_vote(judge=seat.judge, code=code)])

    def come_between(execute, sql, params, many, context):
        if sql.startswith("SELECT") and 'FROM "judging_vote"' in sql:
            next(between, lambda: None)()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(come_between):
        undone = undo_vote(judge=seat.judge, code=code)

    assert undone.screen.current.code == code
    assert Vote.objects.filter(withdrawn_at=None).count() == 0
    assert differences(seat.run) == 0
