"""A competition of programs from the database: its scores, its verdicts in words, its pages and files."""

from __future__ import annotations

import io
import json
import zipfile

import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from generation.formats import get_format
from generation.formats.base import BackendMissing
from generation.jobs import measure
from generation.models import Entrant, Event, Measurement, Run, Sample
from generation.reading.backends import use_backend
from generation.reading.measuring import enqueue_measuring, measure_run, unmeasured
from generation.runs.publishing import freeze_runs, thaw_runs
from judging.models import Matchup
from judging.pairs.epochs import eligible_table
from ranking.competition.page import verdict_sentence
from ranking.competition.scores import score_competition
from ranking.fitting import fit_run
from ranking.simulated.judges import simulate_judges
from tests.judging.make import make_curator
from tests.pages import collapsed
from tests.ranking.answered_run import make_answered_run

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def answered(module_rows):
    return make_answered_run("science-birds").pk


@pytest.fixture
def run(answered):
    return Run.objects.get(pk=answered)


def programs(fit):
    return {row["entrant"]: row for row in fit.result["overall"]}


def test_the_database_is_scored_as_the_formulas_have_it(run):
    fit = fit_run(run)

    samples = run.samples.select_related("entrant", "model", "prompt").prefetch_related("measurements")
    trials = pd.DataFrame(
        {
            "program": sample.entrant.name,
            "model": sample.model.model_id,
            "target": sample.prompt.facts["target"],
            "trial": sample.attempt,
            **{key: sample.measurements.all()[0].values[key] for key in ("stability", "similarity", "vector")},
        }
        for sample in samples
    )
    expected = score_competition(
        trials,
        count=3,
        baselines={"zero-shot"},
        lengths={entrant.name: entrant.prompt_length for entrant in run.entrants.all()},
    )
    for row in expected.programs.to_dict("records"):
        program = programs(fit)[row["program"]]
        assert program["score"] == pytest.approx(row["normalised"], abs=1e-12)
        assert (program["rank"], program["note"]) == (row["rank"], row["note"])
    assert fit.result["competition"] == pytest.approx(expected.competition, abs=1e-12)
    assert sum(row["score"] for row in fit.result["overall"]) == pytest.approx(100)


def test_a_baseline_has_no_rank_and_a_disqualified_program_is_listed_with_its_reason(run, client):
    Entrant.objects.filter(run=run, name="rows-first").update(
        disqualified="It asks for the answer key.", approved=False
    )

    fit = fit_run(run)

    assert programs(fit)["zero-shot"]["rank"] is None
    out = programs(fit)["rows-first"]
    assert (out["rank"], out["score"], out["n"]) == (None, None, 0)
    page = client.get(f"/runs/{run.code}/leaderboard/").content.decode()
    assert "Disqualified: It asks for the answer key." in page
    assert "Baseline: listed, not ranked." in page


def test_a_program_that_waits_for_approval_is_not_counted(run, client):
    Entrant.objects.create(run=run, name="late", label="late", turns=["{{target}}"], approved=False)

    fit = fit_run(run)

    assert "late" not in programs(fit)
    page = collapsed(client.get(f"/runs/{run.code}/leaderboard/"))
    assert "late is waiting for a curator’s approval and does not run until then." in page


def row(name, score, *, rank=None, winner=False, baseline=False):
    return {"entrant": name, "score": score, "rank": rank, "winner": winner, "baseline": baseline}


def test_the_verdict_is_said_in_words():
    bar = row("zero", 20.0, baseline=True)

    assert verdict_sentence([row("a", 50.0, rank=1, winner=True), bar], {"a": "Anna's"}, trials=2) == (
        "Anna's wins with 50.0 of 100 points; the baseline zero has 20.0."
    )
    two = [row("a", 40.0, rank=1, winner=True), row("b", 40.0, rank=1, winner=True), bar]
    assert verdict_sentence(two, {}, trials=2) == (
        "a and b are co-winners with 40.0 points each: the same score and the same length of prompt; "
        "the baseline zero has 20.0."
    )
    assert verdict_sentence([row("a", 10.0, rank=1), bar], {}, trials=2) == (
        "No program beats the baseline, so there is no winner: the best has 10.0 points; the baseline zero has 20.0."
    )
    assert verdict_sentence([row("a", 0.0, rank=1)], {}, trials=2) == "No level has scored yet, so there is no winner."
    alone = verdict_sentence([row("a", 0.0, rank=1)], {}, trials=1)
    assert alone.startswith("There is one attempt per letter") and alone.endswith(
        "Two attempts or more give a ranking."
    )
    assert verdict_sentence([], {}, trials=2) == "No level has been measured yet, so no program leads."


