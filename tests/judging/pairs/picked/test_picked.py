"""Pairs that a curator picked come at places that no judge can tell, and their votes are in no rating and no tally."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from generation.models import Event, Run, Sample
from generation.runs.errors import RunError
from judging.files.exports import vote_records
from judging.model_judges.asking import Plan, add_model_judge
from judging.model_judges.instructions import versioned
from judging.models import JudgeTally, Kind, Matchup, PickedPair, Seat, Vote
from judging.pairs.picked.queue import end_picked_pairs, lines_of, pick_pairs
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences, rebuild_tallies
from judging.pairs.voting import undo_vote
from judging.provenance import marks_of
from ranking.fitting import fit_run
from ranking.models import Fit
from ranking.pairwise.dataset.votes import PICKED
from ranking.pairwise.model_judges.picking import pairs_to_pick, picked_figures
from ranking.pairwise.model_judges.sentences import picked_sentence
from tests.judging.make import make_curator, make_run, make_seat
from tests.judging.model_judges.test_asking import CRITIC, draw_all
from tests.judging.pairs.test_voting import Clock
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.django_db, pytest.mark.long]


@pytest.fixture
def clock():
    return Clock()


def some_pairs(run, many):
    """Two entrants' drawings of one prompt, at random."""
    by_prompt = {}
    for sample in run.samples.order_by("attempt", "pk"):
        by_prompt.setdefault(sample.prompt_id, []).append(sample)
    pairs = [
        (one.pk, other.pk)
        for rows in by_prompt.values()
        for one, other in combinations(rows, 2)
        if one.entrant_id != other.entrant_id
    ]
    return Random(1).sample(pairs, many)


def pick(run, many=6, **more):
    values = {"why": "differs", "judge": "demo/critic", "share": 0.2} | more
    return pick_pairs(run, some_pairs(run, many), **values)


def walk(clock, seat, votes, outcome="left"):
    """So many votes in a row, with what was on the screen each time."""
    screen = take_seat(seat.pk)
    shown = []
    for _ in range(votes):
        if screen.current is None:
            break
        shown.append(screen.current)
        screen = clock.vote(seat, outcome, screen.current.code).screen
    return shown


def test_they_take_their_share_and_no_two_drawings_meet_twice(clock):
    run = make_run(entrants=6, prompts=8, repeats=0.0)
    assert pick(run, 12, wanted=5) == 12
    seats = [make_seat(run, f"judge{n}") for n in range(3)]

    shown = [walk(clock, seat, 40) for seat in seats]

    for seat, rows in zip(seats, shown, strict=True):
        kinds = Counter(row.kind for row in rows)
        assert kinds[Kind.PICKED] == 8  # a fifth of 40: one in each stretch of five
        keys = Counter(Matchup.objects.filter(seat=seat).values_list("key", flat=True))
        assert max(keys.values()) == 1
        places = [number % 5 for number, row in enumerate(rows) if row.kind == Kind.PICKED]
        assert len(set(places)) > 1  # at no fixed place
    asked = Counter(Matchup.objects.filter(kind=Kind.PICKED).values_list("key", flat=True))
    assert len(asked) == 12 and max(asked.values()) <= 3  # spread evenly over the pairs


def test_regular_pairs_stay_balanced_beside_them(clock):
    run = make_run(entrants=4, prompts=12, attempts=3, overlap=0.0, repeats=0.0)
    pick(run, 12, share=0.25, wanted=9)
    seat = make_seat(run)

    rows = [row for row in walk(clock, seat, 48) if row.kind == Kind.REGULAR]

    seat.refresh_from_db()
    assert 36 <= len(rows) <= 40  # one that would show neighbours' entrants waits for its next turn
    # Each of the six pairs as often, each entrant as often left as right, each category as often: as without picked pairs.
    pairs = Counter(frozenset((row.left_id, row.right_id)) for row in rows)
    assert max(pairs.values()) - min(pairs.values()) <= 1
    sides = Counter(row.left_id for row in rows), Counter(row.right_id for row in rows)
    assert all(abs(sides[0][entrant] - sides[1][entrant]) <= 2 for entrant in sides[0])
    by_category = Counter(row.category for row in rows)
    assert abs(by_category["animal"] - by_category["object"]) <= 1


def test_each_is_shown_to_as_many_people_as_wanted_and_then_no_more(clock):
    run = make_run(entrants=5, prompts=6)
    pick(run, 2, wanted=2, share=0.25)

    for number in range(4):
        walk(clock, make_seat(run, f"judge{number}"), 24)

    votes = Vote.objects.filter(matchup__kind=Kind.PICKED)
    assert votes.count() == 4
    assert set(Counter(votes.values_list("matchup__key", flat=True)).values()) == {2}
    (line,) = lines_of(run)
    assert (line.pairs, line.wanted, line.answers, line.done) == (2, 4, 4, 2)


