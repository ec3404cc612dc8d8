"""Programs that join a run: checked, listed with their reasons, asked only once a curator has approved them."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchsite.lib.file_errors import BadLines
from generation.files.import_samples import import_samples
from generation.models import Entrant, Sample
from generation.runs.curating import approve_entrants, disqualify_entrants
from generation.runs.extending import extend_run
from generation.runs.lifecycle import start_run
from generation.suites.loading import load_suite
from generation.suites.program_files import read_programs
from generation.suites.yaml_source import SuiteError
from tests.judging.make import make_curator

pytestmark = pytest.mark.django_db
FILE = """
programs:
  - name: posts
    team: Alice
    turns: ["Build {{target}} from two posts. Answer with drop_block calls."]
  - name: silent
    turns: ["Build something."]
  - name: sly
    turns: ["Build {{target}}\\u202E with {{colour}}."]
"""


@pytest.fixture
def run(settings):
    suite = load_suite(settings.SUITES_DIR / "science-birds")
    return start_run(suite, demo=True, draw=False, label="midterm", attempts=5, prompts=["A", "B", "C"])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "programs.yaml"
    path.write_text(FILE)
    return path


def test_a_program_is_asked_only_after_approval(run, file, capsys):
    call_command("import_programs", run.code, file)

    posts = Entrant.objects.get(run=run, name="posts")
    assert not posts.approved
    assert set(posts.samples.values_list("state", flat=True)) == {"cancelled"}
    assert "posts: qualifies; approve it in the admin." in capsys.readouterr().out

    approve_entrants(Entrant.objects.filter(pk=posts.pk), by=make_curator(), reason="Looks fair.")

    assert posts.samples.filter(state="pending").count() == 3 * 3 * 5
    run.refresh_from_db()
    assert run.finished_at is None


def test_a_program_that_does_not_qualify_is_listed_with_every_reason(run, file, capsys):
    call_command("import_programs", run.code, file)

    output = capsys.readouterr().out
    assert "silent: does not qualify. No turn has the placeholder {{target}}." in output
    assert "The placeholder {{colour}} is unknown. Characters that are not allowed: U+202E." in output
    silent = Entrant.objects.get(run=run, name="silent")
    assert silent.disqualified == "No turn has the placeholder {{target}}."
    assert not Sample.objects.filter(entrant=silent).exists()


def test_importing_again_changes_nothing_and_a_changed_program_needs_a_new_name(run, file, capsys):
    call_command("import_programs", run.code, file)
    count = Entrant.objects.count(), Sample.objects.count()

    call_command("import_programs", run.code, file)

    assert (Entrant.objects.count(), Sample.objects.count()) == count
    assert "posts: is in the run already." in capsys.readouterr().out
    file.write_text(FILE.replace("two posts", "three posts"))
    with pytest.raises(CommandError, match="another program named 'posts'"):
        call_command("import_programs", run.code, file)


def test_extending_a_run_does_not_ask_a_program_that_waits(run, file):
    call_command("import_programs", run.code, file)
    run.refresh_from_db()

    extend_run(run, attempts=6)

    posts = Entrant.objects.get(run=run, name="posts")
    assert posts.samples.count() == 3 * 3 * 6
    assert set(posts.samples.values_list("state", flat=True)) == {"cancelled"}


def test_programs_cannot_join_a_run_of_models(settings, file):
    run = start_run(load_suite(settings.SUITES_DIR / "ascii"), demo=True, draw=False)

    with pytest.raises(CommandError, match="The entrants of this run are models"):
        call_command("import_programs", run.code, file)


def test_a_file_that_is_no_programs_file_is_refused_with_its_line(run, tmp_path):
    path = tmp_path / "programs.yaml"
    path.write_text("programs:\n  - name: x\n    turn: [a]\n")

    with pytest.raises(CommandError, match="line 3"):
        call_command("import_programs", run.code, path)


def test_a_disqualified_program_is_not_asked(run, file):
    call_command("import_programs", run.code, file)
    rows = Entrant.objects.filter(run=run, name="rows-first")

    disqualify_entrants(rows, by=make_curator(), reason="It reads the answers.")

    assert not Sample.objects.filter(entrant__in=rows, state="pending").exists()


def test_the_two_rounds_of_a_competition(capsys):
    call_command(
        "start_run", "science-birds", label="midterm", attempts=5, prompts=["A", "B", "C"], demo=True, no_draw=True
    )

    run = Entrant.objects.first().run
    assert str(run) == "Science Birds (demo) · midterm"
    assert list(run.prompts.values_list("key", flat=True)) == ["A", "B", "C"]
    assert run.samples.count() == 3 * 3 * 3 * 5
    assert f"Run {run.code} of science-birds: 135 samples." in capsys.readouterr().out


def test_a_program_that_failed_its_check_is_asked_once_a_curator_approves_it_all_the_same(run, file):
    call_command("import_programs", run.code, file)
    silent = Entrant.objects.get(run=run, name="silent")
    before = Sample.objects.count()

    approve_entrants(Entrant.objects.filter(pk=silent.pk), by=make_curator(), reason="It means the letter.")

    assert silent.samples.filter(state="pending").count() == 3 * 3 * 5
    assert Sample.objects.count() == before + 3 * 3 * 5


def upload(client, run, text, name="teams.yaml"):
    url = reverse("generation:import_programs", args=[run.code])
    return client.post(url, {"file": SimpleUploadedFile(name, text.encode())}, follow=True)


def test_a_curator_uploads_programs_and_is_led_to_where_they_are_approved(client, curator, run):
    assert reverse("generation:import_programs", args=[run.code]) in client.get(f"/runs/{run.code}/").text

    page = upload(client, run, FILE)

    assert page.redirect_chain == [(f"/admin/generation/entrant/?run__id__exact={run.pk}", 302)]
    assert "1 to be approved here: posts." in page.text
    assert "Does not qualify: silent. No turn has the placeholder {{target}}." in page.text
    assert not Entrant.objects.get(run=run, name="posts").approved
    assert run.events.get(verb="import_programs").actor == curator

    again = upload(client, run, FILE)

    assert "In the run already: posts, silent, sly." in again.text
    assert Entrant.objects.filter(run=run, name="posts").count() == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("programs:\n  - name: x\n    turn: [a]\n", "Nothing was imported. teams.yaml, line 3"),
        ("programs: [", "Nothing was imported. teams.yaml, line 1"),
        (FILE + '  - name: rows-first\n    turns: ["{{target}}"]\n', "There is another program named"),
    ],
)
def test_what_is_wrong_with_an_uploaded_file_is_said_and_no_program_joins(client, curator, run, text, message):
    before = run.entrants.count()

    assert message in upload(client, run, text).text
    assert run.entrants.count() == before


def test_a_run_of_models_offers_no_import_of_programs(client, curator, settings):
    run = start_run(load_suite(settings.SUITES_DIR / "ascii"), demo=True, draw=False)

    assert "Import programs" not in client.get(f"/runs/{run.code}/").text
    assert "The entrants of this run are models" in upload(client, run, FILE).text


ELSEWHERE = """
programs:
  - name: searcher
    team: Bob
    source: |
      for branch in range(8):
          best = max(best, ask(letter), key=score)
