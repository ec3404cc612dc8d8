"""The API for analysts: a token in, rows out; and every example of docs/api.md is tried."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils.timezone import now

from generation.models import Run
from judging.models import Vote
from ranking.api import answers
from ranking.archive.importing import import_run
from ranking.fitting import fit_run
from ranking.models import AnalystToken, Fit
from ranking.tokens import PER_MINUTE, create_token, revoke_token
from tests.judging.make import make_curator, make_judge
from tests.ranking.archive_run import leaderboard, make_judged_run, members

pytestmark = pytest.mark.django_db
DOCS = Path(__file__).resolve().parents[3] / "docs" / "api.md"
OPEN = {"settings", "suite_config", "leaderboard", "facts"}  # objects whose keys are another document's matter


@pytest.fixture(scope="module", autouse=True)
def judged(module_rows):
    run = make_judged_run()
    Run.objects.filter(pk=run.pk).update(judging_state="closed")
    run.refresh_from_db()
    fit_run(run)
    return run.pk


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged)


@pytest.fixture
def token():
    return create_token(label="Ada's notebook", by=None)[1]


@pytest.fixture
def ask(client, token):
    def get(address, **options):
        response = client.get(address, headers={"Authorization": f"Bearer {token}"}, **options)
        return response.status_code, json.loads(response.content)

    return get


def everything(ask, address):
    rows, seen = [], 0
    while address:
        status, page = ask(address)
        assert status == 200 and seen < 500
        rows, address, seen = rows + page["data"], page["next"], seen + 1
    return rows


def shape_faults(documented, found, where="$"):
    """Where an answer has another shape than the documentation says; null may stand for anything."""
    if documented is None or found is None:
        return []
    if isinstance(documented, dict):
        if not isinstance(found, dict) or (documented and set(documented) != set(found)):
            return [f"{where}: {sorted(documented)} is not {sorted(found)}"]
        return [
            fault
            for key in documented
            if key not in OPEN
            for fault in shape_faults(documented[key], found[key], f"{where}.{key}")
        ]
    if isinstance(documented, list):
        return shape_faults(documented[0], found[0], f"{where}[0]") if documented and found else []
    number = (int, float)
    same = isinstance(found, number) if type(documented) in number else type(documented) is type(found)
    return [] if same else [f"{where}: {documented!r} is not {found!r}"]


EXAMPLES = re.findall(
    r'```sh\ncurl -H "Authorization: Bearer \$TOKEN" "([^"]+)"\n```\n\n```json\n(.*?)```', DOCS.read_text(), re.S
)
DOWNLOADS = re.findall(r'```sh\ncurl -H "Authorization: Bearer \$TOKEN" -o run.zip "([^"]+)"\n```', DOCS.read_text())


def test_documentation_has_an_example_of_every_list():
    assert len(EXAMPLES) + len(DOWNLOADS) == 7 + 1 == DOCS.read_text().count("```sh")


@pytest.mark.parametrize(("address", "answer"), EXAMPLES, ids=[address.rpartition("/")[2] for address, _ in EXAMPLES])
def test_examples_are_answered_as_documented(run, ask, address, answer):
    status, data = ask(address.replace("https://bench.example.org", "").replace("RUN", run.code))
    assert status == 200
    assert shape_faults(json.loads(answer), data) == []
    assert data.get("data", True), "an empty list would prove nothing"


def test_a_whole_run_is_downloaded_as_documented(run, client, token, tmp_path):
    seat = run.seats.exclude(judge=None).first()
    User.objects.filter(pk=seat.judge_id).update(username="alice-real-name")
    [address] = DOWNLOADS
    path = address.replace("https://bench.example.org", "").replace("RUN", run.code)
    response = client.get(path, headers={"Authorization": f"Bearer {token}"})
    assert response.streaming and response["Content-Disposition"] == f'attachment; filename="tiny-{run.code}.zip"'
    assert response["Cache-Control"] == "no-store" and response["Vary"] == "Authorization"
    file = tmp_path / "run.zip"
    file.write_bytes(b"".join(response))
    assert b"alice-real-name" not in b"".join(members(file).values())
    assert leaderboard(import_run(file, copy=True, reason="a test")) == leaderboard(run)


def test_pages_hold_each_row_once(run, ask):
    rows = everything(ask, f"/api/v1/runs/{run.code}/votes?limit=7")
    assert len(rows) == run.votes.count() == len({(row["matchup"], row["withdrawn_at"]) for row in rows})
    samples = everything(ask, f"/api/v1/runs/{run.code}/samples?limit=5")
    assert {row["sample"] for row in samples} == set(run.samples.filter(state="drawn").values_list("code", flat=True))


def test_vote_that_comes_in_while_reading_is_at_the_end(run, ask):
    _, page = ask(f"/api/v1/runs/{run.code}/votes?limit=50")
    last = Vote.objects.filter(run=run).order_by("-id").first()
    Vote.objects.filter(pk=last.pk).update(voted_at=now() - timedelta(days=400))
    rest = everything(ask, page["next"])
    assert len(rest) + 50 == run.votes.count()


def test_queries_do_not_grow_with_the_page(run, ask, django_assert_num_queries):
    counts = {}
    for limit in (5, 50):
        with django_assert_num_queries(11):
            counts[limit], _ = ask(f"/api/v1/runs/{run.code}/votes?limit={limit}")
    assert set(counts.values()) == {200}


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic x", "Token bench_x", "Bearer \u00e9"])
def test_no_token_no_data(client, run, header):
    for address in (
        "/api/v1/",
        "/api/v1/runs",
        f"/api/v1/runs/{run.code}/votes",
        f"/api/v1/runs/{run.code}/archive.zip",
    ):
        response = client.get(address, headers={"Authorization": header})
        assert response.status_code == 401 and response["WWW-Authenticate"] == "Bearer"
        assert json.loads(response.content)["error"]["code"] == "token"


def test_a_login_is_no_token(client, run):
    client.force_login(make_curator())
    assert client.get("/api/v1/runs").status_code == 401


def test_revoked_token_opens_nothing(ask, run):
    row = AnalystToken.objects.get()
    assert ask("/api/v1/runs")[0] == 200
    assert revoke_token(row, by=None) and not revoke_token(row, by=None)
    assert ask("/api/v1/runs")[0] == 401


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": False}])
def test_a_token_opens_nothing_once_its_creator_is_no_curator(client, run, change):
    carol = make_curator()
    headers = {"Authorization": f"Bearer {create_token(label='hers', by=carol)[1]}"}
    assert client.get("/api/v1/runs", headers=headers).status_code == 200

    User.objects.filter(pk=carol.pk).update(**change)

    assert client.get("/api/v1/runs", headers=headers).status_code == 403


def test_only_the_hash_is_kept_and_use_is_noted(ask, token):
    row = AnalystToken.objects.get()
    assert token not in str(row.__dict__) and row.last_used_at is None and len(row.digest) == 64
    ask("/api/v1/")
    row.refresh_from_db()
    assert row.last_used_at is not None


def test_limit_of_requests(ask, client, token):
    minute = now().replace(second=0, microsecond=0)
    AnalystToken.objects.update(requests=PER_MINUTE + 5, minute=minute)
    response = client.get("/api/v1/", headers={"Authorization": f"Bearer {token}"})
    if response.status_code == 200:  # the minute turned in between
        return
    assert response.status_code == 429 and 1 <= int(response["Retry-After"]) <= 60
    AnalystToken.objects.update(minute=minute - timedelta(minutes=5))
    assert ask("/api/v1/")[0] == 200


@pytest.mark.parametrize(
    ("query", "code"),
    [
        *[(f"limit={wrong}", "limit") for wrong in ("0", "1001", "x", "-1", "%EF%BC%91")],
        *[(f"cursor={wrong}", "cursor") for wrong in ("5", "5:forged")],
    ],
)
def test_bad_questions_are_told_why(run, ask, query, code):
    status, data = ask(f"/api/v1/runs/{run.code}/votes?{query}")
    assert status == 400 and data["error"]["code"] == code


def test_a_cursor_of_another_list_is_refused(run, ask):
    _, page = ask(f"/api/v1/runs/{run.code}/votes?limit=2")
    cursor = page["next"].partition("cursor=")[2]

    assert ask(f"/api/v1/runs/{run.code}/votes?cursor={cursor}")[0] == 200
    assert ask(f"/api/v1/runs/{run.code}/samples?cursor={cursor}")[1]["error"]["code"] == "cursor"


def test_what_is_not_there(run, ask, client):
    assert ask("/api/v1/runs/nowhere")[0] == 404
    assert ask("/api/v1/runs/nowhere/archive.zip")[1]["error"]["code"] == "not_found"
    assert ask("/api/v1/nothing")[0] == 404
    assert ask("/api/v2/runs")[0] == 404
    assert ask(f"/api/v1/runs/{run.code}/leaderboard?protocol=rubric")[1]["error"]["code"] == "protocol"
    Fit.objects.all().delete()
    assert ask(f"/api/v1/runs/{run.code}/standings")[1]["error"]["code"] == "no_fit"


def test_nothing_can_be_written(client, run, token):
    for method in ("post", "put", "patch", "delete"):
        response = getattr(client, method)(f"/api/v1/runs/{run.code}", headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == 405 and response["Allow"] == "GET, HEAD"
        assert response["Content-Type"] == "application/problem+json" and response.json()["error"]["code"] == "method"


def test_an_answer_is_kept_by_its_token_alone_and_confirmed_by_its_tag(client, run, token):
    headers = {"Authorization": f"Bearer {token}"}
    first = client.get("/api/v1/runs", headers=headers)
    again = client.get("/api/v1/runs", headers={**headers, "If-None-Match": first["ETag"]})
    nobody = client.get("/api/v1/runs", headers={"If-None-Match": first["ETag"]})

    assert first["Cache-Control"] == "private, no-cache" and "Authorization" in first["Vary"]
    assert (again.status_code, again.content, nobody.status_code) == (304, b"", 401)
    Run.objects.filter(pk=run.pk).update(label="other")
    changed = client.get("/api/v1/runs", headers={**headers, "If-None-Match": first["ETag"]})
    assert changed.status_code == 200 and changed["ETag"] != first["ETag"]


def test_curator_gives_and_takes_back_a_token(client, run):
    assert client.get("/analysts/").status_code == 302
    client.force_login(make_judge())
    assert client.get("/analysts/").status_code == 403
    client.force_login(make_curator())
    page = client.post("/analysts/", {"label": "Ada"}).content.decode()
    token = re.search(r"bench_[A-Za-z0-9_-]{40,}", page).group()
    assert client.get("/api/v1/", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert token not in client.get("/analysts/").content.decode(), "shown once"
    row = AnalystToken.objects.get()
    assert client.get(f"/analysts/{row.code}/revoke/").status_code == 405
    client.post(f"/analysts/{row.code}/revoke/")
    assert client.get("/api/v1/", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert "revoked" in client.get("/analysts/").content.decode()


@pytest.mark.parametrize("list_name", ["samples", "votes", "standings", "leaderboard", "archive.zip"])
@pytest.mark.parametrize("state", ["not_open", "open", "paused"])
def test_a_run_that_may_be_judged_tells_nothing(run, ask, list_name, state):
    Run.objects.filter(pk=run.pk).update(judging_state=state)

    status, answer = ask(f"/api/v1/runs/{run.code}/{list_name}")

    assert (status, answer["error"]["code"]) == (409, "judging")


def test_a_page_of_drawings_ends_before_it_fills_the_memory(ask, run, monkeypatch):
    monkeypatch.setattr(answers, "MOST_TEXT", 1)
    address = f"/api/v1/runs/{run.code}/samples?limit=1000"

    pages = 0
    rows, following = [], address
    while following:
        _, page = ask(following)
        rows, following, pages = [*rows, *page["data"]], page["next"], pages + 1

    drawn = run.samples.filter(state="drawn")
    assert pages == drawn.count() > 1
    assert [row["sample"] for row in rows] == list(drawn.order_by("pk").values_list("code", flat=True))
