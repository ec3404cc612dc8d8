"""Archives from anywhere: every damage is named by file, line and field, and nothing is half imported."""

from __future__ import annotations

import json
import zipfile

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from benchsite.lib.file_errors import FileError
from generation.models import ARCHIVE_DIFFERS, Event, Measurement, Run
from generation.reading.answers import reread_run
from generation.runs.errors import RunError
from judging.curating.runs import set_judging
from judging.pairs.adaptive.focus import set_pairs
from ranking.archive.importing import import_run
from ranking.archive.reading import open_archive
from ranking.archive.writing import archive_chunks, write_archive
from tests.judging.make import make_curator
from tests.ranking.answered_run import make_answered_run
from tests.ranking.archive_run import edit, lines, make_judged_run, members, rewrite

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def whole(django_db_setup, django_db_blocker):
    """The bytes of one good archive, of a run that is not in the database any more."""
    with django_db_blocker.unblock(), transaction.atomic():
        data = b"".join(archive_chunks(make_judged_run(votes=40, prompts=3, attempts=1)))
        transaction.set_rollback(True)
    return data


@pytest.fixture
def file(whole, tmp_path):
    path = tmp_path / "run.zip"
    path.write_bytes(whole)
    return path


def assert_refused(path, *words):
    before = (Run.objects.count(), Event.objects.count(), User.objects.count())
    with pytest.raises(FileError) as error:
        import_run(path, copy=True, reason="a test")
    assert all(word in str(error.value) for word in words), str(error.value)
    assert (Run.objects.count(), Event.objects.count(), User.objects.count()) == before


def test_what_is_no_zip(tmp_path):
    path = tmp_path / "x.zip"
    for data in (b"", b"PK\x03\x04", b"<svg/>" * 100):
        path.write_bytes(data)
        assert_refused(path, "x.zip: is not a whole zip")
    assert_refused(tmp_path / "missing.zip", "missing.zip: cannot be read")
    assert_refused(tmp_path, "cannot be read")


def test_name_that_is_no_text(file):
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("é", "")
    file.write_bytes(file.read_bytes().replace("é".encode(), b"\xff\xfe"))
    assert_refused(file, "is not a whole zip")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_truncated_zip(file, share):
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    assert_refused(file, "is not a whole zip")


def test_flipped_bits_are_found(file):
    data = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as archive:
        info = archive.getinfo("votes.jsonl")
    data[info.header_offset + len(info.filename) + 60] ^= 0xFF
    file.write_bytes(bytes(data))
    assert_refused(file)


def test_backup_is_not_a_run(file):
    rewrite(file, manifest={"format": "benchsite-backup"})
    assert_refused(file, "manifest.json", "run's archive")


@pytest.mark.parametrize("schema", [0, 2, "1", None])
def test_other_schema(file, schema):
    rewrite(file, manifest={"schema": schema})
    assert_refused(file, "manifest.json: has schema", "reads 1")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "votes.jsonl/../x", "C:\\x", "votes", "a/b.jsonl"])
def test_names_that_lead_elsewhere(file, name):
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, "x")
    assert_refused(file, "is not a file of a run's archive")


def test_file_twice(file):
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(file, "a") as archive:
        archive.writestr("votes.jsonl", "")
    assert_refused(file, "votes.jsonl: is in the archive twice")


def test_file_missing(file):
    rewrite(file, judges_jsonl=None)
    assert_refused(file, "manifest.json: does not list judges.jsonl")


def test_file_that_the_manifest_does_not_know(file):
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("LEADERBOARD-rubric.md", "x")
    assert_refused(file, "LEADERBOARD-rubric.md", "not in both")


def test_manifest_without_members(file):
    for members_said in ({}, [], {"votes.jsonl": 3}, None):
        rewrite(file, manifest={"members": members_said})
        assert_refused(file, "manifest.json")


def test_edited_line_breaks_the_checksum(file):
    data = members(file)["votes.jsonl"].replace(b'"left"', b'"right"')
    rewrite(file, votes_jsonl=data, seal=False)
    assert_refused(file, "votes.jsonl: differs from its checksum")


def test_bomb_is_refused_before_it_is_unpacked(file):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("votes.jsonl", "w", force_zip64=True) as member:
            member.write(b"\n" * (8 << 20))
        archive.writestr("manifest.json", "{}")

    with pytest.raises(FileError, match=r"would unpack to .* no run's archive"):
        open_archive(file, largest=1 << 20)


def test_encrypted_zip(file):
    data = bytearray(file.read_bytes())
    at = data.index(b"PK\x01\x02")
    while at >= 0:
        data[at + 8] |= 1
        at = data.find(b"PK\x01\x02", at + 4)
    file.write_bytes(bytes(data))
    assert_refused(file, "is not a whole zip")


