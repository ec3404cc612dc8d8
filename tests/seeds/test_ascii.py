"""Seed 001, sentence by sentence: each test is named by what the specification says."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from generation.files.export_samples import sample_lines
from generation.formats import get_format
from generation.formats.base import Answer
from generation.models import Run
from generation.reading.measuring import measure_run
from generation.suites.loading import load_suite
from generation.suites.uploads import read_suite
from generation.suites.yaml_source import SuiteError
from judging.pairs.serving import take_seat
from ranking.fitting import fit_run
from ranking.simulated.judges import simulate_judges
from tests.judging.make import NAMES, make_run, make_seat

TEMPLATES = {
    "single_object": r"Draw a [\w ]+ in ASCII art",
    "single_animal": r"Draw a [\w ]+ in ASCII art",
    "animal_action": r"Draw a [\w ]+ \w+ing[\w ]* in ASCII art",
    "spatial": r"Draw a [\w ]+ (on|under|next|behind|in|to|far)[\w ]* a [\w ]+ in ASCII art",
}
HERE = Path(__file__).parent
SEED = ("config.yaml", "models.yaml")
MODELS = ["openai/gpt-4o", "anthropic/claude-3.5-sonnet", "meta-llama/llama-3.1-70b-instruct"]


@pytest.fixture
def folder(tmp_path, settings):
    """A folder with the specification's two files and nothing else, beside the suites that ship."""
    settings.SUITES_DIR = tmp_path / "config"
    shutil.copytree(django_settings.BASE_DIR / "config", settings.SUITES_DIR)
    folder = settings.SUITES_DIR / "my-ascii"
    folder.mkdir()
    for name in SEED:
        shutil.copy(HERE / name, folder / name)
    return folder


def check(suite):
    assert [model.id for model in suite.models] == MODELS
    assert (suite.generation.attempts_per_prompt, suite.generation.max_tokens) == (5, 1000)
    assert suite.generation.system_prompt.startswith("Draw the requested ASCII art. \nWrap your art")
    assert (suite.title, suite.format, suite.protocols) == ("My ascii", "ascii_art", ("pairwise",))


def test_models_yaml_is_a_list_of_openrouter_model_identifiers(folder):
    check(load_suite(folder))


def test_the_generator_expands_templates_into_40_unique_prompts(folder):
    suite = load_suite(folder)

    assert len({prompt.text for prompt in suite.prompts}) == 40
    assert Counter(prompt.category for prompt in suite.prompts) == dict.fromkeys(TEMPLATES, 10)


@pytest.mark.parametrize("category", TEMPLATES)
def test_each_category_has_its_template(category):
    suite = load_suite(django_settings.BASE_DIR / "config" / "ascii")

    texts = [prompt.text for prompt in suite.prompts if prompt.category == category]
    assert all(re.fullmatch(TEMPLATES[category], text) for text in texts), texts


def test_config_yaml_and_models_yaml_load_as_they_are_sent_to_the_website(folder):
    sent = [SimpleUploadedFile(name, (HERE / name).read_bytes()) for name in SEED]

    check(read_suite(sent, name="my-ascii"))


def test_config_yaml_and_models_yaml_load_on_the_command_line(folder, capsys):
    call_command("suites", root=folder.parent)

    assert "my-ascii" in capsys.readouterr().out


