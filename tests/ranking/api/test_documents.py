"""API v1 in whole: every operation answers as the served OpenAPI document says, and shows no more than the pages do."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.utils.timezone import now
from jsonschema_rs import validator_for

from generation.models import Entrant, Run, Sample
from ranking.fitting import fit_run
from ranking.models import Fit
from ranking.tokens import create_token
from tests.judging.make import make_curator
from tests.judging.studies.make import make_study
from tests.ranking.archive_run import make_judged_run

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def judged(module_rows):
    run = make_judged_run()
    make_study(run)
    Run.objects.filter(pk=run.pk).update(judging_state="closed", visibility="published")
    run.refresh_from_db()
    fit_run(run)
    return run.pk


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged)


@pytest.fixture
def get(client):
    given = {"by": make_curator(), "role": "curate", "expires_at": now() + timedelta(days=1)}
    headers = {"Authorization": f"Bearer {create_token(label='a notebook', **given)[1]}"}
    return lambda address: client.get(address, headers=headers)


def document(client):
    return client.get("/api/v1/openapi.json").json()


def faults(description, operation, response):
    """Where an answer differs from what its operation promises."""
    promised = operation["responses"].get(str(response.status_code), operation["responses"]["default"])
    kind = response["Content-Type"].partition(";")[0]
    content = promised.get("content", {})
    if kind not in content and "*/*" not in content:
        return [f"{response.status_code} {kind}"]
    if not kind.endswith("json"):
        return []
    schema = content[kind]["schema"] | {"components": description["components"]}
    return [str(error) for error in validator_for(schema).iter_errors(json.loads(response.content))]


def test_every_reading_operation_answers_as_the_document_says(client, get, run):
    description = document(client)
    drawn = run.samples.judgeable().first()
    names = {"run": run.code, "sample": drawn.code, "study": run.studies.get().code, "protocol": run.protocols[0]}
    checked = 0

    for address, methods in description["paths"].items():
        if "get" not in methods:
            continue
        response = get(re.sub(r"{(\w+)}", lambda part: names[part[1]], address))
        assert response.status_code == 200, (address, response.content)
        assert faults(description, methods["get"], response) == [], address
        checked += 1

    assert description["openapi"] == "3.1.0" and checked >= 18


def test_errors_are_problems_that_name_the_field(client, get, run):
    description = document(client)
    operation = description["paths"]["/api/v1/runs/{run}/votes"]["get"]

    for address in (f"/api/v1/runs/{run.code}/votes?limit=0", "/api/v1/runs/nowhere/votes"):
        response = get(address)
        assert response["Content-Type"] == "application/problem+json"
        assert faults(description, operation, response) == []
    problem = get(f"/api/v1/runs/{run.code}/votes?limit=0").json()
    assert (problem["status"], problem["errors"][0]["field"]) == (400, "limit") and "1" in problem["detail"]


def test_the_page_of_the_api_lists_every_operation_without_a_script(client):
    page = client.get("/api/v1/docs").content.decode()
    assert 'id="errors"' in page and "<code>raw_output</code>" in page and "pause, resume or cancel" in page

    assert all(each["get"]["operationId"] in page for each in document(client)["paths"].values() if "get" in each)
    assert page.count("<script") == 1, "the theme's alone"


def test_a_board_is_what_its_page_shows_everybody(client, get, run):
    page = client.get(f"/runs/{run.code}/leaderboard/?format=json").json()

    assert get(f"/api/v1/runs/{run.code}/boards/{run.protocols[0]}").json() == page
    assert get(f"/api/v1/runs/{run.code}/boards").json()["data"][0]["fit"] == page["fit"]["code"]


def test_a_board_of_a_run_that_people_judge_is_its_public_state(client, get, run):
    Run.objects.filter(pk=run.pk).update(judging_state="open")

    board = get(f"/api/v1/runs/{run.code}/boards/{run.protocols[0]}").json()

    assert board == client.get(f"/runs/{run.code}/leaderboard/?format=json").json()
    assert board["judging"] == "open" and "fit" not in board
    assert get(f"/api/v1/runs/{run.code}/boards").json()["data"][0]["fit"] is None
    assert Fit.objects.filter(run=run).exists(), "there is something to hide"


@pytest.mark.parametrize("state", ["not_open", "open", "paused"])
def test_nothing_new_is_told_of_a_private_run_before_judging_is_closed(get, run, state):
    Run.objects.filter(pk=run.pk).update(judging_state=state, visibility="private")
    Entrant.objects.filter(run=run).update(python="draw()", source="x", turns=["Draw."])
    sample = run.samples.judgeable().first().code
    hidden = [f"samples/{sample}", f"samples/{sample}/picture", f"boards/{run.protocols[0]}"]

    assert [get(f"/api/v1/runs/{run.code}/{part}").status_code for part in hidden] == [409] * 3
    rows = get(f"/api/v1/runs/{run.code}/entrants").json()["data"] + get(f"/api/v1/runs/{run.code}").json()["entrants"]
    assert {(row["python"], row["source"], *row["turns"]) for row in rows} == {("", "")}


def test_a_drawing_withheld_from_judges_has_no_picture(get, run):
    sample = run.samples.judgeable().first()
    Sample.objects.filter(pk=sample.pk).update(held=True)

    assert get(f"/api/v1/runs/{run.code}/samples/{sample.code}/picture").status_code == 404
