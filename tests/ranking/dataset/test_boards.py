"""Datasets that were not judged by votes: the same leaderboard without a database, and the same files from another site."""

from __future__ import annotations

import io
import json
from datetime import date

import pytest
from django.core.management import CommandError, call_command

from generation.models import Run
from generation.reading.answers import reread_run
from ranking.dataset.about import About
from ranking.dataset.importing import import_dataset
from ranking.dataset.publishing import publish_dataset
from tests.judging.make import close_judging
from tests.ranking.answered_run import draw_by_hand, make_answered_run
from tests.ranking.archive_run import forget_all
from tests.ranking.graded_run import make_graded_run

pytestmark = [pytest.mark.django_db, pytest.mark.long]
ABOUT = About(("Ada Example",), "Nobody was asked.", on=date(2026, 5, 1))


def graded():
    run = close_judging(make_graded_run())
    reread_run(run)
    return run


def answered(slug):
    """With an answer that is missing, one that a curator excluded, and an entrant that is out."""
    lost = iter([None])
    run = make_answered_run(slug, say=lambda sample: next(lost, draw_by_hand(sample)))
    excluded = run.samples.filter(state="drawn").order_by("id")[3]
    run.samples.filter(pk=excluded.pk).update(excluded_reason="not its own work")
    run.entrants.filter(pk=run.entrants.order_by("-id").first().pk).update(disqualified="it cheats")
    Run.objects.filter(pk=run.pk).update(drawing_state="cancelled", judging_state="closed")
    run.refresh_from_db()
    return run


RUNS = {
    "rubric": graded,
    "automatic": lambda: answered("pixel-art-lite"),
    "competition": lambda: answered("science-birds"),
}


@pytest.fixture(params=RUNS)
def run(request):
    return RUNS[request.param]()


def analysed(path, *options):
    out = io.StringIO()
    call_command("analyse", str(path), *options, stdout=out)
    return out.getvalue()


def test_the_files_give_the_leaderboard_to_the_last_digit(run, tmp_path):
    folder = publish_dataset(run, tmp_path / "set", ABOUT)

    board = json.loads(next(folder.glob("leaderboard-*.json")).read_text())
    board.pop("answers")  # counts what is missing, which is no part of a file's analysis
    assert json.loads(analysed(folder)) == board and board["overall"]
    assert all(row["entrant"] in analysed(folder, "--format=md") for row in board["overall"])
    assert len(analysed(folder, "--format=csv").splitlines()) > len(board["overall"]) - 1


def test_another_site_publishes_the_same_files(run, tmp_path):
    folder = publish_dataset(run, tmp_path / "one", ABOUT)
    forget_all(run)

    again = publish_dataset(import_dataset(folder, reason="from a paper"), tmp_path / "two", ABOUT)

    names = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert names == {path.relative_to(again) for path in again.rglob("*") if path.is_file()}
    differing = {str(name) for name in names if (folder / name).read_bytes() != (again / name).read_bytes()}
    assert differing == {"README.md", "SHA256SUMS"}  # the card says that it was imported


def test_what_means_votes_is_refused(tmp_path):
    folder = publish_dataset(graded(), tmp_path / "set", ABOUT)

    with pytest.raises(CommandError, match="has no votes, so --exclude-judge has no meaning"):
        analysed(folder, "--exclude-judge", "judge-1")
