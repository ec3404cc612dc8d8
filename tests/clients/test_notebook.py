"""The notebook of the Python client, cell by cell against a live site: people judge where it says that they do."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from benchsite_client import AsyncClient, BenchsiteError
from django.utils.timezone import now

from generation.models import Run
from judging.pairs.serving import take_seat
from judging.pairs.voting import Ballot, cast_vote
from ranking.fitting import fit_run
from ranking.tokens import create_token
from tests.judging.make import make_curator, make_seat

NOTEBOOK = Path(__file__).resolve().parents[2] / "clients/python/examples/own_pipeline.ipynb"


def people_judge():
    """Three colleagues, who like care."""
    run = Run.objects.get(label="my pipeline")
    for name in ("ann", "ben", "cat"):
        seat = make_seat(run, name)
        for _ in range(4):
            matchup = take_seat(seat.pk).current
            outcome = "left" if matchup.left.name == "mine/careful" else "right"
            cast_vote(judge=seat.judge, code=matchup.code, ballot=Ballot(outcome, response_ms=900))


def site_fits():
    fit_run(Run.objects.get(label="my pipeline"))


WHAT_OTHERS_DO = {"people-judge": people_judge, "site-fits": site_fits}


@pytest.mark.long
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_the_notebook_runs_and_reads_back_what_people_said(live_server, monkeypatch, no_waiting):
    monkeypatch.setitem(sys.modules, "tqdm", None)  # its bars are for people
    token = create_token(label="me", by=make_curator(), role="curate", expires_at=now() + timedelta(days=1))[1]
    monkeypatch.setenv("BENCHSITE_URL", live_server.url)
    monkeypatch.setenv("BENCHSITE_TOKEN", token)
    space = {}

    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), space)
            for tag in cell["metadata"].get("tags", []):
                WHAT_OTHERS_DO[tag]()

    pushed, again = space["pushed"], space["again"]
    assert pushed["added"] == len(space["drawings"]) == again["same"] and again["added"] == 0
    assert pushed["joined"] == ["mine/careful", "mine/quick"] and len(space["links"]) == 3
    assert space["scores"]["mine/careful"][0] > space["scores"]["mine/quick"][0]
    assert len(space["votes"]) == 12 and str(space["votes"]["voted_at"].dtype).startswith("datetime64")
    asyncio.run(the_same_by_awaiting(live_server.url, token, space))


async def the_same_by_awaiting(url, token, space):
    async with AsyncClient(url, token, progress=False) as site:
        assert [row["code"] async for row in site.runs()] == [space["run"]]
        assert await site.leaderboard(space["run"]) == space["board"]
        assert (await site.votes(space["run"]).to_pandas()).equals(space["votes"])
        assert (await site.push_samples(space["run"], space["drawings"][:1]))["same"] == 1
        with pytest.raises(BenchsiteError) as refused:
            await site.push_samples(space["run"], [{"model_id": "x"}])
    assert (refused.value.code, refused.value.errors[0]["field"]) == ("rows", "prompt_text")