@pytest.mark.django_db
def test_for_every_model_it_calls_the_api_5_times_per_prompt(folder, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-test")

    call_command("start_run", "my-ascii", "--no-draw", "--budget", "1")

    assert Run.objects.get(suite="my-ascii").samples.count() == 3 * 40 * 5


def test_all_missing_keys_are_reported_at_once(folder):
    (folder / "config.yaml").write_text("generation:\n  provider: openrouter\n")

    with pytest.raises(SuiteError, match="'attempts_per_prompt', 'temperature' and 'max_tokens' are missing"):
        load_suite(folder)


def test_a_folder_that_says_what_it_is_brings_its_own_prompts(folder):
    block = "suite: {title: A, description: B, method: C, format: ascii_art, protocols: [pairwise], seed: 1}\n"
    (folder / "config.yaml").write_text((HERE / "config.yaml").read_text() + block)

    with pytest.raises(SuiteError, match=r"prompts\.yaml"):
        load_suite(folder)


@pytest.mark.django_db
def test_each_entry_of_database_jsonl_contains_the_fields_and_is_flagged_as_invalid_or_not():
    run = make_run()
    sample = run.samples.first()
    run.samples.filter(pk=sample.pk).update(verdict="invalid", drawing="", reason="no_code_block")

    lines = [json.loads(line) for line in sample_lines(run)]

    fields = {"model_id", "prompt_text", "category", "attempt_number", "raw_output", "sanitized_output"}
    assert all(fields < line.keys() for line in lines)
    assert sum(line["invalid"] for line in lines) == 1
    assert all(line["invalid"] is not line["valid"] for line in lines)


@pytest.mark.parametrize(
    ("answer", "valid"),
    [
        (Answer("```\n/\\\n```", completion_tokens=1000, max_tokens=1000), True),
        (Answer("```\n/\\\n```", completion_tokens=1001, max_tokens=1000), False),
        (Answer("```\n" + "o o o o\n" * 300 + "```", max_tokens=1000), False),  # also where the provider sends no count
        (Answer("/\\"), False),
    ],
)
def test_if_an_output_exceeds_1000_tokens_or_lacks_a_markdown_block_it_is_invalid(answer, valid):
    assert get_format("ascii_art").extract(answer).valid is valid


def test_art_that_breaks_in_one_font_is_told_from_art_that_looks_good_in_all_3():
    measure = get_format("ascii_art").measure

    good, breaks = (
        measure(text, Answer(""), backend="builtin")["robustness"] for text in ("o o\n v\n===", "^^^\n***\n```")
    )

    assert good > 0.7 > 0.1 > breaks


@pytest.mark.django_db
def test_visual_robustness_is_one_number_on_the_site_and_from_database_jsonl(tmp_path):
    run = make_run(prompts=3)
    for number, sample in enumerate(run.samples.order_by("pk")):
        run.samples.filter(pk=sample.pk).update(drawing="/\\^o\n`*T|_"[number % 5 :] + "\n(o)")
    measure_run(run)
    simulate_judges(run, judges=2, votes=20)
    call_command("export", "votes", run.code, out=tmp_path / "votes.jsonl")
    call_command("export", "samples", run.code, out=tmp_path / "database.jsonl")
    lines = [json.loads(line) | {"measures": None} for line in (tmp_path / "database.jsonl").read_text().splitlines()]
    bare = [{key: value for key, value in line.items() if value is not None} for line in lines]
    (tmp_path / "database.jsonl").write_text("\n".join(map(json.dumps, bare)))
    out = StringIO()
    files = [str(tmp_path / "votes.jsonl"), "--samples", str(tmp_path / "database.jsonl")]
    call_command("analyse", *files, "--format", "json", stdout=out)

    site, file = fit_run(run).result["samples"], json.loads(out.getvalue())["samples"]

    assert {name: row["robustness"] for name, row in file.items()} == {
        name: row["robustness"] for name, row in site.items()
    }
    assert len({row["robustness"] for row in site.values()}) == len(site) == 3


def test_a_temperature_can_be_left_to_the_providers_default(folder):
    text = (HERE / "config.yaml").read_text().replace("temperature: 0.0", "temperature: null")
    (folder / "config.yaml").write_text(text)

    assert load_suite(folder).generation.temperature is None


@pytest.fixture
def judge_page(client, db):
    """The page of a judge who has a pair before them."""
    seat = make_seat(make_run())
    take_seat(seat.pk)
    client.force_login(seat.judge)
    return client.get(reverse("judging:judge", args=[seat.run.code])).text


def test_the_web_ui_presents_a_random_1v1_matchup(db):
    run = make_run(prompts=6)
    pairs = [take_seat(make_seat(run, name).pk).current for name in ("ann", "ben", "cat", "dan")]

    assert all(pair.left_sample.prompt_id == pair.right_sample.prompt_id for pair in pairs)
    assert all(pair.left_id != pair.right_id for pair in pairs)
    assert len({(pair.left_sample_id, pair.right_sample_id) for pair in pairs}) > 1


def test_double_blind_model_names_are_hidden(judge_page):
    assert "Draw thing" in judge_page
    assert not [name for name in NAMES if name in judge_page]


def test_each_candidate_is_rendered_three_times_in_a_vertical_stack_using_different_font_families(judge_page):
    sides = re.findall(r'<section class="half".*?</section>', judge_page, re.DOTALL)
    families = (django_settings.BASE_DIR / "static" / "css" / "fonts.css").read_text()

    assert 'class="pair stack ' in judge_page
    assert [re.findall(r"art font-(\d)", side) for side in sides] == [["1", "2", "3"]] * 2
    assert re.findall(r'--art-font-\d: "([\w ]+)"', families) == ["Courier New", "Consolas", "Fira Code"]


def test_judge_input_a_left_d_right_s_tie_f_fail(judge_page):
    keys = re.findall(r'name="outcome" value="(\w+)"[^>]* aria-keyshortcuts="(\w)"', judge_page)

    assert {key: outcome for outcome, key in keys} == {"A": "left", "S": "tie", "D": "right", "F": "fail"}


@pytest.fixture
def leaderboard_md(tmp_path, db):
    """What the analyst makes of the judgments that were saved."""
    run = make_run(attempts=5)
    simulate_judges(run, judges=4, votes=120)
    call_command("export", "votes", run.code, out=tmp_path / "votes.jsonl")
    out = StringIO()
    call_command("analyse", str(tmp_path / "votes.jsonl"), "--format", "md", stdout=out)
    return out.getvalue()


def test_judgments_are_saved_to_votes_jsonl_and_the_analyst_generates_leaderboard_md_of_them(leaderboard_md):
    parts = re.findall("^## (.*)", leaderboard_md, re.MULTILINE)

    assert [part for part in parts if part in {"Overall Elo", "Category-specific Elo", "Consistency score"}] == [
        "Overall Elo",
        "Category-specific Elo",
        "Consistency score",
    ]
    assert {"### animal", "### object"} <= {line.lower() for line in leaderboard_md.splitlines()}


def test_it_applies_the_bradley_terry_model(leaderboard_md):
    assert "Bradley-Terry ratings on the Elo scale" in leaderboard_md


def test_the_consistency_score_is_the_variance_across_the_5_attempts(leaderboard_md):
    consistency = leaderboard_md.split("## Consistency score")[1].split("\n## ")[0]

    assert "variance" in consistency.lower()
    assert len(re.findall(r"^\| *\w", consistency, re.MULTILINE)) > 3


def test_a_stable_elo_ranking_has_a_95_percent_confidence_interval(leaderboard_md):
    overall = leaderboard_md.split("## Overall Elo")[1].split("\n## ")[0]

    assert "95%" in overall.split("\n|")[1]
    assert len(re.findall(r"^\| *\d", overall, re.MULTILINE)) == 3
