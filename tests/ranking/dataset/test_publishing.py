"""A run as a published dataset: whole, described, loadable by others' tools, and without anything that is private or blind."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from datetime import date

import pandas as pd
import pytest
import yaml
from django.core.management import CommandError, call_command

from generation.models import OFFENSIVE, Event, Run, Sample
from generation.runs.errors import RunError
from judging.model_judges.asking import Plan, add_model_judge
from judging.model_judges.instructions import versioned
from judging.models import Report, Vote
from ranking.dataset.about import About, AboutError
from ranking.dataset.columns import TYPES
from ranking.dataset.publishing import publish_dataset
from ranking.dataset.tables import tables_of
from ranking.fitting import fit_run
from ranking.models import Fit
from tests.judging.make import close_judging, make_curator
from tests.judging.model_judges.test_asking import CRITIC, draw_all
from tests.ranking.archive_run import leaderboard, make_judged_run
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db
ABOUT = About(("Ada Example", "Lab & Co"), "Judges agreed to publication.", on=date(2026, 5, 1))
NAME, NOTE = "Maria Muster", "my own words about it"


@pytest.fixture(scope="module", autouse=True)
def judged(module_rows):
    run = close_judging(make_judged_run(judges=3, votes=90))
    seat = run.seats.order_by("id").first()
    seat.pseudonym = NAME
    seat.save()
    Report.objects.create(matchup=run.matchups.first(), side="left", reason="offensive", note=NOTE)
    return run.pk


@pytest.fixture(scope="module")
def folder(judged, tmp_path_factory):
    return publish_dataset(Run.objects.get(pk=judged), tmp_path_factory.mktemp("data") / "set", ABOUT)


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged)


def table(folder, name, split="train"):
    return pd.read_parquet(folder / f"data/{name}/{split}.parquet")


def test_votes_are_in_the_columns_that_arenas_use(run, folder):
    votes = table(folder, "votes")

    counted = Vote.objects.counting(run).without_repeats().exclude(seat__weight=0)
    assert len(votes) == counted.count() == leaderboard(run)["votes"] > 30
    assert set(votes.winner) <= {"model_a", "model_b", "tie", "both_bad"}
    assert set(votes.model_a) | set(votes.model_b) == set(run.entrants.values_list("name", flat=True))
    assert votes.judge.dropna().str.fullmatch(r"judge-\d+").all()
    assert votes.timestamp.is_monotonic_increasing and str(votes.timestamp.dt.tz) == "UTC"
    known = set(table(folder, "samples")["sample"])
    assert {*votes.sample_a.dropna(), *votes.sample_b.dropna()} <= known
    first = votes.groupby("evaluation_session_id").evaluation_order.min()
    assert first.min() == 1


def test_what_counts_in_no_rating_is_in_splits_of_its_own(run, folder):
    repeats, uncounted = table(folder, "votes", "repeats"), table(folder, "votes", "uncounted")

    assert set(repeats.kind) == {"repeat"}
    assert {"withdrawn", "judge_set_aside"} <= set(uncounted.uncounted_reason)
    assert len(table(folder, "votes")) + len(repeats) + len(uncounted) == run.votes.count()


def test_json_lines_say_the_same_as_parquet(run, folder):
    for each in tables_of(run, ABOUT):
        for split, _ in each.splits:
            lines = (folder / f"jsonl/{each.name}/{split}.jsonl").read_text().splitlines()
            rows = table(folder, each.name, split)
            assert len(lines) == len(rows)
            assert all(list(json.loads(line)) == list(rows.columns) for line in lines[:3])


def test_preference_pairs_follow_the_votes(folder):
    pairs, votes = table(folder, "preference_pairs"), table(folder, "votes")

    assert (pairs.votes_for > pairs.votes_against).all() and len(pairs) > 5
    row = pairs.iloc[0]
    met = votes[votes.apply(lambda v: {v.sample_a, v.sample_b} == {row.chosen_sample, row.rejected_sample}, axis=1)]
    won = met.apply(lambda v: {"model_a": v.sample_a, "model_b": v.sample_b}.get(v.winner), axis=1)
    assert (won == row.chosen_sample).sum() == row.votes_for and (won == row.rejected_sample).sum() == row.votes_against
    drawings = table(folder, "samples").set_index("sample").drawing
    assert row.chosen == drawings[row.chosen_sample] and row.rejected == drawings[row.rejected_sample]


def test_croissant_metadata_validate_and_yield_records(folder):
    """In a process of its own: the library warns about its own dependencies, and our warnings are errors."""
    script = f"""
