"""One version number: whatever names the release names the one in `benchsite/version.py`."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from django.core.management import call_command

from benchsite.operations.backups import back_up, read_manifest
from benchsite.version import VERSION
from generation.models import Run
from ranking.fitting import fit_run
from ranking.tokens import create_token
from tests.judging.make import make_curator
from tests.ranking.answered_run import make_answered_run
from tests.ranking.archive_run import make_judged_run, members
from tests.ranking.graded_run import make_graded_run

pytestmark = [pytest.mark.django_db, pytest.mark.once]
ROOT = Path(__file__).resolve().parent.parent.parent
SIGNED = f"\n*Made with Benchsite {VERSION}.*\n"
MAKERS = {
    "pairwise": make_judged_run,
    "rubric": make_graded_run,
    "automatic": make_answered_run,
    "competition": lambda: make_answered_run("science-birds", prompts=["A", "B"]),
}


def output(capsys, *command):
    capsys.readouterr()
    call_command(*command)
    return capsys.readouterr().out


def test_the_changelog_names_it_as_the_newest_release():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert headings[:2] == ["Unreleased", VERSION]


def test_no_other_file_spells_it_out():
    own = ROOT / "ranking/dataset/about.py"  # the first version of a dataset
    spelled = [
        path
        for folder in ("benchsite", "generation", "judging", "ranking", "templates", "script")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".html", "") and path.is_file() and path != own and f'"{VERSION}"' in path.read_text()
    ]

    assert spelled == [ROOT / "benchsite/version.py"]
    assert 'version = { attr = "benchsite.version.VERSION" }' in (ROOT / "pyproject.toml").read_text()


def test_pages_show_it_in_the_footer(client):
    footer = client.get("/").content.decode().partition("<footer")[2]

    assert f"Benchsite {VERSION}" in " ".join(footer.split())


def test_pages_as_json_and_metrics_name_it(client):
    assert client.get("/?format=json").json()["benchsite_version"] == VERSION
    assert f'benchsite_build_info{{version="{VERSION}"}} 1\n' in client.get("/metrics").content.decode()


def test_doctor_begins_with_it(capsys):
    with pytest.raises(SystemExit):
        call_command("doctor")

    assert capsys.readouterr().out.startswith(f"Benchsite {VERSION}\n")


@pytest.mark.django_db(transaction=True)
def test_a_backup_names_it_and_one_without_is_read(tmp_path):
    path, older = tmp_path / "site.zip", tmp_path / "older.zip"
    back_up(path)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(older, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "manifest.json":
                data = json.dumps({k: v for k, v in json.loads(data).items() if k != "benchsite_version"})
            target.writestr(name, data)

    assert read_manifest(path).benchsite_version == VERSION
    assert read_manifest(older).benchsite_version == ""


@pytest.mark.parametrize("kind", MAKERS)
def test_every_export_of_a_run_names_it(kind, tmp_path, capsys, client):
    run = MAKERS[kind]()
    fit_run(run)
    client.force_login(make_curator())
    call_command("export", "all", run.code, "--out", str(tmp_path / "run.zip"))
    archive = dict(members(tmp_path / "run.zip"))
    download = f"/runs/{run.code}/leaderboard."

    assert json.loads(archive["manifest.json"])["benchsite_version"] == VERSION
    assert f"Benchsite {VERSION}" in archive["README.md"].decode()
    assert archive["LEADERBOARD.md"].decode().endswith(SIGNED)
    assert json.loads(archive["leaderboard.json"])["benchsite_version"] == VERSION
    assert output(capsys, "leaderboard", run.code).endswith(SIGNED)
    assert json.loads(output(capsys, "leaderboard", run.code, "--format=json"))["benchsite_version"] == VERSION
    assert client.get(f"{download}md").content.decode().endswith(SIGNED)
    assert client.get(f"{download}json").json()["benchsite_version"] == VERSION


def test_analyse_names_it(tmp_path, capsys):
    run = make_judged_run()
    call_command("export", "votes", run.code, "--out", str(tmp_path / "votes.jsonl"))

    assert output(capsys, "analyse", str(tmp_path / "votes.jsonl"), "--format=md").endswith(SIGNED)
    assert json.loads(output(capsys, "analyse", str(tmp_path / "votes.jsonl")))["benchsite_version"] == VERSION


def test_the_api_names_it(client):
    run = make_judged_run()
    fit_run(run)
    Run.objects.update(judging_state=Run.Judging.CLOSED)  # the API waits until then
    _, token = create_token(label="notebook", by=None)
    ask = {"HTTP_AUTHORIZATION": f"Bearer {token}"}

    assert client.get("/api/v1/", **ask).json()["benchsite_version"] == VERSION
    document = client.get(f"/api/v1/runs/{run.code}/leaderboard", **ask).json()
    assert document["leaderboard"]["benchsite_version"] == VERSION
