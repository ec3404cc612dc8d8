"""Fits from the database: the same numbers from tallies, from votes and from a file of the votes."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta

import pytest
import time_machine
from django.core.management import call_command
from django.utils.timezone import now

from generation.models import Event, Run, Sample
from generation.runs.publishing import freeze_runs, publish_runs
from generation.runs.staleness import AHEAD, move_mark
from judging.models import Seat, Vote
from judging.pairs.tallies import differences, rebuild_tallies
from judging.pairs.voting import undo_vote
from ranking.fitting import fit_run, publish_fit, refit_fast, refit_fully, set_counting, stale_fits
from ranking.models import Fit, Standing
from ranking.pairwise.columns.tallies import tallies_of
from ranking.simulated.judges import make_talents, make_truth, simulate_judges
from tests.judging.make import make_curator, make_run
from tests.ranking.alike import assert_alike
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db
ROWS_ONLY = ("agreement", "consistency", "judges")
RUN_ONLY = ("run", "answers", "answer_ratings", "category_samples", "samples")  # a file of votes knows no answers


@pytest.fixture
def run():
    return make_voted_run()


@pytest.fixture
def simulated():
    run = make_run(entrants=4)
    simulate_judges(run, judges=3, votes=12, seed=3)
    return run


def numbers(result, *, without=()):
    """A result's own parts, without what only rows or only the database can tell."""
    return {key: value for key, value in result.items() if key not in (*RUN_ONLY, *without)}


def exported(run, folder, form="jsonl"):
    path = folder / f"votes.{form}"
    call_command("export", "votes", run.code, "--format", form, "--out", path)
    return str(path)


def withdraw_one(run):
    seat = run.seats.first()
    undo_vote(judge=seat.judge, code=seat.matchups.filter(kind="regular").first().code)


def printed(capsys, *command):
    call_command(*command)
    return json.loads(capsys.readouterr().out)


def test_a_fast_fit_equals_a_full_one(run):
    fast, full = fit_run(run, full=False), fit_run(run)

    assert (fast.kind, full.kind) == ("fast", "full")
    assert_alike(numbers(fast.result, without=ROWS_ONLY), numbers(full.result, without=ROWS_ONLY))
    assert full.votes == Vote.objects.exclude(matchup__kind="repeat").count() > 100


def test_a_fast_fit_equals_a_full_one_with_a_judge_set_aside(run):
    Seat.objects.filter(pseudonym="judge judge6").update(weight=0, excluded_reason="clicks at random")

    fast, full = fit_run(run, full=False), fit_run(run)

    assert_alike(numbers(fast.result, without=ROWS_ONLY), numbers(full.result, without=ROWS_ONLY))
    assert "judge judge6" not in full.result["judges"]
    everyone = full.result["run"]["everyone"]
    assert everyone["votes"] == Vote.objects.exclude(matchup__kind="repeat").count() > full.votes


def test_a_fast_fit_equals_a_full_one_with_a_judge_counted_in_part(run):
    whole = fit_run(run, full=False).result
    Seat.objects.filter(pseudonym="judge judge6").update(weight=0.3, excluded_reason="in a hurry")

    fast, full = fit_run(run, full=False).result, fit_run(run).result

    assert_alike(numbers(fast, without=ROWS_ONLY), numbers(full, without=ROWS_ONLY))
    assert full["settings"]["weights"] == {"judge judge6": 0.3}
    assert full["judges"]["judge judge6"]["weight"] == 0.3
    assert full["votes"] == whole["votes"]
    assert [row["rating"] for row in full["overall"]] != [row["rating"] for row in whole["overall"]]
    everyone = [(row["entrant"], row["rating"]) for row in full["run"]["everyone"]["overall"]]
    assert everyone == [(row["entrant"], row["rating"]) for row in whole["overall"]]


