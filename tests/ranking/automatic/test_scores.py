"""Automatic scores of a run, worked out by hand, and the same from a bare file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from benchsite.lib.file_errors import FileError
from generation.formats.pixel_art import FORMAT
from generation.formats.pixel_art.grid import WEIGHTS
from generation.suites.loading import load_suite
from ranking.automatic import scores as automatic
from ranking.automatic.scores import analyse_file
from ranking.statistics.ratings.intervals import clustered_mean

SUITE = load_suite(Path(__file__).resolve().parents[3] / "config" / "pixel-art-lite")
ROW = [0, 1, 2, 3, 4, 5, 6, 7] * 3
PERFECT = json.dumps({"grid": [ROW] * 24, "palette": ["red"]})


def make_samples(scores: dict[str, list[list[float]]]) -> pd.DataFrame:
    """Model -> a list of attempts' scores for each prompt p0, p1, …; even prompts are of category x."""
    return pd.DataFrame(
        {"model": model, "prompt": f"p{p}", "category": "xy"[p % 2], "attempt": a + 1, "score": score}
        | {"json": 1.0, "render": score, "quality": score, "stage": "whole", "reason": ""}
        for model, prompts in scores.items()
        for p, attempts in enumerate(prompts)
        for a, score in enumerate(attempts)
    )


def score_samples(samples):
    return automatic.score_samples(samples, form=FORMAT)


def score_answers(answers):
    return automatic.score_answers(answers, form=FORMAT)


def test_it_works():
    scores = score_samples(make_samples({"worse": [[0.2, 0.4], [0.3, 0.3]], "better": [[0.9, 0.9], [0.8, 0.8]]}))

    assert scores.models["model"].tolist() == ["better", "worse"]
    assert scores.models["rank"].tolist() == [1, 2]
    assert scores.models["score"].tolist() == [pytest.approx(0.85), pytest.approx(0.3)]


def test_clustered_mean_is_a_t_interval_of_prompt_means():
    # Prompt means 0.6, 0.5, 0.4: standard error 0.1/√3, t(2) = 4.302653.
    mean, low, high = clustered_mean(np.array([0.6, 0.6, 0.5, 0.5, 0.4, 0.4]), np.array(list("aabbcc")))

    assert (mean, low, high) == (
        pytest.approx(0.5),
        pytest.approx(0.251586, abs=1e-6),
        pytest.approx(0.748414, abs=1e-6),
    )


def test_clustered_mean_of_one_prompt_has_no_interval():
    mean, low, high = clustered_mean(np.array([0.4, 0.6]), np.array(["a", "a"]))

    assert mean == pytest.approx(0.5)
    assert np.isnan(low)
    assert np.isnan(high)


def test_clustered_mean_covers_at_its_level():
    rng = np.random.default_rng(1)
    prompts = np.repeat(np.arange(7), 5)
    hits = 0
    for _ in range(2_000):
        effects = rng.normal(0, 0.08, 7)
        _, low, high = clustered_mean(0.5 + effects[prompts] + rng.normal(0, 0.05, 35), prompts)
        hits += low <= 0.5 <= high

    assert 0.935 < hits / 2_000 < 0.965


@pytest.mark.parametrize(("prompts", "score"), [(2, 1.0), (10, 1.0), (35, 1.0), (35, 0.0), (35, 0.6)])
def test_prompts_that_score_alike_leave_an_interval_with_a_width(prompts, score):
    mean, low, high = clustered_mean(np.full(prompts, score), np.arange(prompts))

    # So many prompts would all be alike in 1 of 40 studies if this share of all prompts were not.
    unlike = 1 - 0.025 ** (1 / prompts)
    assert (mean, low) == (pytest.approx(score), pytest.approx(score * (1 - unlike)))
    assert high == pytest.approx(score + (1 - score) * unlike)


def test_one_prompt_unlike_the_others_does_not_make_the_interval_short():
    alike, one = (clustered_mean(np.r_[np.ones(34), last], np.arange(35)) for last in (1.0, 0.999))

    assert one[2] == 1
    assert one[1] < 0.93 < alike[0]


def test_the_mean_of_scores_at_the_upper_end_is_covered():
    rng = np.random.default_rng(2)
    for share in (0.9, 0.97, 0.995):
        studies = [clustered_mean((rng.random(35) < share) * 1.0, np.arange(35)) for _ in range(500)]
        assert np.mean([low <= share <= high for _, low, high in studies]) > 0.93
        assert min(high - low for _, low, high in studies) > 0.05


