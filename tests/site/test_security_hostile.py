"""The hostile corpus at every stop of its way: parser, database, admin list, judge page, exports.

Kept, shown as text, never acted on. What a browser makes of it is in tests/browser/test_hostile.py.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchsite.lib.text import csv_uncell
from generation.files.export_samples import sample_lines
from generation.models import Run, Sample
from generation.reading.answers import reread_run
from generation.suites.loading import read_models
from generation.suites.yaml_source import SuiteError
from judging.files.exports import write_votes
from judging.models import Matchup
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote
from ranking.archive.importing import import_run
from ranking.archive.writing import write_archive
from tests.generation.drawing.test_hostile_http import expected_states
from tests.hostile import FOLDER, all_cases, case_bytes
from tests.hostile.runs import KINDS, Cast, hostile_run, worded_run, words_of, write_hostile_suites
from tests.judging.make import make_seat

pytestmark = [pytest.mark.django_db, pytest.mark.long]
CASES = {case["id"]: case for case in all_cases()}
READ_AS = {
    "accept": {"valid"},
    "accept_flagged": {"valid"},
    "invalid": {"invalid"},
    "graded": {"valid", "invalid"},  # the score says how bad it is, not the verdict
}


def at_the_parser(client, run: Run, cast: Cast, tmp_path) -> Iterator[str]:
    """Ends as the index says, by the parser of its own kind."""
    for name, sample in cast.items():
        case = CASES[name]
        if case["kind"] == "yaml":
            try:
                outcome = read_models(FOLDER / case["file"]) and "accept"
            except SuiteError as error:
                outcome = error.reason
            right = outcome == (case["reason"] or "accept")
        elif case["kind"] == "http":
            right = sample.state == expected_states(case)[0]
        else:
            right = sample.verdict in READ_AS[case["verdict"]]
        if right:
            yield name


def in_the_database(client, run: Run, cast: Cast, tmp_path) -> Iterator[str]:
    """The bytes are kept as they came; a reply's call has an end, and what came of it is kept or named."""
    for name, sample in cast.items():
        stored = Sample.objects.get(pk=sample.pk)
        if CASES[name]["kind"] == "http":
            ended = stored.calls.exclude(ended_at=None).count() == 1
            if ended and (bytes(stored.raw or b"") or stored.failure):
                yield name
        elif bytes(stored.raw) == case_bytes(CASES[name]):
            yield name


def on_the_admin_list(client, run: Run, cast: Cast, tmp_path) -> Iterator[str]:
    """Listed, and shown on its own page, as text and nothing else."""
    rows = b""
    for page in range(1, 4):
        listed = client.get(reverse("admin:generation_sample_changelist"), {"run__id__exact": run.pk, "p": page})
        rows += listed.content.partition(b'id="result_list"')[2].partition(b"</table>")[
            0
        ]  # the admin has icons of its own
    assert not (b"<svg" in rows or b"<script" in rows.lower())
    for name, sample in cast.items():
        page = client.get(reverse("generation:sample", args=[sample.code]))
        whole = page.status_code == 200 and b"<script>" not in page.content
        if whole and sample.code.encode() in rows and cannot_act(client, run, sample):
            yield name


def cannot_act(client, run: Run, sample: Sample) -> bool:
    if not sample.drawing or run.format == "ascii_art":
        return True
    picture = client.get(reverse("generation:picture", args=[sample.code]))
    return "sandbox" in picture["Content-Security-Policy"] and b"<script" not in picture.content.lower()


def on_the_judge_page(client, run: Run, cast: Cast, tmp_path) -> Iterator[str]:
    """Judged to the last pair: whatever may be shown was shown as text or picture; nothing else ever was."""
    seat = make_seat(run, f"judge-{run.pk}")
    client.force_login(seat.judge)
    screen = take_seat(seat.pk)
    while screen.current:
        page = client.get(reverse("judging:judge", args=[run.code]))
        assert page.status_code == 200 and screen.current.code.encode() in page.content
        stage = page.content.partition(b'id="stage"')[2].partition(b'id="ballot"')[0]
        assert not (b"<svg" in stage or b"<script" in stage.lower())
        screen = cast_vote(judge=seat.judge, code=screen.current.code, ballot=Ballot("tie")).screen
    shown = set()  # by what was drawn, because a judge is not asked about the same two drawings twice
    for matchup in Matchup.objects.filter(seat=seat, state="voted").select_related("left_sample", "right_sample"):
        shown |= {(matchup.prompt_id, sample.drawing) for sample in (matchup.left_sample, matchup.right_sample)}
    for name, sample in cast.items():
        if ((sample.prompt_id, sample.drawing) in shown) == (sample.verdict == "valid" and not sample.held):
            yield name
    client.force_login(User.objects.get(username="carol"))