BAD_LINES = {
    b"{": "votes.jsonl:1: is not JSON",
    b"[1]": "votes.jsonl:1: is a list, not a JSON object",
    b"\xff\xfe": "votes.jsonl:1: is not UTF-8",
    b'{"run": NaN}': "votes.jsonl:1: is not JSON (NaN is not a number)",
    b'{"run": 1, "run": 2}': "votes.jsonl:1: names the same field twice",
    b"[" * 100_000: "votes.jsonl:1: is not JSON",
    b"{}": "votes.jsonl:1: run is missing",
    b"\n{}": "votes.jsonl:1: is not JSON",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_lines_that_are_no_rows(file, line):
    rewrite(file, votes_jsonl=line + b"\n")
    assert_refused(file, BAD_LINES[line])


BAD_FIELDS = [
    ("votes.jsonl", 3, {"outcome": "maybe"}, "votes.jsonl:3: outcome 'maybe' is not one of its values"),
    ("votes.jsonl", 3, {"voted_at": "yesterday"}, "votes.jsonl:3: voted_at is not a time"),
    ("votes.jsonl", 3, {"voted_at": "2026-05-01T12:00:00"}, "votes.jsonl:3: voted_at is not a time"),
    ("votes.jsonl", 3, {"matchup": "nowhere"}, "votes.jsonl:3: matchup 'nowhere' is not in this archive"),
    ("votes.jsonl", 3, {"response_ms": True}, "votes.jsonl:3: response_ms is not a whole number"),
    ("votes.jsonl", 3, {"response_ms": 10**30}, "votes.jsonl:3: response_ms is not a whole number"),
    ("votes.jsonl", 3, {"response_ms": -1}, "votes.jsonl:3: cannot be stored"),
    ("votes.jsonl", 3, {"left_breaks": 8}, "votes.jsonl:3: cannot be stored"),
    ("votes.jsonl", 3, {"withdrawn_at": "2026-05-02T09:00:00+00:00"}, "votes.jsonl:3: withdrawn does not agree"),
    ("votes.jsonl", 3, {"kind": ...}, "votes.jsonl:3: kind is missing"),
    ("matchups.jsonl", 2, {"judge": "mallory"}, "matchups.jsonl:2: judge 'mallory' is not in this archive"),
    ("matchups.jsonl", 2, {"left_sample": "none"}, "matchups.jsonl:2: left_sample 'none' is not in this archive"),
    ("matchups.jsonl", 2, {"repeat_of": "none"}, "matchups.jsonl:2: repeat_of is not a matchup"),
    ("matchups.jsonl", 2, {"state": "stolen"}, "matchups.jsonl:2: state 'stolen' is not one of"),
    ("judges.jsonl", 1, {"weight": 0, "excluded_reason": ""}, "judges.jsonl:1: cannot be stored"),
    ("judges.jsonl", 1, {"judge": "x" * 121}, "judges.jsonl:1: pseudonym is longer than 120"),
    ("database.jsonl", 1, {"sample": "../../../x"}, "database.jsonl:1: sample is not a public id"),
    ("database.jsonl", 1, {"raw_output": "a\u0000b"}, "database.jsonl:1: raw_output is not text"),
    ("database.jsonl", 1, {"raw_output": "\ud800"}, "database.jsonl:1: raw_output is not text"),
    ("database.jsonl", 1, {"raw_base64": "%%%"}, "database.jsonl:1: raw_base64 is not base64"),
    ("database.jsonl", 1, {"facts": []}, "database.jsonl:1: facts is not an object"),
    ("database.jsonl", 1, {"entrant": "who"}, "database.jsonl:1: entrant 'who' is not in this archive"),
    ("entrants.jsonl", 1, {"model_id": "who"}, "entrants.jsonl:1: model_id 'who' is not in this archive"),
    ("calls.jsonl", 1, {"outcome": "free"}, "calls.jsonl:1: outcome 'free' is not one of"),
    ("grades.jsonl", 1, {"value": 11}, "grades.jsonl:1: cannot be stored"),
    ("grades.jsonl", 1, {"value": "7"}, "grades.jsonl:1: value is not a number"),
    ("grades.jsonl", 2, {"judge": "mallory"}, "grades.jsonl:2: judge 'mallory' is not in this archive"),
    ("measures.jsonl", 1, {"sample": "none"}, "measures.jsonl:1: sample 'none' is not in this archive"),
]


@pytest.mark.parametrize(("name", "line", "fields", "message"), BAD_FIELDS, ids=lambda value: str(value)[:40])
def test_fields_that_are_wrong(file, name, line, fields, message):
    edit(file, name, line, **fields)
    assert_refused(file, message)


@pytest.mark.parametrize(
    "name", ["votes.jsonl", "matchups.jsonl", "database.jsonl", "judges.jsonl", "entrants.jsonl", "grades.jsonl"]
)
def test_duplicate_lines_are_named(file, name):
    data = members(file)[name]
    last = data.rstrip(b"\n").rsplit(b"\n", 1)[-1] + b"\n"
    first = data[: data.index(b"\n") + 1]
    standing = first if name == "votes.jsonl" else last
    rewrite(file, **{name.replace(".", "_"): data + standing})
    assert_refused(file, f"{name}:{data.count(bytes([10])) + 1}: cannot be stored")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "no_such"}, "run.json: format 'no_such' is not a format of this site"),
        ({"protocols": ["magic"]}, "run.json: protocols names a protocol"),
        ({"ties": "both"}, "run.json: ties 'both' is not one of"),
        ({"spent_nano": -5}, "run.json: cannot be stored"),
        ({"code": "a/b"}, "run.json: code is not a public id"),
    ],
)
def test_run_that_cannot_be(file, change, message):
    document = json.loads(members(file)["run.json"]) | change
    rewrite(file, run_json=json.dumps(document).encode())
    assert_refused(file, message)


