"""Rubric leaderboards from the database: the same numbers as of a file, the page, exports and imports."""

from __future__ import annotations

import io
import json

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.urls import reverse

from generation.models import Run, Sample
from judging.files.exports import write_grades
from judging.grades.sheets import next_item
from judging.models import Grade, Seat
from ranking.fitting import fit_run, publish_fit, stale_fits
from ranking.public_states import take_public_states
from ranking.rubric import run as rubric_run
from ranking.rubric.agreement import ITEM
from ranking.rubric.run import expected_of, grades_of, in_part
from ranking.simulated.grades import simulate_grades
from ranking.statistics.blurring import bounded_parts
from tests.benchsite.lib.test_progress_bar import Screen
from tests.judging.graded import grade, grade_all, make_rubric_run, seat_with_list
from tests.judging.make import close_judging, make_curator, make_judge
from tests.ranking.alike import assert_alike
from tests.ranking.graded_run import make_graded_run

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def graded(module_rows):
    return make_graded_run().pk


@pytest.fixture
def run(graded):
    """Graded by three simulated judges, and as new in every test."""
    return Run.objects.get(pk=graded)


def exported(run, path):
    with path.open("w", encoding="utf-8") as stream:
        write_grades(run, stream)
    return path


def analysed(path):
    out = io.StringIO()
    call_command("analyse", str(path), "--suite", "pokemon-svg", stdout=out)
    return json.loads(out.getvalue())


def test_the_database_and_the_file_say_the_same(tmp_path, run):
    fit = fit_run(run, protocol="rubric")
    of_file = analysed(exported(run, tmp_path / "grades.jsonl"))

    assert of_file.pop("benchsite_version")
    assert_alike({key: fit.result[key] for key in of_file}, of_file)
    assert fit.votes == run.grades.count() == 3 * 35 * 3  # judges, drawings, dimensions
    assert [s["invalid"] for s in of_file["scores"]].count(1) == 1


def test_standings_are_kept_for_the_total_and_each_stage(run):
    fit = fit_run(run)

    assert fit.protocol == "rubric"
    overall = list(fit.standings.filter(scope="overall").order_by("rank"))
    assert [s.entrant.name for s in overall] == [e.name for e in run.entrants.order_by("id")]
    assert all(s.low <= s.score <= s.high for s in overall)
    assert fit.standings.filter(scope="category:s3").count() == 3


def test_a_grade_makes_the_fit_stale_and_a_judge_set_aside_is_left_out(django_capture_on_commit_callbacks):
    run = make_graded_run(subjects=1)
    fit_run(run)
    assert stale_fits("fast") == []
    with django_capture_on_commit_callbacks(execute=True):
        seat = seat_with_list(run)
        grade(seat, next_item(seat), 0.0)
    assert stale_fits("fast") == [(run, "rubric")]
    with_everyone = fit_run(run)
    Seat.objects.filter(pk=seat.pk).update(weight=0, excluded_reason="asleep")

    without = fit_run(run)

    assert with_everyone.votes - without.votes == 3


def test_only_answers_count_and_the_missing_are_left_out():
    run = make_rubric_run(entrants=1, subjects=2, attempts=2)
    states = [("failed", ""), ("cancelled", ""), ("pending", ""), ("drawn", "invalid")]
    samples = list(run.samples.order_by("id"))
    for sample, (state, verdict) in zip(samples, states, strict=False):
        Sample.objects.filter(pk=sample.pk).update(state=state, verdict=verdict)
    Sample.objects.filter(pk=samples[4].pk).update(held=True)
    Sample.objects.filter(pk=samples[5].pk).update(excluded_reason="offensive")

    expected = expected_of(run)

    assert len(expected) == 12 - 5
    assert int((~expected["valid"]).sum()) == 1


def test_a_run_without_grades_has_an_empty_leaderboard(client):
    run = make_rubric_run()
    Run.objects.update(visibility=Run.Visibility.PUBLISHED, judging_state=Run.Judging.CLOSED)
    fit_run(run)

    page = client.get(reverse("ranking:leaderboard", args=[run.code]))

    assert page.status_code == 200
    assert "no total to rank by" in page.text


def test_the_page_shows_scores_agreement_structure_and_the_scatter(client, run):
    run.entrants.filter(pk=run.entrants.first().pk).update(note="via proxy")
    Run.objects.update(visibility=Run.Visibility.PUBLISHED)
    fit_run(run)
    link = reverse("gallery:sample", args=[run.samples.judgeable().first().code])
    blind = client.get(reverse("ranking:leaderboard", args=[run.code])).text
    Run.objects.update(judging_state=Run.Judging.CLOSED)

    page = client.get(reverse("ranking:leaderboard", args=[run.code])).text
    stage = client.get(reverse("ranking:leaderboard", args=[run.code]), {"category": "s2"}).text

    for words in (
        "via proxy",
        "ICC(2,1)",
        "ICC(2,k)",
        "Krippendorff",
        "Severity",
        "11 of 12",
        "Advanced tags",
        "simulated",
    ):
        assert words in page, words
    for corner in ("Minimal", "Refined", "Crude", "Cluttered"):
        assert corner in page
    assert page.count('<g class="point"') == run.entrants.count(), "each mean has its marker, and answers focus"
    assert "Signature" in stage and "ICC" not in stage
    assert link not in blind and "Severity" not in blind
    assert f'href="{link}"' in page


