"""Model judges of a rubric on the board of grades: beside people, in files and out again, never mixed in."""

from __future__ import annotations

import json
from io import StringIO

import pandas as pd
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from generation.demo.server import start
from generation.models import Run
from judging.model_judges.answers import model_grade_lines
from judging.model_judges.asking import Plan, add_model_judge
from judging.model_judges.grading import GRADES
from judging.model_judges.instructions import versioned
from ranking.archive.importing import import_run
from ranking.archive.writing import write_archive
from ranking.fitting import fit_run
from ranking.models import Fit
from ranking.rubric.model_judges.document import GradersResult
from ranking.rubric.model_judges.sentences import strictness_sentence
from tests.judging.make import close_judging
from tests.judging.model_judges.test_asking import CRITIC, draw_all
from tests.ranking.graded_run import make_graded_run
from tests.ranking.typed import misfits

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def judged(module_rows):
    """Graded by people and by a model, once: whatever a test does to it is taken back."""
    server = start(latency=0.0, faults=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEMO_PROVIDER_URL", server.url)
        run = make_graded_run(subjects=4)
        draw_all(add_model_judge(run, Plan(CRITIC, versioned(run, "", GRADES), 200, 5.0, kind=GRADES)))
    server.stop()
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED)
    run.refresh_from_db()
    fit_run(run)
    return run.pk


@pytest.fixture
def run(judged, demo):
    demo()
    return Run.objects.get(pk=judged)


def page(client, run, **query):
    return client.get(reverse("ranking:model_graders", args=[run.code]), query)


def result(run):
    return Fit.objects.newest(run, "rubric").result


def export(run, kind, path):
    call_command("export", kind, run.code, "--out", str(path))
    return path


def test_the_tab_shows_each_dimension_beside_people_once_judging_is_closed(client, run):
    close_judging(run)
    shown = page(client, run)

    assert shown.status_code == 200
    for words in ("demo/critic", "simulated", "Score of the drawing", "Geometry", "Stage 3: structure and detail"):
        assert words in shown.text
    for words in ("Krippendorff’s", "Distance, people", "Higher by", "Its scores differ by", "a drawing,"):
        assert words in shown.text
    board = client.get(reverse("ranking:leaderboard", args=[run.code])).text
    assert reverse("ranking:model_graders", args=[run.code]) in board
    assert "Head to head" in board  # the tabs that a board of grades had before


def test_while_people_judge_nobody_else_sees_what_models_said(client, run, curator):
    seen = page(client, run)
    client.logout()
    hidden = page(client, run)
    assert "demo/critic" in seen.text
    assert "demo/critic" not in hidden.text


def test_no_document_names_a_drawing_before_judging_is_closed(client, run, curator):
    worst = run.model_judges.get().samples.exclude(facts={}).first()
    facts = worst.facts | {"grades": dict.fromkeys(worst.facts["grades"], 10.0)}
    worst.facts = facts | {"reasons": dict.fromkeys(facts["grades"], "A reason of its own.")}
    worst.save()
    run.grades.filter(sample=worst.prompt.facts["drawing"]).update(value=0.0)
    Run.objects.filter(pk=run.pk).update(judging_state="not_open")
    fit_run(run)
    assert result(run)["model_judges"]["judges"][0]["worst"][0]["reason"] == "A reason of its own."
    addresses = [
        reverse("ranking:leaderboard", args=[run.code]),
        reverse("ranking:download", args=[run.code, "json"]),
        reverse("ranking:model_graders", args=[run.code]),
    ]

    def sentences():
        return ["A reason of its own." in client.get(address, {"format": "json"}).text for address in addresses]

    client.logout()
    before = sentences()
    close_judging(run)
    assert before == [False] * 3
    assert sentences() == [True] * 3
    seen = page(client, run).text
    assert "A reason of its own." in seen
    drawing = run.samples.get(pk=worst.prompt.facts["drawing"])
    assert reverse("gallery:sample", args=[drawing.code]) in seen
    run.samples.filter(pk=drawing.pk).update(excluded_reason="Broken.")
    assert drawing.code not in page(client, run).text, "before there is another fit"


def test_models_change_no_number_of_the_human_board(run):
    before = result(run)
    run.model_judges.get().delete()
    fit_run(run)
    after = result(run)

    study = before.pop("model_judges")
    assert misfits(study, GradersResult) == []
    assert study["judges"][0]["dimensions"][0]["with_people"]["grades"] > 0
    assert "model_judges" not in after
    assert {key: value for key, value in before.items() if key != "run"} == {
        key: value for key, value in after.items() if key != "run"
    }


def test_files_say_what_the_board_says_and_pandas_reads_them(run, tmp_path):
    grades = export(run, "grades", tmp_path / "grades.jsonl")
    models = export(run, "model_grades", tmp_path / "model_grades.jsonl")
    out = StringIO()
    call_command("analyse", str(grades), "--suite", "pokemon-svg", "--model-grades", str(models), stdout=out)
    markdown = StringIO()
    arguments = ("analyse", str(grades), "--suite", "pokemon-svg", "--model-grades", str(models), "--format", "md")
    call_command(*arguments, stdout=markdown)

    assert json.loads(out.getvalue())["model_judges"] == result(run)["model_judges"]
    assert "## Model judges" in markdown.getvalue() and "demo/critic (simulated)" in markdown.getvalue()
    frame = pd.json_normalize(pd.read_json(models, lines=True).to_dict("records"))
    assert len(frame) == len(list(model_grade_lines(run)))
    assert frame["grades.impression"].dropna().between(0, 10).all()
    call_command("export", "model_grades", run.code, "--format", "csv", "--out", str(tmp_path / "model_grades.csv"))
    table = pd.read_csv(tmp_path / "model_grades.csv")
    assert json.loads(table["grades"].dropna().iloc[0]).keys() == json.loads(table["reasons"].iloc[0]).keys()


