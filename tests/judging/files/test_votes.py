"""votes.jsonl out and in: exported votes equal the rows, and survive the way back."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils.timezone import now

from generation.models import Event, Prompt, Run
from generation.suites.suite import Suite
from judging.files.exports import VOTE_FIELDS, vote_records, write_votes
from judging.files.import_votes import import_votes
from judging.models import JudgeTally, Matchup, Seat, Vote
from judging.pairs import voting
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from tests.judging.make import close_judging, make_run, make_seat

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


@pytest.fixture
def run():
    run = make_run(entrants=4, prompts=6, attempts=2, repeats=0.1)
    for name in ("alice", "bob"):
        seat = make_seat(run, name)
        take_seat(seat.pk)
        for outcome in ["left", "right", "tie", "fail"] * 3:
            code = Matchup.objects.get(seat=seat, state="open").code
            voting.cast_vote(judge=seat.judge, code=code, ballot=voting.Ballot(outcome, response_ms=5))
        voting.undo_vote(judge=seat.judge, code=code)
    return run


def test_exported_votes_equal_the_rows(run):
    stream = io.StringIO()
    count = write_votes(run, stream)

    records = [json.loads(line) for line in stream.getvalue().splitlines()]
    votes = Vote.objects.order_by("voted_at", "id").select_related(
        "seat", "matchup__prompt", "matchup__left", "matchup__right", "matchup__left_sample", "matchup__right_sample"
    )
    assert count == len(records) == 24
    assert all(tuple(record) == VOTE_FIELDS for record in records)
    assert records == [
        {
            "run": run.code,
            "suite": "ascii",
            "judge": vote.seat.pseudonym,
            "prompt_text": vote.matchup.prompt.text,
            "category": vote.matchup.category,
            "left_model": vote.matchup.left.name,
            "right_model": vote.matchup.right.name,
            "left_attempt": vote.matchup.left_sample.attempt,
            "right_attempt": vote.matchup.right_sample.attempt,
            "outcome": vote.outcome,
            "voted_at": vote.voted_at.isoformat(),
            "response_ms": vote.response_ms,
            "kind": vote.matchup.kind,
            "withdrawn": vote.withdrawn_at is not None,
            "unblind": vote.unblind,
            "kept_out": vote.kept_out,
            "imported": False,
            "unconfirmed": False,
        }
        for vote in votes
    ]
    assert Counter(record["withdrawn"] for record in records) == {False: 22, True: 2}


def test_judges_are_pseudonymous_unless_names_are_asked_for(run):
    assert {record["judge"] for record in vote_records(run)} == {"judge alice", "judge bob"}
    assert {record["judge"] for record in vote_records(run, names=True)} == {"alice", "bob"}


@pytest.mark.parametrize("start", "=+-@\t\r\n＝")
def test_csv_neutralises_formulas_in_every_cell_that_people_or_models_wrote(run, start):
    """Prompts, names of models, judges and categories; and the JSONL of the same votes stays exact."""
    formula = f'{start}HYPERLINK("http://x")'
    Prompt.objects.update(text=formula)
    Matchup.objects.update(category=formula)
    for entrant in run.entrants.all():
        run.entrants.filter(pk=entrant.pk).update(name=f"{formula}{entrant.pk}")
    User.objects.filter(username="bob").update(username=formula)
    stream, exact = io.StringIO(newline=""), io.StringIO()

    write_votes(run, stream, format="csv", names=True)
    write_votes(run, exact, names=True)

    stream.seek(0)
    rows = list(csv.DictReader(stream))
    assert len(rows) == 24
    assert {row["prompt_text"] for row in rows} == {row["category"] for row in rows} == {f"'{formula}"}
    assert {row["judge"] for row in rows} == {"alice", f"'{formula}"}
    assert all(row[side].startswith(f"'{formula}") for row in rows for side in ("left_model", "right_model"))
    assert {row["withdrawn"] for row in rows} == {"true", "false"}
    assert not any(cell.startswith(start) for row in rows for cell in row.values())
    assert {json.loads(line)["prompt_text"] for line in exact.getvalue().splitlines()} == {formula}


FLAGS = ("withdrawn", "unblind", "kept_out", "imported", "unconfirmed")


def test_csv_has_the_votes_of_the_jsonl(run):
    sheet, lines = io.StringIO(newline=""), io.StringIO()

    assert write_votes(run, sheet, format="csv") == write_votes(run, lines)

    sheet.seek(0)
    rows = list(csv.DictReader(sheet))
    records = [json.loads(line) for line in lines.getvalue().splitlines()]
    for record in records:
        record |= {name: str(record[name]).lower() for name in FLAGS}
    assert rows == [{name: str(value) for name, value in record.items()} for record in records]


def test_a_dump_comes_back_the_same(run, tmp_path):
    path = tmp_path / "votes.jsonl"
    call_command("export", "votes", run.code, out=path)

    call_command("import_votes", path, title="Again", reason="a test")

    again = Run.objects.get(title="Again")
    skipped = {"run": None, "suite": None, "left_attempt": None, "right_attempt": None, "imported": None}
    before = [record | skipped for record in vote_records(run)]
    assert [record | skipped for record in vote_records(again)] == before
    assert differences(again) == 0
    assert Suite.from_dict(again.config).title == "Again"
    tallies = JudgeTally.objects.filter(run=again).values_list("votes", flat=True)
    assert sum(tallies) == 22


def test_into_the_same_run_attempts_are_found_and_the_file_counts_once(run, tmp_path):
    close_judging(run)
    path = tmp_path / "votes.jsonl"
    call_command("export", "votes", run.code, out=path)
    path.write_text(path.read_text().replace('"voted_at": "2', '"voted_at": "1'))

    call_command("import_votes", path, run=run.code, reason="a test")

    assert Vote.objects.count() == 48
    assert not Matchup.objects.filter(left_sample=None).exists()
    assert differences(run) == 0
    with pytest.raises(CommandError, match="already been imported into this run"):
        call_command("import_votes", path, run=run.code, reason="a test")


def test_only_two_models_and_an_outcome_are_required(tmp_path):
    path = tmp_path / "few.jsonl"
    path.write_text(
        '{"left_model": "a", "right_model": "b", "outcome": "left"}\n\n'
        '{"left_model": "b", "right_model": "a", "outcome": "fail", "judge": "j1", "prompt_text": "Draw"}\n'
    )

    call_command("import_votes", path, reason="a test")

    run = Run.objects.get()
    assert [(r["left_model"], r["outcome"], r["judge"]) for r in vote_records(run)] == [
        ("a", "left", None),
        ("b", "fail", "j1"),
    ]
    assert Seat.objects.get(is_unknown=True).voted == 1
    assert differences(run) == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "not JSON"),
        ("[1]", "the line is a list, not a JSON object"),
        ('{"left_model": "a", "outcome": "left"}', "right_model is missing"),
        (
            '{"left_model": "a", "right_model": "a", "outcome": "left"}',
            "right_model 'a' cannot be compared with itself",
        ),
        ('{"left_model": "a", "right_model": "b", "outcome": "win"}', "outcome must be"),
        ('{"left_model": 3, "right_model": "b", "outcome": "left"}', "must be text"),
        ('{"left_model": "a", "right_model": "b", "outcome": "left", "kind": "odd"}', "kind must be"),
        (
            '{"left_model": "a", "right_model": "b", "outcome": "left", "response_ms": -1}',
            "response_ms must be a number of milliseconds",
        ),
        (
            '{"left_model": "a", "right_model": "b", "outcome": "left", "response_ms": 0.5}',
            "response_ms must be a whole",
        ),
        ('{"left_model": "a", "right_model": "b", "outcome": "left", "left_attempt": true}', "whole number"),
        ('{"left_model": "a", "right_model": "b", "outcome": "left", "voted_at": "soon"}', "voted_at"),
        ('{"left_model": "a", "right_model": "b", "outcome": "left", "voted_at": "2026-99-01T00:00"}', "voted_at"),
        ('{"left_model": "a", "right_model": "b", "outcome": "tie", "voted_at": "0001-01-01T00:00+14:00"}', "voted_at"),
        ("[" * 100_000, "not JSON"),
        ("", "contains no votes"),
    ],
)
def test_a_bad_line_refuses_the_file_and_says_where(tmp_path, line, words):
    path = tmp_path / "bad.jsonl"
    good = '{"left_model": "a", "right_model": "b", "outcome": "left"}\n'
    path.write_text(f"{good}{line}\n" if line else "\n")

    with pytest.raises(CommandError, match=words) as refused:
        call_command("import_votes", path, reason="a test")

    assert not line or "bad.jsonl:2" in str(refused.value)
    assert Run.objects.count() == 0


def test_entrants_that_a_run_does_not_have_are_refused_by_line(run, tmp_path):
    close_judging(run)
    path = tmp_path / "votes.jsonl"
    path.write_text('\n{"left_model": "who", "right_model": "acme/alpha-1", "outcome": "left"}\n')

    with pytest.raises(CommandError, match=r"votes.jsonl:2: 'who' is not an entrant of this run"):
        call_command("import_votes", path, run=run.code, reason="a test")


GOOD = b'{"left_model": "a", "right_model": "b", "outcome": "left"}'
TIMED = GOOD[:-1] + b', "judge": "j", "voted_at": "2026-05-01T12:00:00Z"}'


def test_a_runs_own_votes_do_not_count_twice(run, tmp_path):
    close_judging(run)
    path = tmp_path / "votes.jsonl"
    call_command("export", "votes", run.code, out=path)

    with pytest.raises(CommandError, match=f"votes.jsonl:1: this vote of .* is in run {run.code} already"):
        call_command("import_votes", path, run=run.code, reason="a test")

    assert Vote.objects.count() == 24 and Seat.objects.filter(pseudonym__endswith="(imported)").count() == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (GOOD + b"\n" + TIMED + b"\n" + TIMED, r"votes.jsonl:3: this repeats the vote of votes.jsonl:2"),
        (GOOD + b"\n" + GOOD[:-9], r"votes.jsonl:2: the line is not JSON \(Expecting"),
        (GOOD + b"\n\xff\xfe\n", r"votes.jsonl:2: the line is not UTF-8 text"),
        (GOOD + b"\n" + b"x" * (2 << 20) + b"\n", r"votes.jsonl:2: the line is over 1048576 characters"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00\xb9\x8a", r"votes.jsonl:1: the line is not UTF-8 text"),
        (b"\xef\xbb\xbf", r"votes.jsonl: it contains no votes"),
        (b"", r"votes.jsonl: it contains no votes"),
    ],
)
def test_damaged_files_are_refused_by_line_and_leave_nothing(tmp_path, data, words):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(data)

    with pytest.raises(CommandError, match=words):
        call_command("import_votes", path, reason="a test")

    assert not Run.objects.exists() and not Vote.objects.exists()


def test_one_moment_may_hold_votes_on_several_prompts(tmp_path):
    """A file that tells only the second, or the day, of a vote."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    timed = [TIMED[:-1] + b', "prompt_text": "%s"}\n' % text for text in (b"cat", b"dog", b"owl")]
    first.write_bytes(timed[0] + timed[1] + timed[2])
    call_command("import_votes", first, reason="a test")
    run = Run.objects.get()
    Vote.objects.order_by("pk").last().delete()

    second.write_bytes(timed[2])
    call_command("import_votes", second, run=run.code, reason="a test")
    second.write_bytes(b"\n" + timed[1])

    with pytest.raises(CommandError, match=r"second.jsonl:2: this vote of j is in run"):
        call_command("import_votes", second, run=run.code, reason="a test")
    assert Vote.objects.count() == 3


