"""A published dataset on its way back: the same leaderboard from the files, and the same files from another site."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from datetime import date
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchsite.lib.file_errors import BadLine
from generation.models import Run
from generation.reading.answers import reread_run
from ranking.dataset.about import About
from ranking.dataset.files import write_sums
from ranking.dataset.importing import import_dataset
from ranking.dataset.publishing import publish_dataset
from ranking.dataset.reading import open_dataset
from ranking.fitting import fit_run
from ranking.statistics.rounding import rounded
from tests.judging.make import close_judging, make_curator
from tests.ranking.archive_run import forget_all, leaderboard, make_judged_run
from tests.ranking.graded_run import make_graded_run

pytestmark = [pytest.mark.django_db, pytest.mark.long]
ABOUT = About(("Ada Example",), "Judges agreed to publication.", on=date(2026, 5, 1))


@pytest.fixture(scope="module", autouse=True)
def judged(module_rows):
    run = make_judged_run(judges=6, votes=180)
    for place, seat in enumerate(run.seats.order_by("-id")):  # so that names and numbers differ in their order
        run.seats.filter(pk=seat.pk).update(pseudonym=f"code{place}")
    run = close_judging(run)
    sample = run.samples.filter(state="drawn").first()
    run.samples.filter(pk=sample.pk).update(excluded_reason="not its own work")
    return run.pk


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged)


@pytest.fixture(scope="module")
def published(judged, tmp_path_factory):
    return publish_dataset(Run.objects.get(pk=judged), tmp_path_factory.mktemp("published") / "set", ABOUT)


@pytest.fixture
def folder(published, tmp_path):
    """A copy to damage."""
    return Path(shutil.copytree(published, tmp_path / "set"))


@pytest.fixture(scope="module")
def packed(judged, tmp_path_factory):
    return publish_dataset(Run.objects.get(pk=judged), tmp_path_factory.mktemp("packed") / "set.zip", ABOUT)


def analysed(path, *options):
    out = io.StringIO()
    call_command("analyse", str(path), *options, stdout=out)
    return json.loads(out.getvalue())


def test_the_files_give_the_leaderboard_to_the_last_digit(folder):
    board = json.loads((folder / "leaderboard-pairwise.json").read_text())
    board.pop("answers")  # counts what is missing, which is no part of a file's analysis

    assert analysed(folder) == board
    assert board["model_fit"]["split_half_reliability"] is not None
    assert board["settings"]["ties"] == "drop" and board["settings"]["weights"] and board["samples"]


def test_a_zip_gives_the_same(packed, folder):
    assert analysed(packed) == analysed(folder)
    assert analysed(packed, "--ties", "half")["settings"]["ties"] == "half"


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def make_reread_run():
    run = close_judging(make_graded_run())
    reread_run(run)
    return run


@pytest.mark.parametrize("make", [None, make_reread_run], ids=["votes", "grades"])
def test_another_site_publishes_the_same_files(run, tmp_path, make):
    run = make() if make else run
    folder = publish_dataset(run, tmp_path / "one", ABOUT)
    before, codes = {name: leaderboard(run, name) for name in run.protocols}, run.code
    forget_all(run)

    copy = import_dataset(folder, reason="from a paper")
    again = publish_dataset(copy, tmp_path / "two", ABOUT)

    assert copy.code == codes and copy.judging_state == "closed" and copy.visibility == "private"
    one, two = files(folder), files(again)
    for name in ("README.md", "SHA256SUMS"):  # the card says that votes or grades were imported
        one.pop(name, None), two.pop(name, None)
    assert [name for name in one if one[name] != two.get(name)] == [] and set(one) == set(two)
    for name, board in before.items():
        assert rounded(leaderboard(copy, name)["overall"]) == rounded(board["overall"])


def test_an_import_shows_its_provenance(run, folder, client):
    forget_all(run)
    copy = import_dataset(folder, reason="from a paper of 2026")
    fit_run(copy)
    client.force_login(make_curator("carla"))

    page = client.get(f"/runs/{copy.code}/leaderboard/").content.decode()

    assert "from a paper of 2026" in page


def test_the_site_takes_a_dataset_where_it_takes_an_archive(packed, client):
    client.force_login(make_curator("carla"))

    with packed.open("rb") as file:
        refused = client.post("/runs/import/archive/", {"file": file, "reason": "a test"})
        file.seek(0)
        taken = client.post("/runs/import/archive/", {"file": file, "reason": "a test", "copy": "on"})

    assert "here already" in refused.content.decode()
    assert taken.status_code == 302 and Run.objects.count() == 2


def damage(folder, name, change, *, seal=True):
    import pandas as pd

    path = folder / name
    frame = change(pd.read_parquet(path))
    frame.to_parquet(path, index=False)
    if seal:
        write_sums(folder)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("data/votes/train.parquet", lambda f: f.assign(winner="nobody"), "data/votes/train.parquet:1: winner must be"),
        ("data/votes/train.parquet", lambda f: f.drop(columns="kind"), "data/votes/train.parquet:1: kind is missing"),
        ("data/samples/train.parquet", lambda f: f.assign(flags="{"), "data/samples/train.parquet:1: flags is not JSON"),
        ("data/prompts/train.parquet", lambda f: f.assign(position=0), "cannot be stored"),
    ],
)  # fmt: skip
def test_bad_datasets_are_named_and_nothing_is_imported(run, folder, name, change, words):
    forget_all(run)
    damage(folder, name, change)

    with pytest.raises(BadLine) as refused:
        import_dataset(folder, reason="a test")

    assert words in str(refused.value)
    assert Run.objects.count() == 0


def test_a_changed_file_differs_from_its_checksum(folder):
    damage(folder, "data/votes/train.parquet", lambda frame: frame.assign(winner="tie"), seal=False)

    with pytest.raises(CommandError, match=r"data/votes/train\.parquet: differs from its checksum"):
        analysed(folder)


def test_a_zip_with_other_files_is_refused(packed, tmp_path):
    shutil.copy(packed, tmp_path / "set.zip")
    with zipfile.ZipFile(tmp_path / "set.zip", "a") as archive:
        archive.writestr("set/../../etc/passwd", "x")

    with pytest.raises(CommandError, match="is not a file of a dataset"):
        analysed(tmp_path / "set.zip")


@pytest.mark.parametrize(
    ("name", "words"), [("..", "is not a checksum and a file's name"), ("data", "is listed in SHA256SUMS and cannot")]
)
def test_a_checksum_of_what_is_no_file_is_refused(tmp_path, name, words):
    (tmp_path / "data").mkdir()
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  {name}\n")

    with pytest.raises(BadLine, match=words), open_dataset(tmp_path):
        pass