def test_models_that_are_not_separated_share_a_range_of_ranks():
    scores = score_samples(
        make_samples({"a": [[0.9], [0.88], [0.92]], "b": [[0.89], [0.9], [0.9]], "c": [[0.1], [0.12], [0.1]]})
    )

    assert scores.models["rank"].tolist() == [1, 2, 3]
    assert scores.models["rank_low"].tolist() == [1, 1, 3]
    assert scores.models["rank_high"].tolist() == [2, 2, 3]
    assert [pair["state"] for pair in scores.verdicts["pairs"]] == ["undecided", "ahead", "ahead"]


def test_categories_are_scored_on_their_own_prompts():
    scores = score_samples(make_samples({"a": [[0.9], [0.1], [0.7]]}))

    assert scores.categories[["category", "score", "prompts"]].to_dict("records") == [
        {"category": "x", "score": pytest.approx(0.8), "prompts": 2},
        {"category": "y", "score": pytest.approx(0.1), "prompts": 1},
    ]


def test_consistency_is_the_variance_across_attempts():
    # Within-prompt variances 0.02 and 0; the distance between prompts does not matter.
    scores = score_samples(make_samples({"a": [[0.2, 0.4], [0.9, 0.9]]}))

    assert scores.models["variance"].tolist() == [pytest.approx(0.01)]


def test_stages_and_reasons_are_counted():
    answers = [PERFECT, f"```\n{PERFECT}\n```", "no", '{"a": 1}']
    frame = score_answers(
        {"model": "m", "prompt": "sun", "category": "nature", "attempt": n, "raw_output": text}
        for n, text in enumerate(answers)
    )
    scores = score_samples(frame)

    assert frame["score"].tolist() == [1.0, 1.0, 0.0, pytest.approx(0.4)]
    assert scores.stages[["stage", "samples"]].values.tolist() == [["whole", 2], ["fence", 1], ["none", 1]]
    assert scores.reasons[["reason", "samples"]].values.tolist() == [["no_grid", 1], ["no_json", 1]]
    assert scores.models["valid"].tolist() == [0.5]


def test_weighted_parts_add_up_to_the_score():
    frame = score_answers(
        {
            "model": "m",
            "prompt": "sun",
            "category": "nature",
            "attempt": n,
            "raw_output": PERFECT.replace("0, ", "", 9 * n),
        }
        for n in range(5)
    )
    best = score_samples(frame).models.iloc[0]

    assert best["score"] < 1
    assert sum(weight * best[part] for part, weight in WEIGHTS.items()) == pytest.approx(best["score"])


def test_no_samples_are_refused():
    with pytest.raises(ValueError, match="no samples"):
        score_samples(pd.DataFrame())


def write(path: Path, rows: list) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n", encoding="utf-8"
    )
    return path


def line(model: str = "m", prompt: int = 0, attempt: int = 1, output: str | None = PERFECT, **more) -> dict:
    text = SUITE.prompts[prompt].text
    return {"model_id": model, "prompt_text": text, "attempt_number": attempt, "raw_output": output, **more}


def test_analyse_file_needs_four_fields_only(tmp_path):
    path = write(tmp_path / "samples.jsonl", [line("good"), line("good", 1), line("bad", output=None), line("bad", 1)])

    data = json.loads(analyse_file(path, suite=SUITE, out_format="json"))

    assert [(row["model"], row["score"]) for row in data["models"]] == [("good", 1.0), ("bad", 0.5)]
    assert {row["category"] for row in data["categories"]} == {"character", "nature"}
    assert data["reasons"] == [{"model": "bad", "reason": "no_content", "samples": 1}]


def test_a_log_of_inspect_ai_scores_like_the_same_answers(tmp_path):
    answers = [PERFECT, "no drawing"]
    drawn = [{"choices": [{"message": {"content": text}, "stop_reason": "stop"}]} for text in answers]
    samples = [
        {"epoch": n, "input": SUITE.prompts[0].text, "output": output} for n, output in enumerate(drawn, start=1)
    ]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"eval": {"model": "good"}, "samples": samples}))
    lines = [{**line("good", 0, n, text), "finish_reason": "stop"} for n, text in enumerate(answers, start=1)]

    assert analyse_file(log, suite=SUITE) == analyse_file(write(tmp_path / "samples.jsonl", lines), suite=SUITE)

    samples[1]["output"] = {"choices": []}
    log.write_text(json.dumps({"eval": {"model": "good"}, "samples": samples}))
    with pytest.raises(FileError, match=r"log\.json:2: output has no answer"):
        analyse_file(log, suite=SUITE)


