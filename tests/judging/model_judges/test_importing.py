"""Model judges' answers leave by file and come back into another run the same."""

from __future__ import annotations

import json
from random import Random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from judging.files.import_votes import import_votes
from judging.model_judges.answers import model_vote_lines
from judging.model_judges.asking import Plan, add_model_judge
from judging.model_judges.instructions import versioned
from ranking.archive.importing import import_run
from ranking.archive.writing import write_archive
from ranking.fitting import fit_run
from ranking.models import Fit
from tests.judging.model_judges.test_asking import CRITIC, draw_all
from tests.ranking.pairwise.vote_lines import write_lines
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def exported(demo, tmp_path):
    demo()
    run = make_voted_run(votes=30, judges=3)
    draw_all(add_model_judge(run, Plan(CRITIC, versioned(run, ""), 12, 5.0)))
    path = tmp_path / "model_votes.jsonl"
    call_command("export", "model_votes", run.code, "--out", str(path))
    return run, path


def test_answers_come_back_with_judge_version_order_cost_and_reason(exported):
    run, path = exported
    before = [line.as_row() for line in model_vote_lines(run)]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == before and len(rows) == 24
    run.model_judges.all().delete()

    call_command("import_model_votes", run.code, str(path), "--reason", "Judged elsewhere.")

    assert [line.as_row() for line in model_vote_lines(run)] == before
    judge = run.model_judges.get()
    assert (judge.drawing_state, judge.visibility, judge.budget_nano) == ("cancelled", "private", 0)
    assert run.events.get(verb="import model votes").reason == "Judged elsewhere."
    fit_run(run)
    study = Fit.objects.newest(run, "pairwise", kind="full").result["model_judges"]
    assert study["judges"][0]["simulated"] is True


def test_an_archive_holds_them_and_an_import_has_them_again(exported, tmp_path):
    run, _ = exported
    before = [line.as_row() for line in model_vote_lines(run)]
    path = tmp_path / "run.zip"
    write_archive(run, path)

    copy = import_run(path, reason="A copy.", copy=True)

    assert [line.as_row() for line in model_vote_lines(copy)] == before
    assert copy.votes.count() == run.votes.count()


def test_nothing_is_imported_twice_without_a_reason_or_about_drawings_that_are_not_there(exported):
    run, path = exported
    with pytest.raises(CommandError, match="demo/critic judges this run already"):
        call_command("import_model_votes", run.code, str(path), "--reason", "Again.")
    run.model_judges.all().delete()
    with pytest.raises(CommandError):
        call_command("import_model_votes", run.code, str(path))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[5]["left_attempt"] = 99
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(
        CommandError, match=r"model_votes\.jsonl:6: left_model: this run has no drawing of .*, attempt 99"
    ):
        call_command("import_model_votes", run.code, str(path), "--reason", "Judged elsewhere.")
    assert not run.model_judges.exists()


def test_the_page_takes_a_file_and_names_the_line_that_is_wrong(client, exported, curator):
    run, path = exported
    before = [line.as_row() for line in model_vote_lines(run)]
    run.model_judges.all().delete()
    address = reverse("judging:import_model_votes", args=[run.code])
    lines = path.read_text().splitlines()
    broken = json.dumps(json.loads(lines[3]) | {"answer": "A"})

    def post(text, reason="Judged elsewhere."):
        return client.post(address, {"file": SimpleUploadedFile("answers.jsonl", text.encode()), "reason": reason})

    wrong = post("\n".join([*lines[:3], broken, *lines[4:]]))
    empty = post("")
    silent = post("\n".join(lines), reason="")
    persons = post(json.dumps({"left_model": "a", "right_model": "b", "outcome": "left"}))

    assert "answers.jsonl:4: answer must be null or one of left, right, tie, fail" in wrong.text
    assert "empty" in empty.text and "This field is required" in silent.text
    assert "this is a person&#x27;s vote" in persons.text
    assert not run.model_judges.exists()

    done = client.post(
        address,
        {"file": SimpleUploadedFile("answers.jsonl", "\n".join(lines).encode()), "reason": "Judged elsewhere."},
        follow=True,
    )
    assert "24 answers of model judges imported" in done.text
    assert "imported" in done.text and "<button>Ask</button>" not in done.text  # nobody answers for it any more
    assert [line.as_row() for line in model_vote_lines(run)] == before
    again = post("\n".join(lines))
    assert "demo/critic judges this run already" in again.text