def in_the_exports(client, run: Run, cast: Cast, tmp_path) -> Iterator[str]:
    """The same in JSON Lines, and in a copy made from the archive."""
    data = {(line["model_id"], line["prompt_text"]): line for line in map(json.loads, sample_lines(run))}
    write_archive(run, tmp_path / f"{run.code}.zip")
    copy = import_run(tmp_path / f"{run.code}.zip", copy=True, reason="a test")
    copies = {(s.model.model_id, s.prompt.text): s for s in copy.samples.select_related("model", "prompt")}
    for name, sample in cast.items():
        key = (sample.model.model_id, sample.prompt.text)
        again, line = copies[key], data.get(key)
        alike = (again.answer, again.drawing, again.verdict) == (sample.answer, sample.drawing, sample.verdict)
        told_whole = line["raw_output"] == sample.answer if sample.state == "drawn" else line is None
        if alike and told_whole and (again.failure, again.failure_detail) == (sample.failure, sample.failure_detail):
            yield name


STOPS = (at_the_parser, in_the_database, on_the_admin_list, on_the_judge_page, in_the_exports)


def test_every_case_passes_every_stop(client, curator, no_waiting, tmp_path):
    """120 cases at five stops: a case that a stop does not meet, or meets otherwise than it should, is named."""
    passed = {stop.__name__: set() for stop in STOPS}
    for kind in KINDS:
        run, cast = hostile_run(kind)
        for stop in STOPS:
            passed[stop.__name__] |= set(stop(client, run, cast, tmp_path))

    assert {stop: sorted(set(CASES) - names) for stop, names in passed.items()} == {stop: [] for stop in passed}
    assert [len(names) for names in passed.values()] == [120] * len(STOPS)


def test_every_case_is_only_words_where_words_go(client, curator, no_waiting):
    """As drawing, prompt, reason and detail at once, past all readers: each page and each export holds it whole."""
    run, cast = worded_run()
    seat = make_seat(run, "bob")
    screen = take_seat(seat.pk)
    while screen.current:
        screen = cast_vote(judge=seat.judge, code=screen.current.code, ballot=Ballot("left")).screen

    table = io.StringIO(newline="")
    write_votes(run, table, format="csv")
    lines = [json.loads(line) for line in sample_lines(run)]
    words = {name: words_of(case) for name, case in CASES.items()}
    prompts = {csv_uncell(row["prompt_text"]) for row in csv.DictReader(io.StringIO(table.getvalue(), newline=""))}
    assert {text[:2000] for text in words.values()} == prompts
    assert set(words.values()) <= {line["raw_output"] for line in lines}
    for table in ("sample", "prompt", "event"):
        for number in range(1, 6):
            page = client.get(reverse(f"admin:generation_{table}_changelist"), {"p": number})
            assert b"<script>" not in page.content, (table, number)
            assert page.status_code in (200, 302)
    assert {sample.pk for sample in cast.values()} <= set(seat.matchups.values_list("left_sample", flat=True)) | set(
        seat.matchups.values_list("right_sample", flat=True)
    )


def test_a_hostile_suite_is_named_and_shown_as_text(client, curator, settings, tmp_path):
    settings.SUITES_DIR = tmp_path
    write_hostile_suites(tmp_path)

    page = client.get(reverse("generation:runs"))

    assert page.status_code == 200
    assert b"<script>" not in page.content
    for case in CASES.values():
        assert case["kind"] != "yaml" or case["id"].encode() in page.content


def test_reading_the_corpus_again_changes_nothing(curator):
    run, cast = hostile_run("ascii")

    assert reread_run(run, by=curator, reason="the same rules") == 0
    assert run.samples.count() == 2 * len(cast)