def test_a_vote_with_the_time_of_its_withdrawal_does_not_count(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(GOOD + b"\n" + TIMED[:-1] + b', "withdrawn": "2026-05-01T14:30:00+02:00"}')

    run, count = import_votes(path=path, reason="a test")

    withdrawn = run.votes.get(seat__pseudonym="j")
    assert count == 2 and list(run.votes.standing()) == list(run.votes.exclude(pk=withdrawn.pk))
    assert withdrawn.withdrawn_at.isoformat() == "2026-05-01T12:30:00+00:00"
    assert sum(JudgeTally.objects.filter(run=run).values_list("votes", flat=True)) == 1


def test_a_byte_order_mark_and_carriage_returns_are_taken(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD + b"\r\n" + TIMED + b"\r\n")

    call_command("import_votes", path, reason="a test")

    assert Vote.objects.count() == 2


def test_rebuild_tallies_says_what_was_wrong(run, capsys):
    JudgeTally.objects.filter(pk=JudgeTally.objects.first().pk).update(votes=99)

    call_command("rebuild_tallies", run.code)
    call_command("rebuild_tallies")

    output = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in output] == ["1 rows were wrong.", "0 rows were wrong."]


def test_check_tallies_finds_a_wrong_count(run, capsys):
    call_command("check_tallies", run.code)
    assert "match their standing votes" in capsys.readouterr().out

    tally = JudgeTally.objects.filter(run=run).first()
    JudgeTally.objects.filter(pk=tally.pk).update(votes=tally.votes + 1)

    with pytest.raises(CommandError, match="1 rows"):
        call_command("check_tallies")