def test_a_drawing_named_with_and_without_its_attempt_is_one_drawing(exported, tmp_path):
    run, path = exported
    run.model_judges.all().delete()
    row = json.loads(path.read_text().splitlines()[0]) | {"left_attempt": 1, "right_attempt": 1}
    bare = {key: value for key, value in row.items() if not key.endswith("_attempt")}

    call_command("import_model_votes", run.code, str(write_lines(tmp_path / "one.jsonl", [bare])), "--reason", "One.")

    assert [line.as_row() for line in model_vote_lines(run)] == [row]
    run.model_judges.all().delete()
    with pytest.raises(
        CommandError, match=r"both\.jsonl:2: this judge answered on these drawings in this order already"
    ):
        both = write_lines(tmp_path / "both.jsonl", [row, bare])
        call_command("import_model_votes", run.code, str(both), "--reason", "Two.")


def arena_lines(pairs=280, agree=0.7, luck=None):
    """Votes of one person and answers of one model as arenas publish them: by prompt and two names, one order, no drawing."""
    luck = luck or Random(4)
    votes, answers = [], []
    for number in range(pairs):
        one, other = luck.sample(["acme/a", "bestco/b", "corp/c", "delta/d"], 2)
        said = luck.choice(["left", "right"])
        model = said if luck.random() < agree else {"left": "right", "right": "left"}[said]
        shown = {"left_model": one, "right_model": other, "prompt_text": f"a walrus on a bicycle, no. {number}"}
        votes.append({**shown, "outcome": said, "judge": "the person"})
        answers.append({**shown, "answer": model, "judge": "acme/seer", "model": "acme/seer"})
    same = sum(vote["outcome"] == answer["answer"] for vote, answer in zip(votes, answers, strict=True))
    return votes, answers, same / pairs


def test_answers_about_votes_that_came_without_drawings_keep_their_agreement(tmp_path):
    votes, answers, agreed = arena_lines()
    run, count = import_votes(path=write_lines(tmp_path / "votes.jsonl", votes), reason="An arena.", title="Arena")
    path = write_lines(tmp_path / "model_votes.jsonl", answers)

    call_command("import_model_votes", run.code, str(path), "--reason", "The arena's model judges.")
    fit_run(run)

    study = Fit.objects.newest(run, "pairwise", kind="full").result["model_judges"]
    agreement = study["judges"][0]["agreement"]
    assert (count, agreement["votes"], agreement["pairs"]) == (280, 280, 280)
    assert agreement["raw"]["value"] == pytest.approx(agreed, abs=1e-4)
    # One person, one order and no pairs that only models judged: nothing to save, and the reason is given.
    assert study["corrected"]["reason"] == (
        "The model judges judged no pairs but people’s own, so they have nothing to add."
    )
    written = [line.as_row() for line in model_vote_lines(run)]
    assert {row["left_attempt"] for row in written} == {None}
    copy = tmp_path / "again.jsonl"
    call_command("export", "model_votes", run.code, "--out", str(copy))
    run.model_judges.all().delete()
    call_command("import_model_votes", run.code, str(copy), "--reason", "Again.")
    assert [line.as_row() for line in model_vote_lines(run)] == written
    with pytest.raises(CommandError, match=r"model_votes\.jsonl:1: prompt_text: this run has no such prompt"):
        write_lines(path, [answers[0] | {"prompt_text": "unheard of", "judge": "another"}])
        call_command("import_model_votes", run.code, str(path), "--reason", "More.")
    with pytest.raises(CommandError, match=r"model_votes\.jsonl:1: right_model: 'nobody' is no entrant of this run"):
        write_lines(path, [answers[0] | {"right_model": "nobody", "judge": "another"}])
        call_command("import_model_votes", run.code, str(path), "--reason", "More.")
