"""Automatic leaderboards from the database: the same numbers as from a file, pages that say why, rankings compared with people's."""

from __future__ import annotations

import json
from datetime import timedelta

import pandas as pd
import pytest
import time_machine
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from generation.formats.base import Extraction
from generation.formats.pixel_art.grid import SIDE
from generation.formats.pixel_art.losses import parts_of
from generation.models import Entrant, Measurement, Run, Sample
from generation.runs.publishing import freeze_runs, thaw_runs
from generation.runs.staleness import LATE, mark_new_answers, move_mark
from judging.models import Matchup, Vote
from judging.pairs.tallies import rebuild_tallies
from ranking.automatic.against_people import liking
from ranking.automatic.page import leading_sentence, people_sentence
from ranking.automatic.scores import score_answers, score_samples
from ranking.fitting import fit_run, stale_fits
from tests.judging.make import make_curator, make_judge, make_seat
from tests.ranking.answered_run import answer_samples, make_answered_run
from tests.ranking.voted_run import matchup

pytestmark = pytest.mark.django_db
PERFECT = json.dumps({"grid": [[(x + y) % 8 for x in range(SIDE)] for y in range(SIDE)], "palette": ["#fff"] * 8})
NO_GRID = json.dumps({"answer": 42})
MODELS = ("demo/master", "demo/beginner")


def by_model(sample):
    return {"demo/master": PERFECT, "demo/beginner": NO_GRID}.get(sample.model.model_id, "I cannot draw.")


def vote(run, seat, order, left, right, outcome):
    item = matchup(run, seat, order, (left.prompt, left, right), "regular")
    item.save()
    Vote.objects.create(matchup=item, run=run, seat=seat, outcome=outcome, response_ms=1000)


@pytest.fixture
def run():
    return make_answered_run()


def test_the_database_is_scored_as_a_file_of_its_answers_is(run):
    fit = fit_run(run, protocol="automatic")

    rows = run.samples.values("model__model_id", "prompt__key", "prompt__category", "attempt", "answer")
    names = ("model", "prompt", "category", "attempt", "raw_output")
    answers = (dict(zip(names, row.values(), strict=True)) for row in rows)
    frame = score_answers(answers, form=run.drawing_format)
    expected = score_samples(frame, form=run.drawing_format).models
    table = pd.DataFrame(fit.result["overall"])
    assert list(table["entrant"]) == list(expected["model"])
    for column in ("score", "low", "high", "json", "render", "quality", "valid", "sd"):
        assert table[column].to_list() == pytest.approx(expected[column].to_list(), abs=1e-6), column
    assert fit.votes == run.samples.count()
    assert fit.standings.filter(scope="overall").count() == 5


def test_the_page_says_who_leads_and_what_was_lost(client):
    run = make_answered_run(say=by_model, models=MODELS)
    fit_run(run)

    page = client.get(f"/runs/{run.code}/leaderboard/").content.decode()

    assert "Demo Master leads with 1.00, ahead of all others on the same prompts." in page
    assert "no grid" in page and "no_grid" not in page
    assert "the whole answer was the object" in page
    assert page.count('class="parts"') == 2
    assert "JSON 0.40 of 0.40, Render 0.30 of 0.30, Quality 0.30 of 0.30" in page


def test_what_a_sample_lost_adds_up_to_one_with_its_score(run):
    answer_everything = run.samples.prefetch_related("measurements")

    for sample in answer_everything:
        values = sample.measurements.all()[0].values
        parts = parts_of(values, Extraction(sample.drawing, sample.reason, sample.detail, facts=sample.facts))
        assert values["score"] + sum(part.lost for part in parts) == pytest.approx(1, abs=1e-6)
        assert all(bool(part.why) == (part.lost > 1e-12) for part in parts), sample.answer


def test_a_grid_of_25_short_rows_says_so():
    rows = [[0] * 20 for _ in range(25)]
    run = make_answered_run(say=lambda _: json.dumps({"grid": rows}), models=MODELS, prompts=["saturn"], attempts=1)
    sample = run.samples.first()

    sentences = {
        part.label: part.why
        for part in parts_of(sample.measurements.get().values, Extraction(sample.drawing, facts=sample.facts))
    }

    assert sentences == {
        "Valid JSON": "",
        "Height": "25 rows instead of 24.",
        "Width": "Rows are 20.0 cells long on average instead of 24.",
        "Cell values": "",
        "Colours": "1 different values; 8 give all points.",
        "Filled cells": "480 of the 576 cells of the picture are filled.",
    }