def test_a_frozen_leaderboard_says_nothing_of_single_judges(client, run):
    frozen = publish_fit(fit=fit_run(run), by=None, title="Midterm")
    Run.objects.update(judging_state=Run.Judging.CLOSED)

    page = client.get(reverse("ranking:publication", args=[frozen.code])).content.decode()

    assert "Consistency across attempts" in page
    assert "Severity" not in page
    assert "Judge 1" not in page


def test_a_judge_of_an_open_run_does_not_see_the_ranking(client, run):
    seat_with_list(run)
    Run.objects.update(visibility=Run.Visibility.PUBLISHED)
    fit_run(run)
    client.force_login(make_judge())

    assert client.get(reverse("ranking:leaderboard", args=[run.code])).status_code == 403


@pytest.mark.parametrize("form, start", [("md", "# "), ("csv", "rank,entrant"), ("json", "{")])
def test_downloads(client, form, start, run):
    fit_run(run)
    client.force_login(make_curator())

    answer = client.get(reverse("ranking:download", args=[run.code, form]))

    assert answer.status_code == 200
    assert answer.text.startswith(start)


def test_the_markdown_has_notes_and_the_structure_of_drawings(client, run):
    run.entrants.filter(pk=run.entrants.first().pk).update(note="effort: medium")

    text = fit_run(run).result["run"]["md"]

    assert "## Notes" in text and "effort: medium" in text
    assert "## SVG structure" in text and "| Entrant | Visual score |" in text


def lines(path):
    return [
        {k: v for k, v in json.loads(line).items() if k not in ("run", "imported")}
        for line in path.read_text().splitlines()
    ]


def test_grades_survive_a_round_trip(tmp_path, run):
    before = exported(close_judging(run), tmp_path / "before.jsonl")
    Grade.objects.all().delete()
    Seat.objects.all().delete()

    call_command("import_grades", str(before), "--run", run.code, "--reason", "a test", stdout=io.StringIO())
    call_command("import_grades", str(before), "--run", run.code, "--reason", "a test", stdout=io.StringIO())

    assert lines(exported(run, tmp_path / "after.jsonl")) == lines(before)
    assert Seat.objects.filter(judge=None).count() == 3


def test_an_imported_name_is_not_taken_for_a_judge_of_this_run(tmp_path):
    run = make_rubric_run()
    seat = seat_with_list(run)
    grade(seat, next_item(seat), 4.0)
    path = exported(close_judging(run), tmp_path / "grades.jsonl")
    path.write_text(path.read_text().replace(run.code, "elsewhere").replace(": 4.0", ": 6.0"))

    call_command("import_grades", str(path), "--run", run.code, "--reason", "a test", stdout=io.StringIO())

    assert sorted({(g.seat.pseudonym, g.value) for g in run.grades.select_related("seat")}) == [
        ("judge alice", 4.0),
        ("judge alice (imported)", 6.0),
    ]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"value": 11}, "line 2, value: 11 is not a number from 0 to 10."),
        ({"entrant": "nobody"}, "line 2, entrant: run"),
        ({"dimension": "taste"}, "line 2, dimension"),
        ({"graded_at": "yesterday"}, "line 2, graded_at"),
        ({"graded_at": "0001-01-01T00:00:00+14:00"}, "line 2, graded_at"),
        ({"judge": "x" * 101}, "line 2, judge"),
        ({"judge": "a\x00b"}, "line 2, judge"),
        ({"judge": "\ud800"}, "line 2, judge"),
    ],
)
def test_a_bad_line_refuses_the_whole_file(tmp_path, change, message):
    run = make_rubric_run()
    seat = seat_with_list(run)
    grade(seat, next_item(seat))
    path = exported(close_judging(run), tmp_path / "grades.jsonl")
    Grade.objects.all().delete()
    rows = path.read_text().splitlines()
    rows[1] = json.dumps(json.loads(rows[1]) | change)
    path.write_text("\n".join(rows))

    with pytest.raises(CommandError, match=message.replace("(", r"\(")):
        call_command("import_grades", str(path), "--run", run.code, "--reason", "a test")

    assert Grade.objects.count() == 0