def test_analyse_command_touches_no_database(tmp_path, capsys):
    path = write(tmp_path / "samples.jsonl", [line("good"), line("good", 1)])

    call_command("analyse", str(path), "--suite", "pixel-art-lite", "--format", "json")

    written = json.loads(capsys.readouterr().out)
    assert written.pop("benchsite_version")
    assert written == json.loads(analyse_file(path, suite=SUITE, out_format="json"))


def test_analyse_file_knows_a_prompt_with_a_broken_dash(tmp_path):
    broken = {**line(), "prompt_text": SUITE.prompts[0].text.replace("0–9", "0β9")}

    data = json.loads(analyse_file(write(tmp_path / "a.jsonl", [broken]), suite=SUITE))

    assert data["prompts"][0]["prompt"] == "mario"


@pytest.mark.parametrize("out_format", ["json", "markdown", "csv"])
def test_analyse_file_can_write_whatever_it_read(tmp_path, out_format):
    odd = {**line("a\ud800"), "prompt_text": "\udfff", "category": "\ud800", "finish_reason": "\ud800"}

    text = analyse_file(write(tmp_path / "a.jsonl", [odd]), suite=SUITE, out_format=out_format)

    assert "a\ufffd" in text
    assert text.encode().decode() == text


def test_analyse_file_as_markdown_escapes_names(tmp_path):
    text = analyse_file(write(tmp_path / "a.jsonl", [line("a|b<i>")]), suite=SUITE, out_format="markdown")

    assert r"| 1 | a\|b\<i\> | 1.000 | one prompt |" in text


def test_analyse_file_as_csv_neutralises_formulas(tmp_path):
    text = analyse_file(write(tmp_path / "a.jsonl", [line("=1+1")]), suite=SUITE, out_format="csv")

    assert text.splitlines()[1].startswith("'=1+1,1,1,1,1.0,,,1.0,1.0,1.0,1,1,1.0,")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [line(), "{"],
            "a.jsonl:2: the line is not JSON (Expecting property name enclosed in double quotes at character 2).",
        ),
        (["[" * 100_000], "a.jsonl:1: the line is not JSON that can be read (it nests too deep)."),
        (["[]"], "a.jsonl:1: the line is a list, not a JSON object."),
        ([{"model_id": "m"}], "a.jsonl:1: prompt_text is missing."),
        ([line(attempt=True)], "a.jsonl:1: attempt_number is not a whole number from 0 to 1000000."),
        ([line(), line()], "a.jsonl:2: attempt_number repeats this model's attempt at this prompt."),
        ([line(attempt=-1)], "a.jsonl:1: attempt_number is not a whole number from 0 to 1000000."),
        ([{**line(), "raw_output": 7}], "a.jsonl:1: raw_output is a number, not text."),
        ([""], "a.jsonl: there is no answer in it."),
    ],
)
def test_analyse_file_names_the_bad_line(tmp_path, rows, message):
    with pytest.raises(FileError) as error:
        analyse_file(write(tmp_path / "a.jsonl", rows), suite=SUITE)

    assert str(error.value) == message


def test_analyse_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        analyse_file(tmp_path / "none.jsonl", suite=SUITE)


def test_suite_has_the_seed_rows():
    assert [(prompt.key, prompt.subject, prompt.category) for prompt in SUITE.prompts] == [
        ("mario", "Mario from Super Mario Bros", "character"),
        ("rainbow", "a rainbow", "nature"),
        ("sun", "the sun", "nature"),
        ("saturn", "the planet Saturn with its rings", "space"),
        ("maze", "a maze", "abstract"),
        ("mona_lisa", "the Mona Lisa", "art"),
        ("hope", "hope", "abstract"),
    ]
    assert SUITE.prompts[2].text == (
        "Draw pixel art on a 24x24 grid.\nReturn a JSON object with:\n"
        '- "grid": 24x24 list of integers (0–9)\n- "palette": list of colors used\nSubject: the sun'
    )
    assert (SUITE.format, SUITE.protocols, SUITE.generation.attempts_per_prompt) == ("pixel_art", ("automatic",), 5)