def test_their_votes_feed_no_rating_no_tally_and_no_mark(clock):
    run = make_run(entrants=4, prompts=8, repeats=0.0)
    pick(run, 30, wanted=5)  # so many that one fits between its neighbours at every turn
    seats = [make_seat(run, f"judge{n}") for n in range(2)]
    for seat in seats:
        walk(clock, seat, 30)

    votes = Vote.objects.filter(matchup__kind=Kind.PICKED)
    assert votes.count() == 12
    assert set(votes.values_list("kept_out", "unblind")) == {(True, False)}
    assert sum(JudgeTally.objects.values_list("votes", flat=True)) == Vote.objects.count() - 12
    assert differences(run) == 0 and rebuild_tallies(run) == 0
    assert marks_of(run, run.judged_by[0])["kept_out"] == 0
    assert Seat.objects.get(pk=seats[0].pk).voted == 30  # progress counts them, or it would tell

    fit_run(run)
    before = Fit.objects.newest(run, "pairwise", kind="full").result
    Vote.objects.filter(pk__in=votes.values("pk")).update(outcome="right")
    fit_run(run)
    after = Fit.objects.newest(run, "pairwise", kind="full").result
    assert before["votes"] == after["votes"] == 48
    for key in ("overall", "judges", "agreement", "side_bias", "consistency"):
        assert before[key] == after[key]
    assert after["run"]["picked"][0]["answers"] == 12


def test_files_know_them_by_their_kind_and_count_them_nowhere(clock):
    run = make_run(entrants=4, prompts=8)
    pick(run, 30, wanted=5)  # so many that one fits between its neighbours at every turn
    walk(clock, make_seat(run), 30)

    rows = [row for row in vote_records(run) if row["kind"] == "picked"]

    assert len(rows) == 6
    assert {(row["withdrawn"], row["kept_out"]) for row in rows} == {(True, True)}
    assert PICKED == "pair_picked"


def test_undo_brings_the_pair_back_and_a_second_vote_is_kept_out_too(clock):
    run = make_run(entrants=4, prompts=6)
    pick(run, 6, share=0.25, wanted=9)
    seat = make_seat(run)
    while Matchup.objects.get(pk=take_seat(seat.pk).current.pk).kind != Kind.PICKED:
        walk(clock, seat, 1)
    code = take_seat(seat.pk).current.code
    clock.vote(seat, "left", code)

    undone = undo_vote(judge=seat.judge, code=code)
    clock.vote(seat, "right", code)

    assert undone.screen.current.code == code and not undone.put_away
    assert list(Vote.objects.filter(matchup__code=code).values_list("outcome", "kept_out").order_by("id")) == [
        ("left", True),
        ("right", True),
    ]
    assert Vote.objects.standing().filter(matchup__code=code).count() == 1
    assert differences(run) == 0


def test_taken_back_they_come_no_more_and_answers_stay(clock):
    run = make_run(entrants=5, prompts=8)
    pick(run, 12, wanted=9, share=0.25)
    seat = make_seat(run)
    walk(clock, seat, 12)
    answered = Vote.objects.filter(matchup__kind=Kind.PICKED).count()
    waiting = Matchup.objects.filter(seat=seat, kind=Kind.PICKED, state__in=["queued", "open"]).count()

    assert end_picked_pairs(run, reason="Enough.") == 12
    assert end_picked_pairs(run) == 0
    walk(clock, seat, 20)

    assert Vote.objects.filter(matchup__kind=Kind.PICKED).count() == answered + waiting
    assert lines_of(run) == []
    assert [figure["answers"] for figure in picked_figures(run)] == [answered + waiting]
    assert list(Event.objects.filter(verb__contains="pick").values_list("verb", "reason").order_by("pk")) == [
        ("pick pairs", ""),
        ("end picked pairs", "Enough."),
    ]
    run.refresh_from_db()
    assert run.picked_share == 0 and pick(run, 3) == 3  # the same pairs may be picked again


def test_an_ordinary_vote_takes_no_statement_more(clock):
    """Only the turn of a picked pair looks for one."""
    counts = []
    for picked in (False, True):
        run = make_run(entrants=5, prompts=8, overlap=0.0, repeats=0.0)
        if picked:
            pick(run, 12, wanted=9, share=0.02)
        seat = make_seat(run, f"judge of {run.code}")
        walk(clock, seat, 2)
        took = []
        for _ in range(6):
            code = Matchup.objects.get(seat=seat, state="open").code
            with CaptureQueriesContext(
                connection,
            ) as queries:
                made = clock.vote(seat, "left", code)
            if made.screen.upcoming.kind == Kind.REGULAR:
                took.append(len(queries))
        counts.append(min(took))
    assert counts[0] == counts[1]