def test_suite_that_is_none(file):
    for suite in (b"{}", b'{"slug": 1}', b"[]"):
        rewrite(file, suite_json=suite)
        assert_refused(file, "suite.json")


def test_control_characters_of_an_archive_reach_no_terminal(file):
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("\x1b[2Jx", "y")
    with pytest.raises(FileError) as error:
        open_archive(file)
    assert "\x1b" not in str(error.value)


def test_undamaged_one_is_taken_after_all_that(file):
    edit(file, "votes.jsonl", 1, response_ms=12)
    assert import_run(file, copy=True, reason="a test").votes.count() == len(lines(file, "votes.jsonl"))


SCRIPT = "<script>alert(1)</script>"


def test_a_drawing_is_what_our_reader_makes_of_the_answer(file):
    rows = lines(file, "database.jsonl")
    edit(file, "database.jsonl", 1, sanitized_output=SCRIPT, flags=["identity_leak", 3, {}], held=False)
    edit(file, "database.jsonl", 2, raw_output="")

    copy = import_run(file, copy=True, reason="a test")

    marked = list(copy.samples.filter(flags__icontains=ARCHIVE_DIFFERS).order_by("id"))
    assert [sample.drawing for sample in marked] == [rows[0]["sanitized_output"], ""]
    assert [sample.verdict for sample in marked] == ["valid", "invalid"]
    assert marked[0].flags == [ARCHIVE_DIFFERS]
    assert [sample.readings.get(format_version=rows[0]["format_version"]).drawing for sample in marked] == [
        SCRIPT,
        rows[1]["sanitized_output"],
    ]
    assert copy.events.get(verb="import_run").facts["differ"] == 2


def test_a_drawing_that_signs_itself_is_held_whatever_the_archive_says(file):
    signed = "```\n/\\\\_/\\\\\n by Demo Third\n```"
    edit(file, "database.jsonl", 1, raw_output=signed, held=False, flags=["identity_leak"])

    copy = import_run(file, copy=True, reason="a test")

    assert copy.samples.order_by("id").first().held


@pytest.mark.parametrize("state", ["closed", "not_open"])
def test_pairs_of_an_imported_run_are_balanced_whatever_the_archive_says(file, state):
    document = json.loads(members(file)["run.json"]) | {"adaptive_pairs": True, "judging_state": state}
    rewrite(file, run_json=json.dumps(document).encode())

    copy = import_run(file, copy=True, reason="a test")
    set_judging(run=copy, verb="open", by=None)

    copy.refresh_from_db()
    assert (copy.adaptive_pairs, copy.was_adaptive) == (False, True)
    with pytest.raises(RunError, match="shown or imported already"):
        set_pairs(run=copy, adaptive=True, by=None)


def test_measures_of_an_automatic_score_are_measured_anew(tmp_path):
    write_archive(make_answered_run(models=["demo/master"], attempts=1), tmp_path / "run.zip")
    before = lines(tmp_path / "run.zip", "measures.jsonl")[0]
    edit(tmp_path / "run.zip", "measures.jsonl", 1, values={"score": 1.0, "stage": 7})

    copy = import_run(tmp_path / "run.zip", copy=True, reason="a test")

    values = [measure.values for measure in Measurement.objects.filter(sample__run=copy).order_by("id")]
    assert values[0] == before["values"]
    assert len(values) == len(lines(tmp_path / "run.zip", "measures.jsonl"))


@pytest.mark.parametrize("suite", ['x"; filename="y.exe', "x\r\nSet-Cookie: a=b", "ä", "", "../x"])
def test_a_name_that_reaches_headers_is_checked(file, suite):
    document = json.loads(members(file)["run.json"]) | {"suite": suite}
    rewrite(file, run_json=json.dumps(document).encode())

    assert_refused(file, "run.json: suite is not a name of letters")


def test_an_imported_run_is_judged_only_if_it_was_read_here(file):
    run, curator = import_run(file, copy=True, reason="a test"), make_curator()
    set_judging(run=run, verb="open", by=curator)
    set_judging(run=run, verb="close", by=curator)
    run.events.filter(verb="import_run").update(facts={"run": run.code})  # as an earlier release imported it

    with pytest.raises(RunError, match="Read all answers again"):
        set_judging(run=run, verb="open", by=curator)

    reread_run(run, by=curator)
    set_judging(run=run, verb="open", by=curator)
    assert run.judging_state == "open"