def test_a_frozen_run_takes_no_votes_from_a_file(run, tmp_path):
    path = tmp_path / "votes.jsonl"
    with path.open("w") as stream:
        write_votes(run, stream)
    Run.objects.filter(pk=run.pk).update(frozen_at=now())

    with pytest.raises(CommandError, match="is frozen"):
        call_command("import_votes", path, run=run.code, reason="a test")

    assert Vote.objects.count() == 24


def test_one_prompt_in_two_categories_is_counted_once_in_each(tmp_path):
    path = tmp_path / "votes.jsonl"
    vote = {"left_model": "a", "right_model": "b", "outcome": "left", "judge": "j", "prompt_text": "a cat"}
    path.write_text("\n".join(json.dumps(vote | {"category": category}) for category in ("x", "y", "x", "")))

    call_command("import_votes", path, reason="a test")

    rows = Matchup.objects.values_list("category", "prompt__category", "prompt__text")
    assert sorted(rows) == [(c, c, "a cat") for c in ("", "x", "x", "y")]


def test_votes_for_a_run_take_its_categories(run, tmp_path):
    close_judging(run)
    path, prompt = tmp_path / "votes.jsonl", run.prompts.first()
    names = dict(zip(("left_model", "right_model"), run.entrants.values_list("name", flat=True), strict=False))
    line = {**names, "outcome": "tie", "judge": "j", "prompt_text": prompt.text, "category": "misspelt"}
    path.write_text(json.dumps(line))

    call_command("import_votes", path, run=run.code, reason="a test")

    assert Matchup.objects.get(seat__pseudonym="j").category == prompt.category


def test_a_file_may_have_any_name(tmp_path):
    path = tmp_path / (os.fsdecode(b"\xff") + "v" * 100 + ".jsonl")
    path.write_text('{"left_model": "a", "right_model": "b", "outcome": "left"}\n')

    run, count = import_votes(path=path, title="t" * 300, reason="a test")

    assert (count, run.title) == (1, "t" * 200)
    assert import_votes(path=path, reason="a test")[0].title == "\ufffd" + "v" * 100
    assert Event.objects.filter(verb="import votes").latest("id").subject == "\ufffd" + "v" * 100 + ".jsonl"