def test_an_excluded_answer_and_a_disqualified_entrant_do_not_count(run):
    Sample.objects.filter(pk=run.samples.filter(entrant__name="demo/master").first().pk).update(excluded_reason="rude")
    Entrant.objects.filter(run=run, name="demo/scribbler").update(disqualified="It copied.")

    fit = fit_run(run)

    counted = {row["entrant"]: row["n"] for row in fit.result["overall"]}
    assert counted["demo/master"] == 13
    assert "demo/scribbler" not in counted


def test_another_backend_is_never_mixed_in(run):
    before = fit_run(run).result["overall"]
    samples = run.samples.filter(entrant__name="demo/scribbler")
    Measurement.objects.bulk_create(Measurement(sample=s, backend="other", values={"score": 1.0}) for s in samples)

    assert fit_run(run).result["overall"] == before
    Run.objects.filter(pk=run.pk).update(measure_backend="other")
    switched = fit_run(Run.objects.get(pk=run.pk)).result
    assert [row["entrant"] for row in switched["overall"]] == ["demo/scribbler"]
    assert switched["unmeasured"] == run.samples.count() - samples.count()


def test_a_format_without_a_score_counts_answers_with_a_drawing():
    def say(sample):
        return "```\n /\\_/\\\n( o.o )\n```" if sample.model.model_id == "demo/master" else "no."

    run = make_answered_run("ascii", say=say, models=MODELS)

    result = fit_run(run).result

    assert [(row["entrant"], row["score"]) for row in result["overall"]] == [
        ("demo/master", 1.0),
        ("demo/beginner", 0.0),
    ]
    assert not result["by_format"]


def test_new_answers_make_the_leaderboard_stale():
    run = make_answered_run(say=lambda s: PERFECT if s.attempt == 1 else None, models=MODELS)
    assert mark_new_answers() == 1
    fit_run(run)
    assert stale_fits("full") == []
    Run.objects.filter(pk=run.pk).update(scores_changed_at="2026-01-01T00:00Z")
    answer_samples(run, by_model)

    assert mark_new_answers() == 1
    assert stale_fits("fast") == [(run, "automatic")]


def test_a_frozen_leaderboard_takes_in_what_came_before_and_nothing_later():
    run = make_answered_run(say=lambda s: PERFECT if s.attempt == 1 else None, models=MODELS)
    freeze_runs([run], by=None, reason="the term is over")
    assert stale_fits("fast") == [(run, "automatic")], "answers that nobody had noticed yet are still ranked"
    with time_machine.travel(now() + LATE, tick=False):
        fit_run(run)
    marked = Run.objects.get(pk=run.pk).scores_changed_at

    answer_samples(run, by_model)  # what was in flight
    Sample.objects.filter(run=run).update(drawn_at=now() + timedelta(minutes=1))

    assert mark_new_answers() == 0
    assert Run.objects.get(pk=run.pk).scores_changed_at == marked
    with time_machine.travel(now() + timedelta(minutes=1), tick=False):
        move_mark(run.pk)  # by something that was under way
        assert stale_fits("fast") == []

        thaw_runs([Run.objects.get(pk=run.pk)], by=None, reason="one more week")
    assert stale_fits("fast") == [(run, "automatic")]


def test_answers_of_the_future_are_not_new_at_every_sweep():
    """Drawn before the clock was set back, and scored since."""
    run = make_answered_run(say=by_model, models=MODELS)
    run.samples.update(drawn_at=now() + timedelta(hours=1))
    Run.objects.filter(pk=run.pk).update(scores_changed_at=now() - timedelta(minutes=1))

    assert mark_new_answers() == 0


def judged_run(**shape):
    """People prefer what the score likes least: the scribbler's drawings win against the master's."""
    run = make_answered_run(protocols=("automatic", "pairwise"), **shape)
    seat, order = make_seat(run), 0
    order_of = {name: place for place, name in enumerate(run.entrants.values_list("name", flat=True))}
    for prompt in run.prompts.all():
        valid = list(run.samples.judgeable().filter(prompt=prompt, attempt=1).select_related("prompt", "entrant"))
        for left in valid:
            for right in valid:
                if left.entrant_id < right.entrant_id:
                    worse_left = order_of[left.entrant.name] > order_of[right.entrant.name]
                    vote(run, seat, order, left, right, "left" if worse_left else "right")
                    order += 1
    rebuild_tallies(run)
    return run


