"""Seed 003, sentence by sentence: each test is named by what the evaluation rules say. The formulas are checked number by
number in tests/ranking/competition/test_scores.py."""

from __future__ import annotations

import asyncio
import json
import re
import string

import numpy as np
import pandas as pd
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from generation.drawing import crew
from generation.files.import_programs import import_programs
from generation.files.import_samples import import_samples
from generation.formats import get_format
from generation.formats.base import Answer
from generation.formats.science_birds.physics import SECONDS, settle
from generation.formats.science_birds.similarity import LETTERS, classify, draw_ink, rectangles
from generation.models import Entrant
from generation.runs.curating import approve_entrants, disqualify_entrants
from generation.runs.lifecycle import start_run
from generation.suites.loading import load_suite
from generation.suites.suite import ProgramEntry
from ranking.competition.policy import apply_policy
from ranking.competition.scores import diversity, score_competition
from ranking.fitting import fit_run
from tests.generation.formats.science_birds.birds import STANDING, answer, code, level
from tests.judging.make import make_curator
from tests.services import bubblewrap

FORM = get_format("science_birds")


@pytest.fixture(scope="module")
def suite():
    return load_suite(django_settings.BASE_DIR / "config" / "science-birds")


def test_10_trials_for_each_of_the_26_uppercase_letters_on_three_models(suite):
    assert suite.generation.attempts_per_prompt == 10
    assert [prompt.facts["target"] for prompt in suite.prompts] == list(string.ascii_uppercase)
    assert len(suite.models) == 3
    assert {model.provider for model in suite.models} <= {"", "ollama"}


@pytest.mark.django_db
def test_the_number_of_trials_and_characters_may_be_adjusted_for_midterm_and_final(suite):
    midterm = start_run(suite, demo=True, draw=False, label="midterm", attempts=2, prompts=["A", "B"])
    final = start_run(suite, demo=True, draw=False, label="final", attempts=3, prompts=["A", "B", "C"])

    assert [run.samples.count() for run in (midterm, final)] == [3 * 3 * 2 * 2, 3 * 3 * 3 * 3]


def test_a_new_file_contains_only_a_series_of_drop_block_commands():
    text = "Sure!\n```python\nimport os\nfor i in x: drop_block('b13', 4)  # left\ndrop_block('b31', 5)\n```"

    assert FORM.extract(Answer(text)).drawing == "drop_block('b13', 4)\ndrop_block('b31', 5)"


def test_each_code_file_becomes_a_level_description_xml_file():
    xml = FORM.xml(code(STANDING["T"]))

    assert xml.startswith("<?xml")
    assert xml.count("<Block ") == 4


def test_stability_is_the_share_of_blocks_that_did_not_move_in_the_first_10_seconds():
    fallen = settle(level("5*b11 4, b31 5"))

    assert SECONDS == 10
    assert fallen.stability == (6 - fallen.moved) / 6 < 1
    assert settle(level(STANDING["T"])).stability == 1


def test_similarity_is_the_softmax_probability_of_the_target_character():
    asked = answer(code(STANDING["T"]), "T")
    vector = classify(*settled_blocks("T"))

    measured = FORM.measure(FORM.extract(asked).drawing, asked, backend="glyphs")

    assert measured["similarity"] == vector[LETTERS.index("T")]
    assert vector.sum() == pytest.approx(1)


def test_images_have_black_textured_blocks_on_a_white_background():
    ink = draw_ink(rectangles(*settled_blocks("T")), side=64)

    assert ink[0].max() == ink[:, 0].max() == 0  # the background is white
    assert ink[10, 32] == ink[50, 32] == 1  # blocks are black through and through


def test_a_bad_call_loses_its_block_or_its_level_as_the_reference_does():
    other = FORM.extract(Answer("```\ndrop_block('b22', 4)\ndrop_block('b11', 4)\n```"))
    outside = FORM.extract(Answer("```\ndrop_block('b31', 19)\ndrop_block('b11', 4)\n```"))

    assert other.drawing == "drop_block('b11', 4)"
    assert (outside.drawing, outside.reason) == (None, "bad_position")


def test_diversity_averages_the_cosine_distance_of_all_unordered_pairs_over_t():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])

    assert diversity(vectors, count=3) == pytest.approx((1 + 0 + 1) / (0.5 * 3 * 4 - 3))
    assert diversity(vectors[:2], count=3) == pytest.approx(1 / 3)  # T is the configured number of trials


def test_a_higher_weight_goes_to_a_more_difficult_character_and_is_at_least_1_over_c():
    x, y = (1.0, 0.0), (0.0, 1.0)
    rows = [("a", "m", "A", 1, 1.0, 0.9, x), ("a", "m", "A", 2, 1.0, 0.7, y)]
    rows += [("a", "m", "B", 1, 0.5, 0.2, x), ("a", "m", "B", 2, 0.0, 0.0, x)]

    weights = score_competition(trials(rows), count=2).weights.set_index("target")["weight"]

    assert weights["A"] == pytest.approx(max(1 - 2 / 2, 1 / 2) * max(1 - 1.6 / 2, 1 / 2) * max(1 - 1, 1 / 2))
    assert weights["B"] == pytest.approx((1 - 0.5 / 2) * (1 - 0.2 / 2) * (1 - 0))
    assert weights["B"] > weights["A"]


def test_trial_char_and_prompt_scores_follow_the_formulas():
    x, y = (1.0, 0.0), (0.0, 1.0)
    rows = [("a", "m", "A", 1, 0.8, 0.5, x), ("a", "m", "A", 2, 0.4, 0.3, y)]
    scored = score_competition(trials(rows), count=2, targets=["A", "B"])
    (weight,) = scored.weights.query("target == 'A'")["weight"]

    trial = [weight * 0.8 * 0.5, weight * 0.4 * 0.3]
    char = 1.0 * sum(trial) / 2  # diversity of the one pair is 1
    assert scored.programs["total"][0] == pytest.approx((char + 0) / 2)