def test_measuring_again_changes_nothing(run):
    before = fit_run(run).result["overall"]

    assert measure_run(run) == 0
    assert measure_run(run, everything=True) == run.samples.count()
    assert fit_run(run).result["overall"] == before
    assert Measurement.objects.count() == run.samples.count()


def test_another_backend_starts_an_own_leaderboard(run):
    before = fit_run(run)
    use_backend(run, "vit")
    some = run.samples.filter(entrant__name="zero-shot")
    values = {"stability": 1.0, "similarity": 1.0, "vector": [1.0] + [0.0] * 25, "backend": "vit"}
    Measurement.objects.bulk_create(Measurement(sample=s, backend="vit", values=values) for s in some)

    switched = fit_run(run)

    assert switched.result["backend"] == "vit"
    assert switched.votes == some.count()
    assert switched.result["unmeasured"] == run.samples.count() - some.count() == unmeasured(run)
    assert {row["n"] for row in switched.result["overall"]} == {some.count(), 0}
    use_backend(run, "glyphs")
    assert fit_run(run).result["overall"] == before.result["overall"]


def test_a_backend_that_is_not_installed_says_what_to_do(run, monkeypatch):
    monkeypatch.delenv("BENCHSITE_VIT_DIR", raising=False)

    with pytest.raises(CommandError, match="set BENCHSITE_VIT_DIR to a local directory"):
        call_command("measure", run.code, backend="vit")

    run.refresh_from_db()
    assert run.measure_backend == "glyphs"  # the leaderboard stays as it was
    use_backend(run, "vit")
    assert enqueue_measuring() == 1
    for _ in range(2):
        measure(run.pk, "vit")
    failures = Event.objects.filter(run=run, verb="measure_failed")
    assert [event.reason[:33] for event in failures] == ["The `vit` backend needs its weigh"]
    with pytest.raises(BackendMissing):
        measure_run(run)


def test_the_run_is_not_scored_by_a_backend_that_measured_nothing(run, monkeypatch):
    def broken(*arguments, **named):
        raise ValueError("no classifier reads this")

    monkeypatch.setattr(type(get_format(run.format)), "measure", broken)
    monkeypatch.setattr(type(get_format(run.format)), "measure_invalid", broken)

    with pytest.raises(CommandError, match="The backend vit measured nothing"):
        call_command("measure", run.code, backend="vit")

    run.refresh_from_db()
    assert run.measure_backend == "glyphs"
    use_backend(run, "vit")
    call_command("measure", run.code, backend="glyphs")
    run.refresh_from_db()
    assert run.measure_backend == "glyphs", "the way back is open: its measurements are there"


def test_a_frozen_run_waits_with_what_is_still_to_be_measured(run, monkeypatch):
    monkeypatch.delenv("BENCHSITE_VIT_DIR", raising=False)
    use_backend(run, "vit")
    freeze_runs([run], by=None, reason="the term is over")

    assert enqueue_measuring() == 0
    measure(run.pk, "vit")  # rung before the freeze
    assert not Event.objects.filter(run=run, verb="measure_failed").exists()

    thaw_runs([Run.objects.get(pk=run.pk)], by=None, reason="one more week")
    assert enqueue_measuring() == 1


def test_the_run_page_says_what_is_still_to_be_measured(run, client):
    Measurement.objects.filter(sample__in=run.samples.all()[:5]).delete()
    client.force_login(make_curator())

    page = collapsed(client.get(f"/runs/{run.code}/"))

    assert "Measured by the built-in classifier (glyphs)</dt> <dd>5 remaining" in page
    measure_run(run)
    assert f"all of {run.samples.count()}" in collapsed(client.get(f"/runs/{run.code}/"))


def test_the_page_shows_letters_weights_and_the_rules(run, client):
    fit_run(run)

    page = client.get(f"/runs/{run.code}/leaderboard/").content.decode()

    assert (
        "108 levels: 4 letters, 3 models, 3 trials each. Letters are read by the built-in classifier (glyphs)." in page
    )
    assert page.count("shade-") == (1 + 3) * 4 * 3
    assert "stability · similarity · diversity" in page


def test_pages_call_an_entrant_what_it_is(run):
    assert run.entrant_word == "program"
    assert make_answered_run().entrant_word == "model"