def test_answers_leave_by_file_and_come_back_the_same(run, tmp_path, client, curator):
    before = [line.as_row() for line in model_grade_lines(run)]
    path = export(run, "model_grades", tmp_path / "model_grades.jsonl")
    assert [json.loads(line) for line in path.read_text().splitlines()] == before
    with pytest.raises(CommandError, match="demo/critic judges this run already"):
        call_command("import_model_grades", run.code, str(path), "--reason", "Again.")
    run.model_judges.all().delete()

    call_command("import_model_grades", run.code, str(path), "--reason", "Judged elsewhere.")

    assert [line.as_row() for line in model_grade_lines(run)] == before
    judge = run.model_judges.get()
    assert (judge.drawing_state, judge.visibility, judge.budget_nano) == ("cancelled", "private", 0)
    run.model_judges.all().delete()
    fields = {"file": SimpleUploadedFile("m.jsonl", path.read_bytes()), "reason": "Judged elsewhere."}
    done = client.post(reverse("judging:import_model_grades", args=[run.code]), fields, follow=True)
    assert f"{len(before)} answers of model judges imported" in done.text
    assert [line.as_row() for line in model_grade_lines(run)] == before


def test_an_archive_holds_them_and_an_import_has_them_again(run, tmp_path):
    before = [line.as_row() for line in model_grade_lines(run)]
    path = tmp_path / "run.zip"
    write_archive(run, path)

    copy = import_run(path, reason="A copy.", copy=True)

    assert [line.as_row() for line in model_grade_lines(copy)] == before
    assert copy.grades.count() == run.grades.count()


def faulty(row, **changes):
    return {key: value for key, value in {**row, **changes}.items() if value is not ...}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"grades": {"geometry": 5}}, "grades must be of geometry, color, impression"),
        ({"grades": [5]}, "grades must be an object by dimension, not a list"),
        ({"grades": {"geometry": 5, "color": 5.2, "impression": 5}}, "grades.color 5.2 is not on the scale"),
        ({"grades": {"geometry": 5, "color": 99, "impression": 5}}, "grades.color 99 is not a number from 0 to 10"),
        ({"reasons": {"charm": "x"}}, "reasons must be of geometry, color, impression"),
        ({"reasons": {"color": 5}}, "reasons.color must be text, not a number"),
        ({"stage": "s9"}, "stage 's9' is none of s1, s2, s3"),
        ({"attempt": -1}, "attempt must be a whole number"),
        ({"judge": ...}, "judge is missing"),
        ({"cost_nano": 1.5}, "cost_nano must be whole nano-dollars"),
        ({"grades": ..., "value": 5}, "this is a person's grade"),
        ({"entrant": "nobody"}, "entrant: this run has no drawing of 'Voltorb' by 'nobody', attempt 1"),
    ],
)
def test_a_bad_line_is_named_and_nothing_of_the_file_is_kept(run, tmp_path, changes, fault):
    good = next(
        line.as_row()
        for line in model_grade_lines(run)
        if line.grades and (line.subject, line.attempt) == ("Voltorb", 1)
    )
    run.model_judges.all().delete()
    path = tmp_path / "bad.jsonl"
    other = {**good, "attempt": 2}
    path.write_text(json.dumps(other) + "\n" + json.dumps(faulty(good, **changes)) + "\n")
    with pytest.raises(CommandError) as refused:
        call_command("import_model_grades", run.code, str(path), "--reason", "Elsewhere.")
    assert fault in str(refused.value) and "bad.jsonl:2" in str(refused.value)
    assert not run.model_judges.exists()


def test_a_drawing_under_both_of_its_names_is_graded_twice(run, tmp_path, client, curator):
    line = next(line.as_row() for line in model_grade_lines(run) if line.grades)
    run.prompts.filter(category=line["stage"], subject=line["subject"]).update(key="its-key")
    run.model_judges.all().delete()
    lines = "".join(json.dumps({**line, "subject": name}) + "\n" for name in (line["subject"], "its-key"))
    fields = {"file": SimpleUploadedFile("m.jsonl", lines.encode()), "reason": "Judged elsewhere."}

    page = client.post(reverse("judging:import_model_grades", args=[run.code]), fields)

    assert "m.jsonl:2: this judge graded this drawing in an earlier line" in page.text
    assert not run.model_judges.exists()


def test_a_file_of_model_grades_is_never_taken_for_peoples(run, tmp_path):
    models = export(run, "model_grades", tmp_path / "model_grades.jsonl")
    grades = export(run, "grades", tmp_path / "grades.jsonl")
    with pytest.raises(CommandError, match="field is missing"):
        call_command("analyse", str(models), "--suite", "pokemon-svg")
    with pytest.raises(CommandError, match="this is a person's grade"):
        call_command("analyse", str(grades), "--suite", "pokemon-svg", "--model-grades", str(grades))
    with pytest.raises(CommandError, match="goes with --suite"):
        call_command("analyse", str(grades), "--model-grades", str(models))


def test_a_strict_judge_is_said_to_grade_lower_with_its_interval_turned():
    higher = {"value": -0.8, "low": -1.2, "high": -0.4}
    judge = {"dimensions": [{"with_people": {"higher": higher}}], "spread": None, "people_spread": None}

    assert strictness_sentence(judge) == "It grades 0.80 (0.40 to 1.20) points lower than people."