def test_a_judge_sees_no_difference_on_the_page(client, clock):
    run = make_run(entrants=4, prompts=6, overlap=0.0, repeats=0.0)
    pick(run, 6, share=0.25, wanted=9)
    seat = make_seat(run)
    client.force_login(seat.judge)
    pages = {}
    for _ in range(12):
        matchup = take_seat(seat.pk).current
        shown = client.get(reverse("judging:judge", args=[run.code])).text
        assert "picked" not in shown
        pages.setdefault(matchup.kind, set()).add(len(shown.replace(matchup.code, "")) // 400)
        clock.vote(seat, "left", matchup.code)
    assert set(pages) == {Kind.REGULAR, Kind.PICKED}
    history = client.get(reverse("judging:history", args=[run.code])).text
    assert "picked" not in history and history.count("Draw thing") >= 12


def test_what_cannot_be_picked_is_refused():
    run = make_run()
    with pytest.raises(RunError, match="2% to 25%"):
        pick(run, share=0.5)
    with pytest.raises(RunError, match="1 to 50 people"):
        pick(run, wanted=0)
    one, other = run.samples.order_by("pk")[:2]
    with pytest.raises(RunError, match="two entrants’ drawings of one prompt"):
        pick_pairs(run, [(one.pk, other.pk)], why="hard", judge="x", share=0.1)
    with pytest.raises(RunError, match="names after each vote"):
        pick(make_run(reveal="after_vote"))
    assert not PickedPair.objects.exists()


def test_a_pair_stands_in_line_once():
    run = make_run()
    assert (pick(run, 3), pick(run, 3)) == (3, 0)
    pair = PickedPair.objects.first()
    pair.pk, pair.code = None, "another-code"
    with pytest.raises(IntegrityError), transaction.atomic():
        pair.save(force_insert=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(picked_share=0.7)


@pytest.fixture
def judged(demo):
    demo()
    run = make_voted_run(votes=90, judges=5, attempts=3)
    draw_all(add_model_judge(run, Plan(CRITIC, versioned(run, ""), 60, 5.0)))
    return run


def test_pairs_are_chosen_by_what_people_and_the_judge_said(judged):
    differing = pairs_to_pick(judged, "demo/critic", "differs", most=5)
    assert 1 <= len(differing) <= 5
    for first, second in differing:
        votes = Vote.objects.filter(matchup__left_sample__in=(first, second), matchup__right_sample__in=(first, second))
        scores = [
            0.5
            if vote.outcome in ("tie", "fail")
            else float((vote.matchup.left_sample_id == first) == (vote.outcome == "left"))
            for vote in votes.select_related("matchup")
        ]
        assert sum(scores) / len(scores) < 1  # people do not prefer it as the judge does
    hard = pairs_to_pick(judged, "demo/critic", "hard", most=5)
    assert not {*differing} & {*hard}
    assert pairs_to_pick(judged, "nobody", "hard", most=5) == []
    pick_pairs(judged, differing, why="differs", judge="demo/critic", share=0.1)
    assert not {*pairs_to_pick(judged, "demo/critic", "differs", most=5)} & {*differing}
    assert Sample.objects.filter(pk__in=[pk for pair in hard for pk in pair]).count() <= 10


def test_the_curators_page_puts_pairs_in_line_shows_progress_and_takes_them_back(client, judged, clock):
    client.force_login(make_curator())
    address = reverse("ranking:picked_pairs", args=[judged.code])
    fields = {"judge": "demo/critic", "why": "differs", "pairs": "4", "wanted": "40", "share": "20"}

    wrong = client.post(address, fields | {"share": "60"})
    added = client.post(address, fields, follow=True)

    assert "less than or equal to 25" in wrong.text
    assert "stand in line for people" in added.text and "20% of each judge" in added.text
    assert (
        reverse("ranking:picked_pairs", args=[judged.code])
        in client.get(reverse("judging:overview", args=[judged.code])).text
    )
    for number in range(4):
        walk(clock, make_seat(judged, f"new{number}"), 20)
    shown = client.get(address).text
    assert "figures are shown from 30 on" in shown
    Run.objects.filter(pk=judged.pk).update(judging_state="closed")
    assert "Judging is closed: nobody is shown them now." in client.get(address).text
    ended = client.post(reverse("ranking:end_picked", args=[judged.code]), follow=True)
    assert "taken back. Answers so far stay." in ended.text
    fit_run(judged)
    tab = client.get(reverse("ranking:model_judges", args=[judged.code])).text
    assert "Pairs picked for people" in tab


def test_the_sentence_says_what_was_measured_and_that_the_pairs_were_chosen():
    share = {"value": 0.4, "low": 0.3, "high": 0.5}
    figure = {"why": "differs", "judge": "acme/seer", "pairs": 20, "answers": 60, "people": 4, "with_judge": share}
    sentence = picked_sentence(figure | {"undecided": {"value": 0.1, "low": None, "high": None}})
    assert "sided with the judge in 40% (30–50%)" in sentence and "60 answers of 4 people on 20 pairs" in sentence
    assert "says nothing about other pairs" in sentence
