"""Model judges' answers leave by file and come back into another run the same."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from judging.model_judges.answers import model_vote_lines
from judging.model_judges.asking import Plan, add_model_judge
from judging.model_judges.instructions import versioned
from ranking.archive.importing import import_run
from ranking.archive.writing import write_archive
from ranking.fitting import fit_run
from ranking.models import Fit
from tests.judging.model_judges.test_asking import CRITIC, draw_all
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
