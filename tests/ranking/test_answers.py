"""Every answer counts: what a model withheld is 0 points, what was lost on the way is missing and said in the headline."""

from __future__ import annotations

import pandas as pd
import pytest

from generation.models import Run
from generation.reading.recounting import recount_run
from ranking.answers import count_answers
from ranking.competition.scores import score_competition
from ranking.fitting import fit_run
from ranking.words import missing_sentence
from tests.ranking.answered_run import make_answered_run
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run

SILENT = "demo/beginner"


def lose(run, count, *, failure="provider_error", entrant=""):
    """The first answers of an entrant, gone as if their calls had failed."""
    samples = run.samples.filter(entrant__name=entrant) if entrant else run.samples
    pks = list(samples.order_by("pk").values_list("pk", flat=True)[:count])
    cleared = {"answer": "", "drawing": "", "verdict": "", "reason": "", "drawn_at": None}
    run.samples.filter(pk__in=pks).update(state="failed", failure=failure, **cleared)
    for sample in run.samples.filter(pk__in=pks):
        sample.measurements.all().delete()


@pytest.mark.parametrize(
    ("missing", "waiting", "sentence"),
    [
        (0, 0, ""),
        (1, 0, "1 of 70 answers is missing."),
        (3, 0, "3 of 70 answers are missing."),
        (0, 5, "5 of 70 answers are still to come."),
        (2, 5, "2 of 70 answers are missing. 5 more are still to come."),
    ],
)
def test_the_sentence_says_how_many_of_how_many(missing, waiting, sentence):
    answers = {"expected": 70, "missing": missing, "waiting": waiting, "missing_by_entrant": {}}
    assert missing_sentence(answers) == sentence


@pytest.mark.django_db
def test_what_is_to_come_is_missing_once_the_run_is_paused():
    run = make_answered_run(say=lambda sample: None)
    total = run.samples.count()

    Run.objects.filter(pk=run.pk).update(drawing_state="open")
    run.refresh_from_db()
    assert (count_answers(run)["missing"], count_answers(run)["waiting"]) == (0, total)
    Run.objects.filter(pk=run.pk).update(drawing_state="paused")
    run.refresh_from_db()
    assert (count_answers(run)["missing"], count_answers(run)["waiting"]) == (total, 0)


@pytest.mark.django_db
def test_answers_of_entrants_out_of_the_competition_are_not_missing():
    run = make_answered_run()
    lose(run, 4, entrant=SILENT)
    assert count_answers(run)["missing_by_entrant"] == {SILENT: 4}

    run.entrants.filter(name=SILENT).update(disqualified="It copied.")

    assert count_answers(run)["missing"] == 0


@pytest.mark.django_db
def test_an_automatic_board_gives_silence_0_points_and_says_what_is_missing(client):
    run = make_answered_run()
    before = {row["entrant"]: row for row in fit_run(run).result["overall"]}
    lose(run, 6, failure="reasoning_only", entrant=SILENT)
    recount_run(run)

    fit = fit_run(run)

    after = {row["entrant"]: row for row in fit.result["overall"]}
    assert after[SILENT]["n"] == before[SILENT]["n"], "in the denominator"
    assert after[SILENT]["score"] < before[SILENT]["score"]
    assert after[SILENT]["valid"] <= before[SILENT]["valid"] - 5 / before[SILENT]["n"]
    assert {"entrant": SILENT, "reason": "reasoning_only", "samples": 6} in fit.result["reasons"]
    assert fit.result["answers"]["missing"] == 0

    lose(run, 8, entrant="demo/master")
    fit = fit_run(run)
    expected = run.samples.count()
    assert fit.result["answers"] == {
        "expected": expected,
        "missing": 8,
        "waiting": 0,
        "missing_by_entrant": {"demo/master": 8},
    }
    sentence = f"8 of {expected} answers are missing."
    assert sentence in " ".join(client.get(f"/runs/{run.code}/leaderboard/").content.decode().split())
    assert sentence in fit.result["run"]["md"]
    listed = client.get("/leaderboards/").content.decode()
    assert sentence in " ".join(listed.split())


@pytest.mark.django_db
def test_a_rubric_gives_silence_0_points_and_leaves_out_what_is_missing():
    run = make_graded_run()
    entrant = run.entrants.first().name
    total = {row["entrant"]: row["total"]["value"] for row in fit_run(run).result["scores"]}[entrant]
    lose(run, 1, entrant=entrant)

    (row,) = [row for row in fit_run(run).result["scores"] if row["entrant"] == entrant]
    assert row["invalid"] == 0, "lost on the way: it counts nowhere"
    assert abs(row["total"]["value"] - total) < 5
    assert "1 of 36 answers is missing." in fit_run(run).result["run"]["md"]

    run.samples.filter(state="failed").update(failure="content_filter")
    recount_run(run)
    (row,) = [row for row in fit_run(run).result["scores"] if row["entrant"] == entrant]
    assert row["invalid"] == 1
    assert row["total"]["value"] < total - 1


@pytest.mark.django_db
def test_a_pairwise_board_counts_silence_in_the_valid_rate():
    run = make_voted_run()
    name = run.entrants.first().name
    lose(run, 2, failure="content_filter", entrant=name)
    recount_run(run)
    lose(run, 1, entrant=run.entrants.last().name)

    fit = fit_run(run)

    assert fit.result["samples"][name]["valid_rate"] == 1 - 2 / fit.result["samples"][name]["samples"]
    assert fit.result["answers"]["missing"] == 1
    assert "1 of 32 answers is missing." in fit.result["run"]["md"]


def test_a_missing_trial_shortens_its_letter_and_a_fallen_level_counts_0():
    rows = [
        (program, "m", letter, trial, 1.0, 0.5, 0.5)
        for program in ("one", "two")
        for letter in ("A", "B")
        for trial in (1, 2)
    ]
    columns = ["program", "model", "target", "trial", "stability", "similarity", "diversity"]
    whole = pd.DataFrame(rows, columns=columns)
    cut = whole.drop(index=0)
    even = score_competition(whole, count=2).programs.set_index("program")["normalised"]
    fallen = score_competition(cut, count=2).programs.set_index("program")["normalised"]
    missing = score_competition(cut, count=2, lost={("one", "m", "A"): 1}).programs.set_index("program")["normalised"]

    assert even["one"] == even["two"] == 50
    assert fallen["one"] < 50
    assert missing["one"] == pytest.approx(50)


def test_a_letter_without_any_answer_has_its_programs_mean():
    rows = [("one", "m", letter, 1, 1.0, 0.5, 0.5) for letter in "AB"] + [("two", "m", "A", 1, 1.0, 0.5, 0.5)]
    columns = ["program", "model", "target", "trial", "stability", "similarity", "diversity"]
    scored = score_competition(pd.DataFrame(rows, columns=columns), count=1, lost={("two", "m", "B"): 1})

    assert scored.programs.set_index("program")["normalised"].to_dict() == pytest.approx({"one": 50, "two": 50})