def test_counts_by_prompt_are_weighted_and_lose_no_vote(run):
    Sample.objects.filter(pk=run.samples.first().pk).update(excluded_reason="a copy")
    weights = {"judge judge6": 0.25, "judge judge5": 0.0}

    tallies = tallies_of(run, weights=weights)

    by_judge = tallies.by_judge.n * tallies.weights[tallies.by_judge.cluster]
    assert tallies.by_prompt.n.sum() == pytest.approx(by_judge.sum())
    assert tallies.by_prompt.n.min() >= 0.25
    assert 0 < by_judge.sum() < tallies.by_judge.n.sum()


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_the_database_and_its_exported_votes_give_the_same_leaderboard(run, tmp_path, capsys, form):
    withdraw_one(run)

    from_file = printed(capsys, "analyse", exported(run, tmp_path, form))
    from_database = printed(capsys, "leaderboard", run.code, "--format", "json")

    assert_alike(numbers(from_database), numbers(from_file))
    assert from_database["agreement"]["units"] > 0


def test_a_past_leaderboard_is_made_again_from_the_votes_that_stood_then(run, tmp_path, capsys):
    until = Vote.objects.order_by("voted_at")[70].voted_at
    options = ("--until", until.isoformat())

    from_file = printed(capsys, "analyse", exported(run, tmp_path), *options)
    from_database = printed(capsys, "leaderboard", run.code, "--format", "json", *options)

    assert_alike(numbers(from_database), numbers(from_file))
    assert from_database["votes"] <= 71


def test_a_vote_withdrawn_later_still_stood_then(run):
    until = Vote.objects.order_by("voted_at").last().voted_at
    before = fit_run(run, until=until.isoformat())
    withdraw_one(run)

    after = fit_run(run, until=until.isoformat())

    assert_alike(numbers(after.result), numbers(before.result))
    assert fit_run(run).votes == before.votes - 1


def test_the_markdown_holds_the_three_parts_of_the_seed(run, capsys):
    call_command("leaderboard", run.code)

    text = capsys.readouterr().out
    assert [line for line in text.splitlines() if line.startswith("## ")][:3] == [
        "## Overall Elo",
        "## Category-specific Elo",
        "## Consistency score",
    ]


def test_standings_are_stored_for_every_scope(run):
    fit = fit_run(run)

    scopes = set(fit.standings.values_list("scope", flat=True))
    assert scopes == {"overall", "category:animal", "category:object"}
    first = fit.standings.filter(scope="overall").first()
    assert first.entrant.name == fit.result["overall"][0]["entrant"] == "acme/alpha-1"
    assert first.score == fit.result["overall"][0]["rating"]


def test_a_run_without_votes_has_an_empty_leaderboard():
    fit = fit_run(make_run(entrants=2))

    assert fit.result["overall"] == []
    assert fit.result["notes"] == ["There are no votes yet, so nothing is ranked."]
    assert fit.result["run"]["history"] == []


@pytest.mark.django_db(transaction=True)
def test_a_vote_makes_the_run_stale_and_a_fit_makes_it_fresh():
    run = make_voted_run(votes=30)
    assert stale_fits(Fit.Kind.FAST) == stale_fits(Fit.Kind.FULL) == [(run, "pairwise")]

    refit_fast(run, "pairwise")
    assert stale_fits(Fit.Kind.FAST) == [] and len(stale_fits(Fit.Kind.FULL)) == 1
    refit_fully(run.pk)
    assert stale_fits(Fit.Kind.FULL) == []

    simulate_judges(run, judges=1, votes=1)
    assert len(stale_fits(Fit.Kind.FAST)) == len(stale_fits(Fit.Kind.FULL)) == 1


def test_a_new_sites_demo_run_is_left_to_the_command_that_judges_it(run):
    Run.objects.update(start_key="demo-ascii", scores_changed_at=now())
    assert stale_fits(Fit.Kind.FULL) == []

    with time_machine.travel(now() + timedelta(minutes=11)):
        assert stale_fits(Fit.Kind.FULL) == [(run, "pairwise")], "the command never came to it"
    publish_runs([run], by=None, reason="shown")
    assert stale_fits(Fit.Kind.FULL) == [(run, "pairwise")]


