from __future__ import annotations

import csv
import io
import json
import shutil

import pytest
from django.core.management import CommandError, call_command

from tests.ranking.pairwise.vote_lines import vote_rows, write_lines
from tests.ranking.statistics.make_votes import simulate


@pytest.fixture
def votes_file(tmp_path):
    return write_lines(tmp_path / "votes.jsonl", vote_rows(simulate(400, seed=1)))


def analyse(*arguments):
    out = io.StringIO()
    call_command("analyse", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_it_works_without_a_database(votes_file):
    data = json.loads(analyse(votes_file))
    assert data["votes"] == 400
    assert data["settings"]["ties"] == "half"
    assert len(data["overall"]) == 6


def test_the_parts_of_a_dump_are_analysed_together(votes_file, tmp_path):
    lines = votes_file.read_text().splitlines(keepends=True)
    parts = [tmp_path / f"part-{n}.jsonl" for n in range(3)]
    for n, part in enumerate(parts):
        part.write_text("".join(lines[n::3]))

    assert json.loads(analyse(*parts))["overall"] == json.loads(analyse(votes_file))["overall"]
    with pytest.raises(CommandError, match=r"part-1.jsonl: only files of votes can be analysed together"):
        analyse(parts[0], parts[1], "--suite", "pokemon-svg")


def test_markdown_has_the_three_parts(votes_file, tmp_path):
    samples = write_lines(tmp_path / "database.jsonl", [{"model_id": "model/000", "valid": True}] * 4)
    text = analyse(votes_file, "--format", "md", "--samples", samples)
    for heading in ("## Overall Elo", "## Category-specific Elo", "## Consistency score", "## Method"):
        assert heading in text
    assert "| 1 | model/000 |" in text
    assert "100%" in text


def test_markdown_has_the_notes_that_came_with_the_samples(votes_file, tmp_path):
    row = {"model_id": "model/000", "valid": True, "note": "through a proxy"}
    samples = write_lines(tmp_path / "database.jsonl", [row, row | {"model_id": "model/001", "note": ""}])

    text = analyse(votes_file, "--format", "md", "--samples", samples)

    assert text.partition("## Notes\n\n")[2].startswith("- model/000: through a proxy\n")
    assert "model/001:" not in text
    assert "## Notes" not in analyse(votes_file, "--format", "md")


def test_markdown_holds_no_markup_of_names_in_tables_or_notes(tmp_path):
    row = {"left_model": "<img src=x>", "right_model": "b", "outcome": "left", "judge": "j", "prompt_text": "p"}
    text = analyse(write_lines(tmp_path / "votes.jsonl", [row] * 3), "--format", "md")
    assert "no upper limit: \\<img src=x\\>" in text
    assert "<img" not in text.replace("\\<img", "")


def test_csv_has_a_line_for_each_standing(votes_file):
    rows = list(csv.DictReader(io.StringIO(analyse(votes_file, "--format", "csv"))))
    assert len(rows) == 6 * 5
    assert {row["scope"] for row in rows} == {"overall", "category"}


def test_out_writes_a_file(votes_file, tmp_path):
    assert analyse(votes_file, "--out", tmp_path / "board.json") == ""
    assert json.loads((tmp_path / "board.json").read_text())["votes"] == 400


def test_settings_change_what_counts(votes_file):
    plain = json.loads(analyse(votes_file))
    dropped = json.loads(analyse(votes_file, "--ties", "drop", "--fails", "drop"))
    assert dropped["overall"][0]["rating"] != plain["overall"][0]["rating"]
    less = json.loads(analyse(votes_file, "--exclude-judge", "judge-000"))
    assert less["judges_count"] == 7
    assert "judge-000" not in less["judges"]


def test_until_rebuilds_the_past(votes_file, tmp_path):
    rows = [json.loads(line) for line in votes_file.read_text().splitlines()]
    past = json.loads(analyse(votes_file, "--until", rows[249]["voted_at"]))
    then = json.loads(analyse(write_lines(tmp_path / "then.jsonl", rows[:250])))
    assert past["settings"].pop("until") == rows[249]["voted_at"]
    assert then["settings"].pop("until") is None
    assert past == then


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--until", "soon"), "--until must be a time"),
        (("--exclude-judge", "nobody"), "nobody"),
        (("--suite", "no-such-suite"), "There is no suite 'no-such-suite'"),
        (("--suite", "../config"), "There is no suite"),
        (("--samples", "nowhere.jsonl"), "nowhere.jsonl: No such file"),
    ],
)
def test_a_bad_option_is_a_sentence_and_exit_2(votes_file, arguments, words):
    with pytest.raises(CommandError) as caught:
        analyse(votes_file, *arguments)
    assert caught.value.returncode == 2
    assert words in str(caught.value)


