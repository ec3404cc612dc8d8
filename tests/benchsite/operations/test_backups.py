"""Backup and restore: whole or not at all, and nothing is paid twice unknowingly."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils.timezone import now

from benchsite.operations import backups
from benchsite.operations.backups import BackupError, back_up, read_manifest
from benchsite.operations.restoring import restore
from generation.models import Event, ProviderCall, Run, Sample
from generation.runs import lifecycle as runs
from tests.benchsite.lib.database.test_snapshots import write_elsewhere
from tests.benchsite.lib.test_progress_bar import Screen
from tests.generation.drawing_room import ask, claim, draw_some, make_suite, settle

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run():
    return runs.start_run(make_suite())


@pytest.fixture
def file(tmp_path):
    return tmp_path / "site.zip"


def rewritten(file, **changes):
    """The same backup with another manifest."""
    with zipfile.ZipFile(file) as archive:
        payload = {name: archive.read(name) for name in archive.namelist()}
    manifest = {**json.loads(payload["manifest.json"]), **changes}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in {**payload, "manifest.json": json.dumps(manifest)}.items():
            archive.writestr(name, data)


def test_restore_gives_back_every_row(run, file):
    before = list(Sample.objects.order_by("pk").values())
    manifest = back_up(file)
    assert (manifest.engine, manifest.runs) == (connection.vendor, 1)
    assert file.stat().st_mode & 0o077 == 0, "readable by its owner alone"
    Run.objects.all().delete()
    done = restore(file)
    assert list(Sample.objects.order_by("pk").values()) == before
    assert done.paused == 1 and not done.migrated


def test_a_backup_in_the_making_is_readable_by_its_owner_alone(run, file):
    seen = []

    def look(done, total):
        seen.extend(path.stat().st_mode & 0o077 for path in file.parent.iterdir())

    back_up(file, progress=look)
    assert set(seen) == {0}


def test_a_site_that_writes_all_the_time_is_backed_up_as_it_was_at_the_start(run, file):
    steps = []

    def write(done, total):
        steps.append(done)
        assert len(steps) < 100, "the copy begins anew at each write"
        write_elsewhere("meanwhile")

    back_up(file, progress=write, pages=50)
    assert Event.objects.filter(verb="meanwhile").count() == len(steps) > 0
    restore(file, overwrite=True)
    assert Event.objects.filter(verb="meanwhile").count() == 0


def test_rows_can_be_added_after_a_restore(run, file):
    back_up(file)
    restore(file, overwrite=True)
    assert runs.start_run(make_suite(), label="next").pk > run.pk


def test_restored_run_waits_for_a_person(run, file, demo):
    """Drawn after the backup, so pending again after the restore: workers that run on must not draw it by themselves."""
    demo()
    back_up(file)
    drawn = draw_some(run).drawn
    assert drawn == 12
    done = restore(file, overwrite=True)
    assert done.lost_calls == 12 and done.lost_nano > 0
    run.refresh_from_db()
    assert run.drawing_state == Run.Drawing.PAUSED
    assert run.paused_reason.startswith("Restored from a backup of") and "12 calls made since" in run.paused_reason
    assert claim(run, 100) == [], "nothing is claimed before somebody resumes the run"
    assert Event.objects.filter(run=run, verb="pause_run", facts__code="restored").count() == 1
    assert runs.resume_run(run)
    assert draw_some(run).drawn == 12, "then it is drawn again, knowingly"


def test_call_in_flight_at_the_backup_is_given_up_but_may_still_come_back(run, file, demo):
    demo()
    questions = claim(run, 2)
    back_up(file)
    restore(file, overwrite=True)
    assert not Sample.objects.filter(state=Sample.State.ASKING).exists()
    assert set(ProviderCall.objects.values_list("outcome", flat=True)) == {"unknown"}
    settle(run, ask(questions))
    assert Sample.objects.filter(state=Sample.State.DRAWN).count() == 2, "it was paid, so its answer is used"
    run.refresh_from_db()
    assert run.reserved_nano == 0


def test_call_made_after_the_backup_settles_nothing(run, file, demo):
    demo()
    back_up(file)
    questions = claim(run, 2)
    restore(file, overwrite=True)
    settle(run, ask(questions))
    run.refresh_from_db()
    assert (run.spent_nano, run.reserved_nano) == (0, 0)
    assert not ProviderCall.objects.exists()


def test_nothing_is_replaced_without_a_word(run, file):
    back_up(file)
    with pytest.raises(BackupError, match="exists"):
        back_up(file)
    with pytest.raises(BackupError, match="--yes"):
        restore(file)
    back_up(file, overwrite=True)


@pytest.mark.parametrize(
    "damage",
    [
        "cut",
        "text",
        "no_manifest",
        "deep_manifest",
        "flipped",
        "other_format",
        "later_version",
        "newer",
        "other_engine",
    ],
)
def test_damaged_backup_changes_nothing(run, file, damage):
    back_up(file)
    data = file.read_bytes()
    if damage == "cut":
        file.write_bytes(data[: len(data) // 2])
    if damage == "text":
        file.write_text("not a zip")
    if damage == "no_manifest":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x", "y")
    if damage == "deep_manifest":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("manifest.json", '{"a":' * 100_000)
    if damage == "flipped":
        rewritten(file, sha256="0" * 64)
    if damage == "other_format":
        rewritten(file, format="benchsite-run")
    if damage == "later_version":
        rewritten(file, version=2)
    if damage == "newer":
        rewritten(file, migrations=["generation.0001_initial", "generation.0999_future"])
    if damage == "other_engine":
        rewritten(file, engine="postgresql" if connection.vendor == "sqlite" else "sqlite")
    with pytest.raises(BackupError) as error:
        restore(file, overwrite=True)
    assert str(file) in str(error.value)
    run.refresh_from_db()
    assert run.drawing_state == Run.Drawing.OPEN


def test_missing_file_is_said():
    with pytest.raises(BackupError, match="cannot be read"):
        read_manifest(backups.Path("/nowhere/x.zip"))
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("backup", "/nowhere/x.zip")


def test_commands_say_what_they_did(run, file, capsys):
    call_command("backup", str(file))
    ProviderCall.objects.create(
        sample=run.samples.first(), run=run, token="0" * 32, lease_until=now() + timedelta(minutes=1)
    )
    call_command("restore", str(file), "--yes")
    output = capsys.readouterr().out
    assert "1 runs" in output and "Since then 1 calls" in output and "1 run was drawing and is paused" in output


def test_commands_show_how_far_they_are(run, file, eager):
    for words, label in ((["backup", str(file)], "Backing up"), (["restore", str(file), "--yes"], "Restoring")):
        screen = Screen()
        call_command(*words, stderr=screen)
        assert f"\r{label} " in screen.getvalue() and "\n" not in screen.getvalue()


def test_the_error_is_told_and_not_the_hint_after_it():
    said = io.BytesIO(b"psql:<stdin>:2: ERROR:  deadlock detected\nDETAIL:  Process 1\nHINT:  See server log.\n")
    assert backups.complaint(said) == "psql:<stdin>:2: ERROR:  deadlock detected"
    assert backups.complaint(io.BytesIO(b"one\ntwo\n")) == "two"


def test_missing_tools_are_named_with_the_command(run, file, tmp_path, monkeypatch):
    if connection.vendor != "postgresql":
        assert "pg_dump --format=custom" in backups.by_hand("pg_dump")
        return
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(BackupError, match=r"not on the PATH.*pg_dump --format=custom"):
        back_up(file)
    assert list(file.parent.iterdir()) == []