def trials(rows) -> pd.DataFrame:
    columns = ["program", "model", "target", "trial", "stability", "similarity", "vector"]
    return pd.DataFrame(rows, columns=columns)


def test_scores_are_summed_over_the_models_before_normalisation():
    x, y = (1.0, 0.0), (0.0, 1.0)
    rows = [
        (program, model, "A", trial, 1.0, similarity, vector)
        for program, similarity in (("a", 0.6), ("b", 0.2))
        for model in ("m1", "m2", "m3")
        for trial, vector in ((1, x), (2, y))
    ]

    scored = score_competition(trials(rows), count=2).programs.set_index("program")

    totals = scored["total"]
    assert totals["a"] == pytest.approx(3 * totals["b"])
    assert scored["normalised"].tolist() == pytest.approx((100 * totals / totals.sum()).tolist())


def settled_blocks(letter):
    settled = settle(level(STANDING[letter]))
    return settled.blocks, settled.final


def entry(program, normalised, length=10, **more):
    return {"program": program, "normalised": normalised, "prompt_length": length, "baseline": False} | {
        "disqualified": "",
        **more,
    }


def test_the_scoring_and_ranking_script_loads_all_results_and_produces_the_final_rank(tmp_path, capsys):
    rows = [
        f"{program},{model},A,{trial},1,{similarity},0.5"
        for program, similarity in (("zero-shot", 0.2), ("a", 0.6))
        for model in ("m1", "m2", "m3")
        for trial in (1, 2)
    ]
    path = tmp_path / "trials.csv"
    path.write_text("\n".join(["program,model,target,trial,stability,similarity,diversity", *rows]))

    call_command("analyse", str(path), "--suite", "science-birds", "--format", "md")

    table = [line.split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("| 1 ")]
    assert (table[0][2].strip(), table[0][3].strip()) == ("a", "75.00")
    assert re.search("[1-9]", table[0][5]), "the total column has digits"


def test_the_winner_has_the_highest_score_and_overcomes_the_zero_shot_baseline():
    ranked = apply_policy([entry("zero-shot", 40.0, baseline=True), entry("a", 50.0), entry("b", 10.0)])

    assert [row["program"] for row in ranked if row["winner"]] == ["a"]
    beaten = apply_policy([entry("zero-shot", 60.0, baseline=True), entry("a", 40.0)])
    assert not any(row["winner"] for row in beaten)


def test_of_the_same_highest_scores_the_shortest_prompt_wins_and_equal_ones_are_co_winners():
    ranked = apply_policy([entry("long", 50.0, 900), entry("short", 50.0, 20)])
    shared = apply_policy([entry("one", 50.0, 20), entry("two", 50.0, 20)])

    assert [row["program"] for row in ranked if row["winner"]] == ["short"]
    assert [row["program"] for row in shared if row["winner"]] == ["one", "two"]


@pytest.mark.django_db
def test_each_submitted_program_is_inspected_before_it_runs(suite):
    run = start_run(suite, demo=True, draw=False, prompts=["A"])
    import_programs(run, [ProgramEntry("team", "Alice", ("Build {{target}}.",))])
    program = Entrant.objects.filter(run=run, name="team")

    assert not program.get().samples.exclude(state="cancelled").exists()
    disqualify_entrants(program, by=make_curator(), reason="It has the levels in it.")
    assert program.get().disqualified == "It has the levels in it."


BETTER_OF_TWO = """
def run(target, ask):
    drafts = [ask(f"Build the letter {target} with drop_block calls, stable, variant {n}.") for n in (1, 2)]
    return max(drafts, key=lambda text: text.count("drop_block"))
"""


@pytest.mark.django_db(transaction=True)
def test_programs_with_fixed_turns_in_python_and_run_elsewhere_compete(suite, demo, settings):
    bubblewrap()
    settings.PYTHON_PROGRAMS = True
    demo(faults=0)
    curator = make_curator()
    run = start_run(suite, demo=True, draw=True, prompts=["A", "B"], attempts=2, label="all-kinds")
    elsewhere = ProgramEntry("searcher", "Bob", (), source="best = max(branches, key=score)")
    here = ProgramEntry("better-of-two", "Alice", (), python=BETTER_OF_TWO)
    import_programs(run, [elsewhere, here])
    approve_entrants(Entrant.objects.filter(run=run, approved=False), by=curator, reason="Read both.")
    lines = [
        {"model_id": model.model_id, "program": "searcher", "prompt_text": prompt.text, "attempt_number": attempt}
        | {"raw_output": f"```\n{code(STANDING['H'])}\n```"}
        for model in run.models.all()
        for prompt in run.prompts.all()
        for attempt in (1, 2)
    ]
    import_samples([json.dumps(line).encode() for line in lines], run=run)

    asyncio.run(crew.draw(run_id=run.pk, patience=2.0))
    result = fit_run(run).result

    assert {row["entrant"] for row in result["overall"]} == {
        "zero-shot",
        "rows-first",
        "draft-and-check",
        "searcher",
        "better-of-two",
    }
    assert sum(row["score"] for row in result["overall"]) == pytest.approx(100)
    drawn = run.samples.filter(entrant__name="better-of-two", state="drawn")
    assert (drawn.count(), drawn.filter(verdict="valid").exists()) == (12, True)
    assert run.samples.filter(entrant__name="searcher", imported=True).count() == 12