def test_a_bad_line_is_exit_2_and_can_be_skipped(votes_file, capsys):
    with votes_file.open("a") as file:
        file.write('{"left_model": "a", "right_model": "b", "outcome": "best"}\n')
    with pytest.raises(CommandError) as caught:
        analyse(votes_file)
    assert caught.value.returncode == 2
    assert f"{votes_file}, line 401, outcome: must be one of left, right, tie, fail" in str(caught.value)
    data = json.loads(analyse(votes_file, "--skip-bad"))
    assert (data["votes"], data["settings"]["skipped_lines"]) == (400, 1)
    assert "1 bad line was skipped." in data["notes"]
    assert ", line 401, outcome: " in capsys.readouterr().err


def test_hostile_names_do_not_break_the_tables(tmp_path):
    row = {"left_model": "=a|b\n<script>", "right_model": "@c", "outcome": "tie", "judge": "j", "prompt_text": "p"}
    path = write_lines(tmp_path / "votes.jsonl", [row] * 3)
    text = analyse(path, "--format", "md")
    assert "<script>" not in text
    assert "=a\\|b \\<script\\>" in text
    cells = list(csv.reader(io.StringIO(analyse(path, "--format", "csv"))))
    assert {line[2] for line in cells[1:]} == {"'=a|b\n<script>", "'@c"}


def test_names_in_the_csv_are_guarded_as_in_every_other(tmp_path):
    row = {"left_model": "＝1+1", "right_model": "'c", "outcome": "tie", "judge": "j", "prompt_text": "p"}
    path = write_lines(tmp_path / "votes.jsonl", [row] * 3)
    cells = list(csv.reader(io.StringIO(analyse(path, "--format", "csv"))))
    assert {line[2] for line in cells[1:]} == {"'＝1+1", "''c"}


def test_until_says_how_many_votes_have_no_time(tmp_path, capsys):
    vote = {"left_model": "a", "right_model": "b", "outcome": "left"}
    path = write_lines(tmp_path / "votes.jsonl", [vote, {**vote, "voted_at": "2026-05-01T10:00:00Z"}])
    assert json.loads(analyse(path, "--until", "2026-06-01T00:00Z"))["votes"] == 1
    assert "1 votes have no voted_at" in capsys.readouterr().err


def test_a_voted_suite_is_read_as_votes(votes_file):
    assert analyse(votes_file, "--suite", "ascii") == analyse(votes_file)


def test_a_suite_is_looked_for_where_the_suites_are(votes_file, settings, tmp_path):
    shutil.copytree(settings.SUITES_DIR / "ascii", tmp_path / "elsewhere" / "kittens")
    settings.SUITES_DIR = tmp_path / "elsewhere"
    assert analyse(votes_file, "--suite", "kittens") == analyse(votes_file)
    with pytest.raises(CommandError, match="There is no suite 'ascii' in elsewhere/"):
        analyse(votes_file, "--suite", "ascii")


TRIALS = """program,model,target,trial,stability,similarity,diversity
alice,m1,A,1,1.0,0.9,0.5
alice,m1,A,2,1.0,0.8,0.5
bob,m1,A,1,0.5,0.2,0.1
bob,m1,A,2,0.5,0.1,0.1
"""


def test_another_suite_is_read_by_its_own_analysis(tmp_path):
    path = tmp_path / "trials.csv"
    path.write_text(TRIALS)
    assert analyse(path, "--suite", "science-birds", "--format", "md").index("alice") > 0
    with pytest.raises(CommandError, match="--skip-bad is not known") as caught:
        analyse(path, "--suite", "science-birds", "--skip-bad")
    assert caught.value.returncode == 2