import itertools, json, mlcroissant
dataset = mlcroissant.Dataset("{folder}/croissant.json")
assert not dataset.metadata.ctx.issues.errors, dataset.metadata.ctx.issues.errors
rows = list(itertools.islice(dataset.records("votes"), 3))
print(json.dumps([str(dataset.metadata.ctx.conforms_to), len(rows), rows[0]["votes/winner"].decode()]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, check=False)

    assert done.returncode == 0, done.stderr[-2000:]
    version, count, winner = json.loads(done.stdout.splitlines()[-1])
    assert version.endswith("V_1_1") and count == 3 and winner in ("model_a", "model_b", "tie", "both_bad")
    metadata = json.loads((folder / "croissant.json").read_text())
    assert sum(key.startswith("rai:") for key in metadata) >= 12


def test_datasets_load_every_config_and_split(run, folder, tmp_path):
    script = f"""
import json
from datasets import get_dataset_config_names, load_dataset
names = get_dataset_config_names("{folder}")
print(json.dumps({{n: {{s: len(d) for s, d in load_dataset("{folder}", n, cache_dir="{tmp_path}").items()}} for n in names}}))
"""
    environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PATH": "", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)

    assert done.returncode == 0, done.stderr[-2000:]
    loaded = json.loads(done.stdout.splitlines()[-1])
    written = json.loads((folder / "dataset.json").read_text())["tables"]
    assert set(written) == {each.name for each in tables_of(run, ABOUT)}
    assert loaded == {name: {split: n for split, n in splits.items() if n} for name, splits in written.items()}


def test_checksums_hold_for_every_file(folder):
    sums = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())

    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"SHA256SUMS"}
    assert set(sums) == names
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == sums[name] for name in names)


