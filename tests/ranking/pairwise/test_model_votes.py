"""`analyse` with a file of model judges' answers: never mixed with people's votes, and refused where a line is wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.core.management import CommandError

from benchmarks.numbers.model_worlds import SimulatedModel, simulate_judged
from benchmarks.numbers.worlds import BASE
from ranking.pairwise.model_judges.document import ModelJudgesResult
from ranking.pairwise.model_judges.sentences import FEWEST, few_sentence
from ranking.statistics.votes import OUTCOMES
from tests.judging.model_judges.test_importing import arena_lines
from tests.ranking.pairwise.test_analyse import analyse
from tests.ranking.pairwise.vote_lines import write_lines
from tests.ranking.typed import misfits


def lines(votes, **more):
    return [
        {
            "judge": votes.judges[votes.judge[i]],
            "prompt_text": votes.prompts[votes.prompt[i]],
            "left_model": votes.entrants[votes.left[i]],
            "right_model": votes.entrants[votes.right[i]],
            "left_attempt": int(votes.left_attempt[i]),
            "right_attempt": int(votes.right_attempt[i]),
            ("answer" if more else "outcome"): OUTCOMES[votes.outcome[i]],
            **more,
        }
        for i in range(len(votes))
    ]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    judged = simulate_judged(replace(BASE, votes=300), (SimulatedModel(0.85),), seed=2, times=4)
    answers = lines(judged.models, model="acme/seer-1", version=2, cost_nano=1000, reason="Neater.", simulated=True)
    answers[0] |= {"answer": None, "reason": "", "unreadable": "no JSON"}
    return (
        write_lines(folder / "votes.jsonl", lines(judged.people)),
        write_lines(folder / "model_votes.jsonl", answers),
    )


def test_model_votes_are_held_against_people_and_change_no_rating(files):
    votes, models = files
    alone, beside = json.loads(analyse(votes)), json.loads(analyse(votes, "--model-votes", models))

    study = beside.pop("model_judges")
    assert beside == alone
    assert misfits(study, ModelJudgesResult) == []
    (judge,) = study["judges"]
    assert (judge["judge"], judge["model"], judge["version"]) == ("model-judge-0", "acme/seer-1", 2)
    assert (judge["simulated"], judge["unreadable"], judge["cost_each_nano"]) == (True, 1, 1000)
    assert judge["agreement"]["decided"]["low"] < 0.85 < judge["agreement"]["decided"]["high"]
    assert judge["worst"][0]["reasons"] == ["Neater.", "Neater."]
    assert study["corrected"]["saved"] > 0
    widths = [
        sum(row["high"] - row["low"] for row in table) for table in (study["corrected"]["overall"], alone["overall"])
    ]
    assert widths[0] < widths[1]


def test_answers_without_attempts_are_about_votes_without_them(tmp_path):
    votes, answers, agreed = arena_lines()
    paths = [write_lines(tmp_path / name, rows) for name, rows in (("v.jsonl", votes), ("m.jsonl", answers))]

    (judge,) = json.loads(analyse(paths[0], "--model-votes", paths[1]))["model_judges"]["judges"]

    assert judge["agreement"]["votes"] == len(votes)
    assert judge["agreement"]["raw"]["value"] == pytest.approx(agreed, abs=1e-4)


def test_the_markdown_has_a_section_that_says_who_is_simulated(files):
    votes, models = files
    text = analyse(votes, "--model-votes", models, "--format", "md")
    assert "## Model judges" in text
    assert "model-judge-0 (simulated)" in text
    assert "human votes, the model judges are worth" in text


def test_figures_that_rest_on_next_to_nothing_are_not_shown(tmp_path):
    judged = simulate_judged(replace(BASE, votes=20), (SimulatedModel(0.85),), seed=2, times=4)
    votes = write_lines(tmp_path / "votes.jsonl", lines(judged.people))
    models = write_lines(tmp_path / "model_votes.jsonl", lines(judged.models, model="acme/seer-1"))

    text = analyse(votes, "--model-votes", models, "--format", "md")
    (judge,) = json.loads(analyse(votes, "--model-votes", models))["model_judges"]["judges"]

    assert "too few yet | too few yet | too few yet | too few yet | too few yet" in text
    assert few_sentence(judge).startswith("Too few yet: people cast 17 votes on pairs it also judged.")
    assert few_sentence({"agreement": {"votes": FEWEST}}) == ""


def test_a_file_of_model_votes_is_never_taken_for_peoples(files):
    with pytest.raises(CommandError, match="outcome: is missing: this is a model judge's answer"):
        analyse(files[1])
    with pytest.raises(CommandError, match=r"votes\.jsonl:1: .*this is a person's vote"):
        analyse(files[0], "--model-votes", files[0])


GOOD = {
    "judge": "seer",
    "model": "acme/seer",
    "left_model": "a",
    "right_model": "b",
    "prompt_text": "A cat",
    "answer": "left",
}


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (
            [{**GOOD, "answer": "maybe"}],
            "bad.jsonl:1: answer must be null or one of left, right, tie, fail, not 'maybe'.",
        ),
        ([GOOD, {**GOOD, "right_model": "a"}], "bad.jsonl:2: right_model 'a' cannot be compared with itself."),
        ([GOOD, GOOD], "bad.jsonl:2: this judge answered on these drawings in this order in line 1."),
        (
            [GOOD, {**GOOD, "right_model": "c", "version": 2}],
            "bad.jsonl:2: the judge 'seer' has another model or version",
        ),
        ([{**GOOD, "cost_nano": -1}], "bad.jsonl:1: cost_nano must be whole nano-dollars"),
        ([{**GOOD, "reason": "x" * 2001}], "bad.jsonl:1: reason is longer than 2000 characters."),
        (["[1]"], "bad.jsonl:1: the line is a list, not a JSON object."),
        ([], "bad.jsonl: it contains no model votes."),
    ],
)
def test_a_bad_line_is_named(files, tmp_path, rows, fault):
    with pytest.raises(CommandError) as error:
        analyse(files[0], "--model-votes", write_lines(tmp_path / "bad.jsonl", rows))
    assert fault in str(error.value)