"""
LEVEL = "```\nab_drop_block('b11', 9)\n```"


def imported_line(run, **changes):
    prompt = run.prompts.get(key="A")
    row = {
        "model_id": run.models.first().model_id,
        "program": "searcher",
        "prompt_text": prompt.text,
        "attempt_number": 1,
        "raw_output": LEVEL,
        **changes,
    }
    return [json.dumps(row).encode()]


@pytest.fixture
def searcher(run, tmp_path):
    """A program that runs elsewhere, and waits for approval."""
    path = tmp_path / "elsewhere.yaml"
    path.write_text(ELSEWHERE)
    call_command("import_programs", run.code, path)
    return Entrant.objects.get(run=run, name="searcher")


def test_a_program_that_runs_elsewhere_is_never_asked_and_keeps_its_source(run, searcher, client):
    approve_entrants(Entrant.objects.filter(pk=searcher.pk), by=make_curator(), reason="Looks fair.")
    client.force_login(make_curator("dora"))

    page = client.get(reverse("gallery:program", args=[run.code, searcher.code])).text

    assert not searcher.samples.exists()
    assert "best = max(best, ask(letter), key=score)" in page
    assert "This program ran elsewhere" in page


def test_answers_come_in_under_the_programs_own_name_once_it_is_approved(run, searcher):
    with pytest.raises(BadLines, match="waits for a curator's approval"):
        import_samples(imported_line(run), run=run)
    approve_entrants(Entrant.objects.filter(pk=searcher.pk), by=make_curator(), reason="Looks fair.")

    import_samples(imported_line(run), run=run)
    again = import_samples(imported_line(run), run=run)

    sample = searcher.samples.get()
    assert (sample.imported, sample.answer, sample.calls.count()) == (True, LEVEL, 0)
    assert again.added == 0


@pytest.mark.parametrize("keys", ["turns: ['Build {{target}}.'], source: x", "team: Bob"])
def test_a_program_has_turns_or_a_source(tmp_path, keys):
    path = tmp_path / "programs.yaml"
    path.write_text(f"programs: [{{name: odd, {keys}}}]")

    with pytest.raises(SuiteError, match="has not one of turns, python and source"):
        read_programs(path)