def test_a_programs_page_shows_its_levels_on_one_model(run, client):
    fit_run(run)
    entrant = run.entrants.get(name="rows-first")
    model = run.models.last()

    page = client.get(f"/runs/{run.code}/programs/{entrant.code}/?model={model.model_id}").content.decode()

    mine = run.samples.filter(entrant=entrant, model=model)
    for sample in mine:
        assert f"/gallery/{sample.code}/" in page
    assert page.count("?variant=after") == mine.filter(verdict="valid").count()
    assert page.count("counts 0") == mine.filter(verdict="invalid").count()


def test_a_level_can_be_replayed_and_downloaded(run, client):
    sample = run.samples.filter(verdict="valid").first()

    page = client.get(f"/gallery/{sample.code}/").content.decode()
    replay = client.get(f"/gallery/{sample.code}/picture/?variant=replay")
    level = client.get(f"/gallery/{sample.code}/level.xml")

    assert "?variant=replay" in page
    assert b"<animateTransform" in replay.content or b"translate" in replay.content
    assert "sandbox" in replay["Content-Security-Policy"]
    assert level.content.startswith(b"<?xml")
    assert 'attachment; filename="' in level["Content-Disposition"]


def test_a_programs_levels_are_zipped_one_file_each(run, client):
    entrant = run.entrants.get(name="rows-first")

    response = client.get(f"/runs/{run.code}/programs/{entrant.code}/levels.zip")

    archive = zipfile.ZipFile(io.BytesIO(response.content))
    valid = run.samples.filter(entrant=entrant, verdict="valid")
    assert len(archive.namelist()) == valid.count()
    assert all(name.count("/") == 2 and ".." not in name for name in archive.namelist())
    assert archive.read(archive.namelist()[0]).startswith(b"<?xml")
    assert client.get(f"/runs/{run.code}/programs/{entrant.code}/levels.zip").content == response.content


def test_files_of_a_run_of_models_are_not_there(client):
    run = make_answered_run(models=["demo/master"], prompts=["saturn"], attempts=1)
    sample = run.samples.get()

    assert client.get(f"/gallery/{sample.code}/level.xml").status_code == 404
    assert client.get(f"/runs/{run.code}/programs/{run.entrants.get().code}/").status_code == 404


def test_a_matchup_fixes_letter_and_model(run):
    Run.objects.filter(pk=run.pk).update(protocols=["automatic", "pairwise"], judging_state="open")
    run.refresh_from_db()

    table = eligible_table(run)
    simulate_judges(run, judges=2, votes=40, seed=1)

    models = {str(model.pk) for model in run.models.all()}
    assert {model for _, model in table.questions} <= models
    matchups = Matchup.objects.filter(run=run).select_related("left_sample", "right_sample")
    assert len(matchups) >= 40
    for item in matchups:
        assert item.left_sample.prompt_id == item.right_sample.prompt_id == item.prompt_id
        assert item.left_sample.model_id == item.right_sample.model_id
        assert item.left_sample.entrant_id != item.right_sample.entrant_id


def test_people_are_held_against_the_score_here_too(run):
    Run.objects.filter(pk=run.pk).update(protocols=["automatic", "pairwise"], judging_state="open")
    run.refresh_from_db()
    simulate_judges(run, judges=2, votes=40, seed=1)

    people = fit_run(run, protocol="automatic").result["people"]

    assert people["count"] == 3
    assert people["kendall"]["low"] is None
    assert {row["sample"] for row in people["drawings"]} <= set(Sample.objects.values_list("code", flat=True))


def queries(client, path):
    with CaptureQueriesContext(connection) as caught:
        assert client.get(path).status_code == 200
    return len(caught)


def test_queries_do_not_grow_with_levels(client):
    small = make_answered_run("science-birds", prompts=["A"], attempts=1)
    large = make_answered_run("science-birds")
    paths = []
    for made in (small, large):
        fit_run(made)
        entrant = made.entrants.get(name="rows-first")
        paths.append((f"/runs/{made.code}/leaderboard/", f"/runs/{made.code}/programs/{entrant.code}/"))

    assert [queries(client, path) for path in paths[0]] == [queries(client, path) for path in paths[1]]


def test_json_downloads_carry_the_exact_weights(run, client):
    fit = fit_run(run)

    data = json.loads(client.get(f"/runs/{run.code}/leaderboard.json").content)

    assert data["weights"] == fit.result["weights"]
    assert data["competition"] == fit.result["competition"]