def test_every_number_of_the_methods_is_in_the_leaderboard(folder):
    """Numbers as the text rounds them; what is not in the document would be invented."""
    board = (folder / "leaderboard-pairwise.json").read_text()
    known = {abs(float(number)) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", board)}
    known |= {1000.0, 95.0} | {float(len(json.loads(board)["overall"]))}
    text = (folder / "METHODS.md").read_text().split("\n\n")[-2]

    for number in re.findall(r"\d[\d,]*\.?\d*", text.replace(" 2 pairs", "")):
        value = float(number.replace(",", "").rstrip("."))
        places = len(number.partition(".")[2])
        alike = {round(each, places) for each in known} | {round(each * 100, places) for each in known}
        assert value in alike, number


def test_papers_name_the_publisher_and_parse(folder):
    card = (folder / "README.md").read_text()
    header = yaml.safe_load(card.split("---\n")[1])
    cff = yaml.safe_load((folder / "CITATION.cff").read_text())

    assert header["license"] == "cc-by-4.0" and header["configs"][0]["config_name"] == "votes"
    assert cff["authors"] == [{"name": "Ada Example"}, {"name": "Lab & Co"}] and cff["type"] == "dataset"
    assert r"{Lab \& Co}" in (folder / "citation.bib").read_text()
    assert ABOUT.consent in card and ABOUT.consent in (folder / "LICENSE.md").read_text()
    assert "Demo players, not language models" in card
    assert "Demo players, not language models" in (folder / "METHODS.md").read_text()


def test_papers_count_the_judges_that_the_leaderboard_counts(folder):
    """Of four seats one was set aside and one stands for votes that name nobody."""
    board = json.loads((folder / "leaderboard-pairwise.json").read_text())

    assert board["judges_count"] == 2 and "by 2 judges" in (folder / "METHODS.md").read_text()
    assert "by 2 people and people whom an imported file does not name" in (folder / "README.md").read_text()


def test_dictionary_explains_every_column(run, folder):
    text = (folder / "DATA_DICTIONARY.md").read_text()

    for each in tables_of(run, ABOUT):
        assert list(table(folder, each.name).columns) == [column.name for column in each.columns]
        for column in each.columns:
            assert f"| `{column.name}` | {TYPES[column.type][0]} | {column.says} |" in text


def test_nothing_private_is_published(run, folder):
    accounts = [seat.judge.username for seat in run.seats.exclude(judge=None)]
    private = [NAME, NOTE, "pressed keys at random", *(f"{name}@" for name in accounts)]
    whole = b"".join(path.read_bytes() for path in folder.rglob("*") if path.suffix != ".parquet" and path.is_file())
    for path in folder.rglob("*.parquet"):
        whole += pd.read_parquet(path).to_csv().encode()

    assert [word for word in private if word.encode() in whole] == []


def test_offensive_drawings_are_withheld(run, tmp_path):
    sample = run.samples.filter(state="drawn").exclude(drawing="").first()
    Sample.objects.filter(pk=sample.pk).update(flags=[OFFENSIVE], excluded_reason="offensive")

    samples = table(publish_dataset(run, tmp_path / "set", ABOUT), "samples").set_index("sample")

    assert pd.isna(samples.drawing[sample.code]) and pd.isna(samples.answer[sample.code])


@pytest.mark.parametrize("state", ["not_open", "open", "paused"])
def test_nothing_is_published_while_drawings_are_blind(run, tmp_path, client, state):
    Run.objects.filter(pk=run.pk).update(judging_state=state)
    run.refresh_from_db()
    client.force_login(make_curator("carla"))
    fields = {"title": "t", "authors": "Ada", "consent": "yes", "licence": "CC0-1.0", "version": "1.0.0"}

    with pytest.raises(RunError, match="once its judging is closed"):
        publish_dataset(run, tmp_path / "set", ABOUT)
    response = client.post(f"/runs/{run.code}/dataset/", fields)

    assert not (tmp_path / "set").exists() and list(tmp_path.iterdir()) == []
    assert response.status_code == 200 and "Judging is not closed" in response.content.decode()


def test_the_button_gives_the_same_zip_as_the_command(run, tmp_path, client):
    client.force_login(make_curator("carla"))
    fields = {"title": str(run), "authors": "Ada\nBob", "consent": "They agreed.", "licence": "CC0-1.0"}

    response = client.post(f"/runs/{run.code}/dataset/", fields | {"version": "2.0.0", "url": ""})
    downloaded = b"".join(response.streaming_content)
    call_command("publish_dataset", run.code, "--author=Ada", "--author=Bob", "--consent=They agreed.",
                 "--licence=CC0-1.0", "--release=2.0.0", f"--out={tmp_path / 'set.zip'}")  # fmt: skip

    with zipfile.ZipFile(io.BytesIO(downloaded)) as one, zipfile.ZipFile(tmp_path / "set.zip") as two:
        assert one.namelist() == two.namelist() and len(one.namelist()) > 25
        assert all(one.read(name) == two.read(name) for name in one.namelist())
    events = Event.objects.filter(run=run, verb=Event.Verb.PUBLISH_DATASET, subject="2.0.0")
    assert events.count() == 2 and len({event.facts["sums"] for event in events}) == 1


def test_publishing_is_refused_in_words(run, tmp_path, client):
    with pytest.raises(AboutError, match="three numbers"):
        publish_dataset(run, tmp_path / "set", About(("A",), "yes", version="1"))
    (tmp_path / "set").mkdir()
    with pytest.raises(CommandError, match="exists already"):
        call_command("publish_dataset", run.code, "--author=A", "--consent=yes", f"--out={tmp_path / 'set'}")
    client.force_login(make_curator("carla"))
    page = client.post(f"/runs/{run.code}/dataset/", {"title": "t", "authors": " ", "consent": "", "version": "x"})

    assert page.content.decode().count("This field is required") >= 2


def test_grades_are_published_too(tmp_path):
    run = close_judging(make_graded_run())

    folder = publish_dataset(run, tmp_path / "set", ABOUT)

    assert len(table(folder, "grades")) == run.grades.rated().count() > 0
    assert f"{len(table(folder, 'grades')):,} grades by" in (folder / "METHODS.md").read_text()


def test_model_judges_are_named_and_left_out(demo, tmp_path):
    demo()
    run = make_voted_run(votes=30, judges=3)
    draw_all(add_model_judge(run, Plan(CRITIC, versioned(run, ""), 12, 5.0)))
    fit_run(close_judging(run))
    assert Fit.objects.newest(run, "pairwise", kind="full").result["model_judges"]["judges"]

    folder = publish_dataset(run, tmp_path / "set", ABOUT)

    board, out = json.loads((folder / "leaderboard-pairwise.json").read_text()), io.StringIO()
    call_command("analyse", str(folder), stdout=out)
    assert json.loads(out.getvalue()) == {key: value for key, value in board.items() if key != "answers"}
    assert "model_judges" not in board
    assert "1 model judge compared pairs of this run" in (folder / "README.md").read_text()
    tools = json.loads((folder / "croissant.json").read_text())["rai:machineAnnotationTools"]
    assert tools == ["1 model judge (answers not included in this dataset)"]