def test_both_rankings_are_compared_where_people_judged(client):
    run = judged_run()

    people = fit_run(run, protocol="automatic").result["people"]

    assert people["kendall"]["value"] < -0.9
    assert people["spearman"]["low"] >= -1
    assert people["votes"] == Vote.objects.filter(run=run).count()
    assert people_sentence(people).startswith("People find the opposite order. Kendall’s τ is -0.9")
    disputed = people["drawings"]
    assert [abs(row["gap"]) for row in disputed] == sorted((abs(row["gap"]) for row in disputed), reverse=True)
    assert disputed[0]["sample"] in set(run.samples.values_list("code", flat=True))


def test_disputed_drawings_are_shown_only_after_judging(client):
    run = judged_run()
    Run.objects.filter(pk=run.pk).update(judging_state="open")
    fit = fit_run(run, protocol="automatic")
    disputed = fit.result["people"]["drawings"][0]["sample"]

    during = client.get(f"/runs/{run.code}/leaderboard/automatic/").content.decode()
    assert disputed not in during
    assert "once people have judged them and judging is closed" in during
    Run.objects.filter(pk=run.pk).update(judging_state="closed")
    assert disputed in client.get(f"/runs/{run.code}/leaderboard/automatic/").content.decode()


def test_a_drawing_is_liked_by_its_points_drawn_to_a_half():
    run = make_answered_run(say=lambda _: PERFECT, models=MODELS, protocols=("automatic", "pairwise"))
    left, right = run.samples.filter(attempt=1, prompt=run.prompts.first()).order_by("entrant_id")
    seat = make_seat(run)
    for order, outcome in enumerate(("left", "left", "tie", "fail")):
        vote(run, seat, order, left, right, outcome)

    assert liking(run) == {left.pk: ((2.5 + 1) / 6, 4), right.pk: ((0.5 + 1) / 6, 4)}


def test_the_leading_sentence_knows_ties_and_loners():
    def row(name, score, low, high, rank, rank_low):
        return {"entrant": name, "score": score, "low": low, "high": high, "rank": rank, "rank_low": rank_low}

    two = [row("a", 0.8, 0.6, 0.9, 1, 1), row("b", 0.7, 0.5, 0.8, 2, 1)]
    assert leading_sentence(two, {"a": "Anna"}) == ("Anna has the highest score, 0.80; it is not separated from b yet.")
    near = [*two, row("c", 0.6, 0.5, 0.9, 3, 1)]
    states = {
        "pairs": [{"upper": "a", "lower": "b", "state": "tied"}, {"upper": "a", "lower": "c", "state": "undecided"}]
    }
    assert leading_sentence(near, {}, states) == (
        "a has the highest score, 0.80; it is practically equal to b and not separated from c yet."
    )
    even = [row("a", 1.0, 1.0, 1.0, 1, 1), row("b", 1.0, 1.0, 1.0, 1, 1), row("c", 0.1, 0.0, 0.2, 3, 3)]
    assert leading_sentence(even, {}) == "a and b share first place with 1.00."
    assert leading_sentence(two[:1], {}) == "a is alone here, with a score of 0.80."
    assert leading_sentence([], {}) == "Nothing has been scored here yet."


@pytest.mark.parametrize("form", ["json", "md", "csv"])
def test_downloads_work(client, run, form):
    fit_run(run)

    response = client.get(f"/runs/{run.code}/leaderboard.{form}?protocol=automatic")

    assert response.status_code == 200
    assert b"demo/master" in response.content


def test_the_leaderboard_command_writes_it(run, capsys):
    call_command("leaderboard", run.code, format="md")

    assert " | demo/master | 0." in capsys.readouterr().out


def queries(client, path):
    with CaptureQueriesContext(
        connection,
    ) as caught:
        assert client.get(path).status_code == 200
    return len(caught)


def test_queries_do_not_grow_with_entrants_or_prompts(client):
    small = make_answered_run(models=MODELS, prompts=["saturn"], attempts=1)
    large = make_answered_run()
    for run in (small, large):
        fit_run(run)

    for path in ("/runs/{}/leaderboard/", "/runs/{}/gallery/"):
        for run in (small, large):  # what is read once a process is read here
            client.get(path.format(run.code))
        assert queries(client, path.format(small.code)) == queries(client, path.format(large.code)), path


def test_curators_and_judges(client):
    run = make_answered_run(published=False)
    fit_run(run)
    assert client.get(f"/runs/{run.code}/leaderboard/").status_code == 404
    client.force_login(make_judge())
    assert client.get(f"/runs/{run.code}/gallery/").status_code == 404
    client.force_login(make_curator())
    assert client.get(f"/runs/{run.code}/gallery/").status_code == 200
    assert Matchup.objects.count() == 0
