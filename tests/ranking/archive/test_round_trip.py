"""A run's archive: everything in it, documented, and the same leaderboard on the other side."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from uuid import uuid4

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.utils.timezone import now

from generation.drawing.sweeping import sweep
from generation.models import Event, ProviderCall, Run, Sample
from generation.reading.answers import reread_run
from judging.models import Grade, Vote
from judging.pairs.tallies import differences
from ranking.archive.importing import import_run
from ranking.archive.members import lines_of, optional_files
from ranking.archive.writing import archive_chunks, write_archive
from ranking.fitting import fit_run
from tests.judging.make import make_curator
from tests.ranking.answered_run import make_answered_run
from tests.ranking.archive_run import add_votes, forget_all, leaderboard, lines, make_judged_run, members
from tests.ranking.graded_run import make_graded_run

pytestmark = [pytest.mark.django_db, pytest.mark.long]


@pytest.fixture(scope="module", autouse=True)
def judged(module_rows):
    return make_judged_run().pk


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged)


@pytest.fixture
def file(run, tmp_path):
    write_archive(run, tmp_path / "run.zip")
    return tmp_path / "run.zip"


def test_leaderboard_is_the_same_in_a_copy(run, file):
    before = leaderboard(run)
    assert before["votes"] > 50 and before["settings"]["ties"] == "drop" and before["settings"]["weights"]
    copy = import_run(file, copy=True, reason="a test")
    assert copy.code != run.code
    assert leaderboard(copy) == before


def make_half_graded_run():
    """With drawings still to come, one that failed and one that failed and is not to count."""
    run = make_graded_run(attempts=3)
    reread_run(run)
    first, *more = run.samples.filter(attempt=3).exclude(grades=None).order_by("-id")[:4]
    Grade.objects.filter(sample__in=[first, *more]).delete()
    undrawn = run.samples.filter(pk__in=[sample.pk for sample in (first, *more)])
    undrawn.update(state="pending", drawn_at=None, verdict="", drawing="")
    Sample.objects.filter(pk=more[0].pk).update(state="asking", token=uuid4(), lease_until=now())
    Sample.objects.filter(pk=more[1].pk).update(state="failed", failure="timeout")
    Sample.objects.filter(pk=more[2].pk).update(state="failed", failure="timeout", excluded_reason="our own mistake")
    return run


def make_pixel_run():
    run = make_answered_run(models=["demo/master", "demo/apprentice", "demo/beginner"], attempts=2, protocols=BOTH)
    add_votes(run, judges=3, votes=60)
    return run


BOTH = ("automatic", "pairwise")
KINDS = {
    "votes": make_judged_run,
    "grades": make_half_graded_run,
    "pixel art": make_pixel_run,
    "science birds": lambda: make_answered_run("science-birds", prompts=["A", "B"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_leaderboard_is_the_same_on_the_other_side(kind, tmp_path):
    run = KINDS[kind]()
    before = {protocol: leaderboard(run, protocol) for protocol in run.protocols}
    for board in before.values():  # what was still to come never will on the other side
        board["answers"]["missing"] = run.samples.filter(excluded_reason="").exclude(state="drawn").count()
        board["answers"]["waiting"] = 0
    write_archive(run, tmp_path / "run.zip")
    forget_all(run)
    copy = import_run(tmp_path / "run.zip", reason="a test")
    sweep()
    after = {protocol: leaderboard(copy, protocol) for protocol in copy.protocols}
    for protocol, board in after.items():
        before[protocol]["answers"]["missing_by_entrant"] = board["answers"]["missing_by_entrant"]
    assert after == before
    write_archive(copy, tmp_path / "again.zip")
    forget_all(copy)
    again = import_run(tmp_path / "again.zip", reason="a test")
    assert {protocol: leaderboard(again, protocol) for protocol in again.protocols} == before


def test_run_keeps_its_ids_where_they_are_free(run, file):
    before, codes = leaderboard(run), set(Sample.objects.values_list("code", flat=True))
    votes = list(Vote.objects.order_by("id").values("outcome", "voted_at", "response_ms", "withdrawn_at"))
    forget_all(run)
    copy = import_run(file, reason="a test")
    assert copy.code == run.code and set(Sample.objects.values_list("code", flat=True)) == codes
    assert leaderboard(copy) == before
    assert sorted(map(str, Vote.objects.values("outcome", "voted_at", "response_ms", "withdrawn_at"))) == sorted(
        map(str, votes)
    )


def test_a_copy_of_a_copy_is_the_same_archive(run, file, tmp_path):
    copy = import_run(file, copy=True, reason="a test")
    again = tmp_path / "again.zip"
    write_archive(copy, again)
    skipped = {"code", "run", "sample", "matchup", "left_sample", "right_sample", "repeat_of", "imported"}
    for name in set(lines_of(run.protocols)) - optional_files():
        first, second = (
            [{k: v for k, v in row.items() if k not in skipped} for row in lines(path, name)] for path in (file, again)
        )
        assert first == second, name


def test_imported_run_draws_nothing_and_lets_nobody_in(run, file):
    copy = import_run(file, copy=True, reason="a test")
    assert (copy.drawing_state, copy.judging_state, copy.visibility) == ("cancelled", "closed", "private")
    assert not copy.samples.claimable().exists()
    assert not copy.seats.exclude(judge=None).exists()
    assert set(copy.models.values_list("profile__base_url", flat=True)) == {""}
    assert differences(copy) == 0
    assert Event.objects.get(run=copy, verb="import_run").facts["run"] == run.code


def test_answers_come_back_byte_by_byte(run, file):
    copy = import_run(file, copy=True, reason="a test")
    place = ("prompt__key", "entrant__name", "attempt")
    columns = (*place, "state", "answer", "raw", "drawing", "verdict", "reason", "facts", "failure")
    first, second = (
        [
            [bytes(value) if isinstance(value, memoryview) else value for value in row]
            for row in each.samples.order_by(*place).values_list(*columns)
        ]
        for each in (run, copy)
    )
    assert first == second
    assert copy.spent_nano == sum(ProviderCall.objects.filter(run=copy).values_list("cost_nano", flat=True))


def test_every_field_is_written_as_it_is_documented(run, file):
    contents = members(file)
    text = contents["README.md"].decode()
    for name, fields in lines_of(run.protocols).items():
        if name in optional_files():  # tests/judging/model_judges/test_importing.py has one with rows
            continue
        rows = lines(file, name)
        assert rows, f"{name} is empty, so this test would prove nothing"
        for row in rows:
            assert set(row) <= set(fields) and all(f in row for f, made in fields.items() if not made.may_be_absent), (
                name
            )
            assert not [f"{f} {fault}" for f in row if (fault := fields[f].fault(row[f]))], name
        assert f"## {name}" in text and all(f"| `{field}` |" in text for field in fields)


def test_checksums_are_of_what_is_inside(file):
    contents = members(file)
    result = json.loads(contents.pop("manifest.json"))
    assert result["schema"] == 1 and set(result["members"]) == set(contents)
    for name, data in contents.items():
        assert result["members"][name]["sha256"] == hashlib.sha256(data).hexdigest()
        assert result["members"][name]["bytes"] == len(data)
    assert result["members"]["votes.jsonl"]["lines"] == len(lines(file, "votes.jsonl"))


def test_papers_are_for_people(run, file):
    contents = members(file)
    assert yaml.safe_load(contents["suite.yaml"]) == json.loads(contents["suite.json"]) == run.config
    assert b"Demo Master" in contents["LEADERBOARD.md"] or b"demo/master" in contents["LEADERBOARD.md"]
    rows = list(csv.DictReader(io.StringIO(contents["standings.csv"].decode())))
    assert {row["entrant"] for row in rows if row["scope"] == "overall"} == {
        "demo/master",
        "demo/beginner",
        "demo/third",
    }


def test_leaderboard_inside_is_the_full_one_where_it_is_fresh(run, tmp_path):
    fit_run(run, protocol="pairwise")
    run.refresh_from_db()
    write_archive(run, tmp_path / "fresh.zip")
    assert json.loads(members(tmp_path / "fresh.zip")["leaderboard.json"]) == leaderboard(run)


def test_votes_inside_give_the_same_ratings_without_a_database(run, file, tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(members(file)["votes.jsonl"])
    out = io.StringIO()
    aside = run.seats.get(weight=0).pseudonym
    call_command("analyse", str(path), "--ties", "drop", "--exclude-judge", aside, stdout=out)
    assert json.loads(out.getvalue())["overall"] == leaderboard(run)["overall"]


def test_no_name_of_a_judge_is_in_it(run, tmp_path):
    seat = run.seats.exclude(judge=None).first()
    seat.pseudonym = "a pseudonym"
    seat.save()
    seat.judge.username = "alice-real-name"
    seat.judge.save()
    write_archive(run, tmp_path / "x.zip")
    assert b"alice-real-name" not in b"".join(members(tmp_path / "x.zip").values())


def test_it_is_streamed_in_small_portions(run):
    sizes = [len(chunk) for chunk in archive_chunks(run)]
    assert len(sizes) > 20 and max(sizes) < 100_000


def test_run_without_votes_or_answers_comes_over_too(tmp_path):
    run = make_judged_run(votes=0)
    run.samples.update(state="pending", drawn_at=None)
    write_archive(run, tmp_path / "x.zip")
    copy = import_run(tmp_path / "x.zip", copy=True, reason="a test")
    assert copy.samples.progress()["cancelled"] == run.samples.count()


def test_queries_do_not_grow_with_votes(tmp_path, django_assert_max_num_queries):
    counts = []
    for votes in (20, 80):
        run = make_judged_run(votes=votes)
        with django_assert_max_num_queries(200) as found:
            write_archive(run, tmp_path / "x.zip")
        counts.append(len(found))
    assert counts[0] == counts[1]


def test_curator_downloads_it_with_one_click(run, client, tmp_path):
    address = f"/runs/{run.code}/archive.zip"
    assert client.get(address).status_code == 302
    client.force_login(run.seats.exclude(judge=None).first().judge)
    assert client.get(address).status_code == 403
    client.force_login(make_curator())
    assert address in client.get(f"/runs/{run.code}/").content.decode()
    response = client.get(address)
    assert response.streaming and response["Content-Disposition"] == f'attachment; filename="tiny-{run.code}.zip"'
    path = tmp_path / "downloaded.zip"
    path.write_bytes(b"".join(response))
    assert leaderboard(import_run(path, copy=True, reason="a test")) == leaderboard(run)
    assert client.get("/runs/nowhere/archive.zip").status_code == 404


def test_commands_write_and_read_it(run, tmp_path, capsys):
    path = tmp_path / "out.zip"
    call_command("export", "all", run.code, "--out", str(path))
    with pytest.raises(CommandError, match=r"Nothing was imported.*--copy"):
        call_command("import_run", str(path), reason="a test")
    call_command("import_run", str(path), "--copy", reason="a test")
    output = capsys.readouterr()
    assert "MB written to" in output.err and f"{run.samples.count()} samples, {run.votes.count()} votes" in output.out
    assert zipfile.ZipFile(path).testzip() is None