def test_talents_of_demo_players_even_out_so_that_the_better_player_leads_overall():
    run = make_run(entrants=40, prompts=7)  # so many that some differ in each category, whatever their keys
    truth = make_truth(run, [], seed=1)
    sizes = Counter(run.prompts.values_list("category", flat=True))

    talents = make_talents(run, truth, 1.4)

    for entrant in truth.strengths:
        assert sum(talents[category][entrant] * count for category, count in sizes.items()) == pytest.approx(0)
    assert all(max(own.values()) - min(own.values()) > 0.5 for own in talents.values()), "categories differ"


def test_only_a_few_old_fits_and_the_published_stay(run):
    published = publish_fit(fit=fit_run(run), by=None, title="Midterm").fit
    for _ in range(5):
        fit_run(run)

    assert Fit.objects.count() == 4
    assert Fit.objects.filter(pk=published.pk).exists()
    assert Standing.objects.filter(fit=published).exists()


def test_dropping_ties_is_stored_with_the_fit(run):
    curator = make_curator()

    set_counting(run=run, ties="drop", fails="half", by=curator, reason="asked by the class")

    run.refresh_from_db()
    fit = fit_run(run, full=False)
    assert fit.settings["ties"] == fit.result["settings"]["ties"] == "drop"
    assert stale_fits(Fit.Kind.FAST) == []
    assert Event.objects.filter(verb="set counting", actor=curator).exists()


def test_simulated_votes_are_marked_and_counted_like_any(simulated):
    assert differences(simulated) == 0 and Vote.objects.count() == 12
    assert not Seat.objects.filter(is_simulated=False).exists()
    assert not any(seat.judge.is_active or seat.judge.has_usable_password() for seat in Seat.objects.all())
    truth = Event.objects.get(verb="simulate judges").facts
    strongest_first = sorted(truth["strengths"], key=truth["strengths"].get, reverse=True)
    assert strongest_first == ["acme/alpha-1", "bestco/beta-mini", "corp/gamma-xl", "delta/delta-pro"]


def test_simulated_judges_do_not_vote_where_judging_is_closed():
    run = make_run(entrants=2)
    run.judging_state = "closed"

    with pytest.raises(ValueError, match="open it first"):
        simulate_judges(run, judges=1, votes=1)


def test_the_history_ends_at_the_ratings_of_today(run):
    fit = fit_run(run)

    history = fit.result["run"]["history"]
    assert history[-1]["votes"] == fit.votes
    today = {row["entrant"]: row["rating"] for row in fit.result["overall"]}
    assert {name: values[0] for name, values in history[-1]["ratings"].items()} == pytest.approx(today, abs=1e-4)
    assert [point["votes"] for point in history] == sorted({point["votes"] for point in history})


def test_refit_makes_what_is_stale(run):
    call_command("refit")

    kinds = Fit.objects.order_by("kind").values_list("kind", flat=True)
    assert list(kinds) == ["fast", "full"]


def test_a_vote_that_commits_around_the_freeze_is_in_the_final_leaderboard(run):
    """A judge's transaction began while judging was open and ends after the freeze: votes wait for nobody."""
    frozen = now()

    def after(seconds):
        return time_machine.travel(frozen + timedelta(seconds=seconds), tick=False)

    with after(0):
        freeze_runs([run], by=None, reason="the term is over")
    with after(1):
        early = refit_fast(run, "pairwise")
    with after(2):
        Vote.objects.filter(pk=run.votes.exclude(matchup__kind="repeat").first().pk).update(withdrawn_at=now())
        rebuild_tallies(run)
        move_mark(run.pk, AHEAD)

    assert stale_fits("fast") == [(run, "pairwise")]
    with after(6):
        assert refit_fast(run, "pairwise").votes == early.votes - 1
        refit_fully(run.pk)
    with after(60):
        move_mark(run.pk)
    assert stale_fits("fast") == stale_fits("full") == []
