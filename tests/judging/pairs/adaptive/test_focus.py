"""Adaptive pairs of a run: the curator's choice, what a fit tells the schedule, what a judge is shown and what nobody is."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from generation.models import Event, Run
from generation.runs.errors import RunError
from judging.curating.runs import set_judging
from judging.models import Matchup, PairFocus, PublicState, Seat
from judging.pairs.adaptive.draws import SIZE
from judging.pairs.adaptive.figures import pairs_figures
from judging.pairs.adaptive.focus import save_focus, set_pairs
from judging.pairs.epochs import refresh_epoch
from judging.pairs.pages import bar
from judging.pairs.planning import plan_of
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from judging.pairs.voting import Ballot, cast_vote
from ranking.fitting import fit_run
from ranking.public_states import take_public_states
from tests.judging.make import make_curator, make_run, make_seat
from tests.ranking.voted_run import make_voted_run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


def make_adaptive(*, entrants=6, close=((0, 1), (2, 3)), votes=5, **shape):
    """A run whose newest fit leaves only these pairs of entrants undecided."""
    run = make_run(entrants=entrants, prompts=8, attempts=3, **{"overlap": 0, "repeats": 0, **shape})
    set_pairs(run=run, adaptive=True, by=None)
    ids = list(run.entrants.order_by("id").values_list("id", flat=True))
    rows = [
        (ids[a], ids[b], votes, 0.4 if (a, b) in close else None)
        for a in range(entrants)
        for b in range(a + 1, entrants)
    ]
    save_focus(run=run, rows=rows, votes=votes * len(rows), read_at=now())
    return run, [frozenset((ids[a], ids[b])) for a, b in close]


def vote(seat, times):
    for _ in range(times):
        screen = take_seat(seat.pk)
        cast_vote(judge=seat.judge, code=screen.current.code, ballot=Ballot("left"))


def pairs_shown(seat):
    shown = Matchup.objects.filter(seat=seat).order_by("order").values_list("left", "right")
    return [frozenset(pair) for pair in shown]


def test_undecided_pairs_come_more_often_and_sides_and_categories_stay_even():
    run, close = make_adaptive()
    seat = make_seat(run)

    vote(seat, 40)

    shown = Matchup.objects.filter(seat=seat).order_by("order")[:40]
    met = Counter(frozenset((matchup.left_id, matchup.right_id)) for matchup in shown)
    lean = Counter(matchup.left_id for matchup in shown)
    lean.subtract(matchup.right_id for matchup in shown)
    assert [met[pair] for pair in close] == [4, 4]  # twice in each twenty
    assert set(lean.values()) == {0}
    assert set(Counter(matchup.category for matchup in shown).values()) == {20}
    assert len({matchup.key for matchup in shown}) == 40
    assert differences(run) == 0


def test_before_the_first_votes_and_without_the_choice_pairs_are_balanced():
    waiting, _ = make_adaptive(votes=0)
    usual = make_run(entrants=6, prompts=8, overlap=0, repeats=0)

    for run, name in ((waiting, "alice"), (usual, "bob")):
        seat = make_seat(run, name)
        vote(seat, 15)
        assert set(Counter(pairs_shown(seat)[:15]).values()) == {1}


def test_a_judge_who_is_under_way_changes_over_and_back():
    run, _ = make_adaptive()
    Run.objects.filter(pk=run.pk).update(adaptive_pairs=False)
    seat = make_seat(run)
    vote(seat, 12)
    assert not plan_of(Seat.objects.get(pk=seat.pk)).is_focused

    set_pairs(run=run, adaptive=True, by=None)
    vote(seat, 28)
    focused = plan_of(Seat.objects.get(pk=seat.pk))
    set_pairs(run=run, adaptive=False, by=None)
    vote(seat, 25)

    assert focused.is_focused
    assert not plan_of(Seat.objects.get(pk=seat.pk)).is_focused
    assert all(one != other for one, other in zip(pairs_shown(seat), pairs_shown(seat)[1:], strict=False))


def test_the_bar_counts_rounds_as_before():
    run, _ = make_adaptive()
    seat = make_seat(run)
    vote(seat, 3)

    assert bar(Seat.objects.get(pk=seat.pk))["max"] == 15


def test_choosing_costs_one_statement_in_twenty_votes():
    run, _ = make_adaptive()
    seat = make_seat(run)
    vote(seat, 2)
    asked = 0

    for _ in range(40):
        with CaptureQueriesContext(
            connection,
        ) as statements:
            vote(seat, 1)
        asked += any("pairfocus" in query["sql"] for query in statements)

    assert asked == 2


def test_a_fit_tells_which_pairs_are_undecided_and_a_late_one_changes_nothing():
    run = make_run(entrants=5, prompts=8, overlap=0, repeats=0)
    set_pairs(run=run, adaptive=True, by=None)
    seat = make_seat(run)
    vote(seat, 30)

    fit = fit_run(run, full=False)
    focus = PairFocus.objects.get(run=run)
    save_focus(run=run, rows=[], votes=0, read_at=fit.read_at.replace(year=2020))

    assert (focus.votes, len(focus.pairs)) == (30, 10)
    assert sum(votes for _, _, votes, _ in focus.pairs) == 30
    chances = [chance for *_, chance in focus.pairs if chance is not None]
    assert chances and all(0 < chance <= 0.5 for chance in chances)
    assert PairFocus.objects.get(run=run).pairs == focus.pairs


def test_a_run_with_balanced_pairs_stores_no_focus():
    run = make_run(entrants=5)
    vote(make_seat(run), 3)

    fit_run(run, full=False)

    assert not PairFocus.objects.exists()


def test_standings_are_hidden_from_everybody_but_curators_while_pairs_are_adaptive(client):
    run, _ = make_adaptive()
    Run.objects.filter(pk=run.pk).update(visibility="published")
    PublicState.objects.create(
        run=run,
        protocol="pairwise",
        number=1,
        standings=[
            {"entrant": "acme/alpha-1", "rank_low": 1, "rank_high": 1, "rating": 1234, "low": 1200, "high": 1260},
            {"entrant": "bestco/beta-mini", "rank_low": 2, "rank_high": 2, "rating": 900, "low": 870, "high": 930},
        ],
        votes=40,
        upto=0,
    )
    numbers = [text.encode() for text in ("1,234", "1234", "900", "is ahead")]
    pages = [reverse("ranking:leaderboard", args=[run.code]), reverse("ranking:leaderboards"), reverse("home")]
    pages += [f"{pages[0]}?format=json", reverse("ranking:embed", args=[run.code])]

    taken = take_public_states()
    shown = [client.get(page).content for page in pages]

    assert taken == 0
    assert not [text for text in numbers for content in shown if text in content]
    listed = [shown[0].index(f"/entrants/{code}/".encode()) for code in run.entrants.values_list("code", flat=True)]
    assert listed == sorted(listed), "who takes part is listed in the order of entry, whoever leads"
    assert b"Standings are shown once it is closed." in shown[0]
    Run.objects.filter(pk=run.pk).update(adaptive_pairs=False, was_adaptive=False)
    assert b"1,234" in client.get(pages[0]).content, "there is something that could leak"


def test_standings_stay_hidden_after_a_return_to_balanced_pairs(client):
    run = make_voted_run(votes=120, judges=4)
    Run.objects.filter(pk=run.pk).update(visibility="published", was_adaptive=True, adaptive_pairs=True)
    run.refresh_from_db()

    set_pairs(run=run, adaptive=False, by=None)
    taken = take_public_states()
    page = client.get(reverse("ranking:leaderboard", args=[run.code])).content

    assert (taken, run.adaptive_pairs, run.was_adaptive) == (0, False, True)
    assert b"Standings are shown once it is closed." in page
    Run.objects.filter(pk=run.pk).update(was_adaptive=False)
    assert take_public_states() == 1, "there is a state that could be shown"


def test_a_choice_that_is_taken_back_before_judging_is_opened_leaves_nothing_behind():
    run = make_run()
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.NOT_OPEN)
    run.refresh_from_db()

    set_pairs(run=run, adaptive=True, by=None)
    set_pairs(run=run, adaptive=False, by=None)

    run.refresh_from_db()
    assert not run.was_adaptive


def test_a_run_whose_judging_is_opened_again_has_balanced_pairs():
    run, _ = make_adaptive()
    for verb in ("close", "open"):
        set_judging(run=run, verb=verb, by=None)

    run.refresh_from_db()
    assert (run.adaptive_pairs, run.was_adaptive) == (False, True)
    assert run.events.filter(verb="balanced pairs").exists()
    with pytest.raises(RunError, match="shown or imported already"):
        set_pairs(run=run, adaptive=True, by=None)


def test_a_run_with_imported_votes_is_refused():
    run = make_run()
    Event.objects.create(run=run, verb=Event.Verb.IMPORT_VOTES, reason="last year's study")

    with pytest.raises(RunError, match="shown or imported already"):
        set_pairs(run=run, adaptive=True, by=None)


def test_a_curator_chooses_sees_where_votes_go_and_returns(client):
    run = make_run(entrants=6, prompts=8, attempts=3, overlap=0, repeats=0)
    curator = make_curator()
    client.force_login(curator)
    page, choice = (reverse(f"judging:{name}", args=[run.code]) for name in ("overview", "choose_pairs"))
    assert b"every pair comes equally often" in client.get(page).content

    client.post(choice, {"pairs": "adaptive", "reason": "few judges"})
    refresh_epoch(run)
    waiting = client.get(page).content.decode()
    vote(make_seat(run), 25)
    run.refresh_from_db()
    fit_run(run, full=False)
    chosen = client.get(page).content.decode()
    client.post(choice, {"pairs": "balanced"})

    assert "after about 15 more votes" in waiting
    assert "Of every 10 regular pairs" in chosen
    assert "Of the last 25 regular votes" in chosen
    assert [(event.verb, event.reason) for event in run.events.order_by("id")][-2:] == [
        ("adaptive pairs", "few judges"),
        ("balanced pairs", ""),
    ]
    assert b"every pair comes equally often" in client.get(page).content


def test_shares_of_the_pairs_to_come_add_up_and_none_exceeds_one_in_ten():
    run, _ = make_adaptive()
    refresh_epoch(run)

    figures = pairs_figures(run)

    assert (figures.state, figures.undecided, figures.focused, figures.least) == ("adaptive", 2, 2, 8)
    assert [line.share for line in figures.lines[:2]] == pytest.approx([1 / SIZE] * 2)
    assert max(line.share for line in figures.lines) <= 1 / SIZE + 1e-9


def test_with_few_pairs_the_page_says_that_there_is_nothing_to_choose(client):
    run = make_run(entrants=3)
    set_pairs(run=run, adaptive=True, by=None)
    refresh_epoch(run)
    client.force_login(make_curator())

    assert b"only 3 pairs can be shown" in client.get(reverse("judging:overview", args=[run.code])).content


def test_a_run_that_tells_names_after_each_vote_is_refused():
    run = make_run(reveal="after_vote")

    with pytest.raises(RunError, match="names after each vote"):
        set_pairs(run=run, adaptive=True, by=None)

    run.refresh_from_db()
    assert not run.adaptive_pairs


def test_judges_cannot_choose_pairs(client):
    run = make_run()
    client.force_login(make_seat(run).judge)

    client.post(reverse("judging:choose_pairs", args=[run.code]), {"pairs": "adaptive"})

    run.refresh_from_db()
    assert not run.adaptive_pairs