def test_damaged_files_are_refused_by_line(tmp_path):
    run = make_rubric_run()
    seat = seat_with_list(run)
    grade(seat, next_item(seat))
    path = exported(close_judging(run), tmp_path / "grades.jsonl")
    good = path.read_bytes()
    first = good.splitlines(keepends=True)[0]
    Grade.objects.all().delete()

    for data, words in (
        (good + first, "grades.jsonl, line 4, dimension: this judge graded it already in line 1."),
        (first + first[:3], "grades.jsonl, line 2: it is not JSON (Unterminated string starting at character 2)."),
        (first + b"\xff\n", "grades.jsonl, line 2: it is not UTF-8 text."),
        (b"PK\x03\x04" + bytes(9), "grades.jsonl, line 1: it is not JSON (Expecting value at character 1)."),
        (b"\xef\xbb\xbf\r\n", "grades.jsonl: there is no grade in it."),
    ):
        path.write_bytes(data)
        with pytest.raises(CommandError) as refused:
            call_command("import_grades", str(path), "--run", run.code, "--reason", "a test")
        assert str(refused.value) == f"Nothing was imported. {words}"
        assert not Grade.objects.exists()

    path.write_bytes(b"\xef\xbb\xbf" + good.replace(b"\n", b"\r\n"))
    call_command("import_grades", str(path), "--run", run.code, "--reason", "a test", stdout=io.StringIO())
    assert Grade.objects.count() == 3


def test_grading_commands_show_how_far_they_are(eager, tmp_path):
    run, screen = make_rubric_run(entrants=2, subjects=1), Screen()

    call_command("simulate_grades", run.code, "--judges", "1", stdout=io.StringIO(), stderr=screen)
    path = exported(close_judging(run), tmp_path / "grades.jsonl")
    call_command(
        "import_grades", str(path), "--run", run.code, "--reason", "a test", stdout=io.StringIO(), stderr=screen
    )

    assert "\rGrading 1, " in screen.getvalue() and "\rImporting 1, " in screen.getvalue()


def test_a_contradiction_is_refused(tmp_path):
    run = make_rubric_run()
    seat = seat_with_list(run)
    grade(seat, next_item(seat), 4.0)
    path = exported(close_judging(run), tmp_path / "grades.jsonl")
    path.write_text(path.read_text().replace(": 4.0", ": 6.0"))

    with pytest.raises(CommandError, match="has given 4 for"):
        call_command("import_grades", str(path), "--run", run.code, "--reason", "a test")


def test_csv_neutralises_formulas(tmp_path):
    run = make_rubric_run()
    seat = seat_with_list(run)
    grade(seat, next_item(seat))
    run.seats.update(pseudonym="=1+1")

    out = tmp_path / "grades.csv"
    call_command("export", "grades", run.code, "--format", "csv", "--out", str(out), stderr=io.StringIO())

    first, *rest = out.read_text().splitlines()
    assert first.startswith("judge,entrant,stage,subject,attempt,dimension,value")
    assert len(rest) == 3
    assert all(row.startswith("'=1+1") for row in rest)


def test_withdrawn_grades_are_not_exported(tmp_path):
    run = make_rubric_run()
    seat = seat_with_list(run)
    item = next_item(seat)
    grade(seat, item, 4.0)
    grade(seat, item, 5.0)

    assert {row["value"] for row in lines(exported(run, tmp_path / "grades.jsonl"))} == {5.0}


def test_simulated_judges_are_marked_and_the_same_seed_says_the_same():
    run = make_rubric_run(entrants=2, subjects=1)

    def notes_of():
        simulate_grades(run, judges=2, seed=5)
        grades = sorted(run.grades.values_list("seat__pseudonym", "sample", "dimension", "value"))
        assert run.seats.filter(is_simulated=True, judge__is_active=False).count() == 2
        run.grades.all().delete()
        run.seats.all().delete()
        return grades

    first = notes_of()

    assert len(first) == 2 * 12 * 3
    assert first == notes_of()


def test_the_total_is_the_seeds_formula():
    """One judge, all grades by stage: S = 4, 6, 9 give (4·1.0 + 6·1.8 + 9·3.2) · 100 / 60 = 72.67."""
    run = make_rubric_run(entrants=1)
    seat = seat_with_list(run)
    grade_all(seat, lambda item, key: {"s1": 4.0, "s2": 6.0, "s3": 9.0}[item.stage])

    fit = fit_run(run)

    assert fit.result["overall"][0]["score"] == pytest.approx(72.6667, abs=1e-3)


def test_a_part_of_a_judges_grades_is_whole_drawings_and_no_more(run):
    grades = grades_of(run)
    busy = grades["judge"].iloc[0]
    drawings = grades[grades["judge"] == busy].groupby(ITEM).ngroups

    kept = in_part(grades, {busy: 0.5})

    assert kept[kept["judge"] == busy].groupby(ITEM).ngroups == drawings // 2
    assert (kept["judge"] != busy).sum() == (grades["judge"] != busy).sum()
    assert set(kept[kept["judge"] == busy].groupby(ITEM).size()) <= set(grades.groupby([*ITEM, "judge"]).size())


def test_a_public_state_counts_a_part_of_the_busiest_graders(monkeypatch, run):
    given = []
    Run.objects.filter(pk=run.pk).update(visibility="published")
    monkeypatch.setattr(rubric_run, "in_part", lambda grades, parts: given.append(parts) or in_part(grades, parts))

    assert take_public_states() == 1

    counts = grades_of(run).groupby("judge").apply(lambda own: own.groupby(ITEM).ngroups, include_groups=False)
    assert given == [bounded_parts(counts.to_dict(), share=settings.PUBLIC_STATE_SHARE)]
    assert len(given[0]) == 3 and max(given[0].values()) < 0.2
