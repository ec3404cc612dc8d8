"""Writing by the API: tokens for one run, a role and a time; what is pushed twice is stored once, or nothing is."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils.timezone import now

from generation.models import Event, Run
from generation.runs.errors import RunError
from judging.models import Vote
from ranking.api.bodies import MOST_LINES
from ranking.api.pushing import push_votes
from ranking.models import AnalystToken, PushedVote
from ranking.tokens import create_token
from tests.judging.make import make_curator
from tests.judging.studies.make import make_study, source
from tests.ranking.archive_run import make_judged_run

pytestmark = pytest.mark.django_db
LINES = "application/x-ndjson"
ART = "```\n/\\_/\\\n( o.o )\n```"


@pytest.fixture(scope="module", autouse=True)
def judged(module_rows):
    run = make_judged_run(votes=20)
    Run.objects.filter(pk=run.pk).update(judging_state="closed")
    return run.pk


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged)


@pytest.fixture
def carol():
    return make_curator()


@pytest.fixture
def token_of(carol):
    def make(role="curate", run=None, **more):
        given = {"by": carol, "expires_at": now() + timedelta(days=1)} | more
        return create_token(label="a pipeline", role=role, run=run, **given)[1]

    return make


@pytest.fixture
def send(client):
    def post(token, address, body=None, *, kind="application/json", method="POST", **headers):
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        headers |= {"Authorization": f"Bearer {token}"}
        response = client.generic(method, f"/api/v1{address}", data, content_type=kind, headers=headers)
        return response.status_code, json.loads(response.content)

    return post


def lines(*rows):
    return "\n".join(json.dumps(row) for row in rows)


def samples_of(run, *, model="mine/own", attempts=2, answer=ART):
    return [
        {"model_id": model, "prompt_text": prompt.text, "attempt_number": number, "raw_output": answer}
        for prompt in run.prompts.all()
        for number in range(1, attempts + 1)
    ]


def votes_of(run, *, count=6, **more):
    left, right = run.entrants.values_list("name", flat=True)[:2]
    return [
        {"id": f"v{n}", "left_model": left, "right_model": right, "outcome": "left", "judge": "lab", **more}
        for n in range(count)
    ]


def test_drawings_pushed_again_and_in_parts_are_stored_once(run, token_of, send):
    rows, token = samples_of(run), token_of("push", run)
    Run.objects.filter(pk=run.pk).update(judging_state="not_open")

    first = send(token, f"/runs/{run.code}/samples", lines(*rows), kind=LINES)
    again = send(token, f"/runs/{run.code}/samples", lines(*rows), kind=LINES)
    part = send(token, f"/runs/{run.code}/samples", lines(rows[0]), kind=LINES)

    assert first == (200, {"added": len(rows), "same": 0, "joined": ["mine/own"]})
    assert (again[1]["added"], again[1]["same"], part[1]["same"]) == (0, len(rows), 1)
    drawn = run.samples.filter(model__model_id="mine/own")
    assert drawn.count() == len(rows) and set(drawn.values_list("imported", "verdict")) == {(True, "valid")}


def test_one_wrong_line_and_nothing_is_stored(run, token_of, send):
    rows = samples_of(run)
    rows[3]["attempt_number"] = 0
    before = run.samples.count()

    status, problem = send(token_of("push"), f"/runs/{run.code}/samples", lines(*rows), kind=LINES)

    assert (status, problem["error"]["code"]) == (422, "rows")
    assert (problem["errors"][0]["line"], problem["errors"][0]["field"]) == (4, "attempt_number")
    assert "Nothing was stored" in problem["detail"] and run.samples.count() == before
    clash = [rows[0], rows[0] | {"raw_output": "another"}]
    assert send(token_of("push"), f"/runs/{run.code}/samples", lines(*clash), kind=LINES)[0] == 422


def test_votes_pushed_again_are_the_same_votes_and_marked(run, token_of, send):
    rows, token, before = votes_of(run), token_of("push", run), run.votes.count()
    address = f"/runs/{run.code}/votes?reason=a+pilot+in+May"

    first = send(token, address, lines(*rows[:4]), kind=LINES)
    more = send(token, address, lines(*rows, rows[0]), kind=LINES)

    assert (first, more) == ((200, {"added": 4, "same": 0}), (200, {"added": 2, "same": 4}))
    assert run.votes.count() == before + 6 and PushedVote.objects.filter(run=run).count() == 6
    pushed = Vote.objects.filter(pushed__run=run)
    assert set(pushed.values_list("imported", "seat__pseudonym")) == {(True, "lab")}
    assert "a pilot in May" in run.events.filter(verb=Event.Verb.IMPORT_VOTES).first().reason


def test_a_vote_is_never_edited_by_its_id(run, token_of, send):
    [row], token = votes_of(run, count=1), token_of("push")
    address = f"/runs/{run.code}/votes?reason=x"
    send(token, address, lines(row), kind=LINES)

    status, problem = send(token, address, lines(row | {"outcome": "right"}), kind=LINES)

    assert status == 422 and "under a new id" in problem["detail"]
    assert list(Vote.objects.filter(pushed__run=run).values_list("outcome", flat=True)) == ["left"]


def test_no_vote_is_pushed_into_a_run_that_was_frozen_since_it_was_read(run):
    Run.objects.filter(pk=run.pk).update(frozen_at=now())

    with pytest.raises(RunError, match="is frozen"):
        push_votes([lines(*votes_of(run)).encode()], run=run, reason="x", by=None)


@pytest.mark.parametrize("state", ["open", "paused"])
def test_no_vote_is_pushed_into_a_run_that_people_judge(run, token_of, send, state):
    Run.objects.filter(pk=run.pk).update(judging_state=state)

    status, problem = send(token_of(), f"/runs/{run.code}/votes?reason=x", lines(*votes_of(run)), kind=LINES)

    assert (status, problem["error"]["code"]) == (409, "refused") and "Close judging first" in problem["detail"]
    assert not PushedVote.objects.exists()


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"id": ""}, "id"),
        ({"id": 5}, "id"),
        ({"outcome": "maybe"}, "outcome"),
        ({"left_model": "nobody"}, ""),
        ({"voted_at": "yesterday"}, "voted_at"),
    ],
)
def test_a_wrong_vote_names_line_and_field(run, token_of, send, row, field):
    good, other = votes_of(run, count=2)

    status, problem = send(token_of(), f"/runs/{run.code}/votes?reason=x", lines(good, other | row), kind=LINES)

    assert (status, problem["errors"][0]["line"], problem["errors"][0]["field"]) == (422, 2, field)
    assert not PushedVote.objects.exists()


def test_a_body_that_is_too_large_or_of_another_kind_is_refused_unread(run, token_of, send, settings, client):
    token, address = token_of("push"), f"/runs/{run.code}/samples"
    assert send(token, address, "{}\n" * (MOST_LINES + 1), kind=LINES)[0] == 413
    settings.UPLOAD_MEGABYTES = 0

    assert send(token, address, lines(*samples_of(run)), kind=LINES)[1]["error"]["code"] == "too_large"
    assert send(token, address, "[]")[0] == 415
    large = client.post(f"/api/v1{address}", "x" * (2 << 20), content_type=LINES)
    assert large.status_code == 401, "nothing is read without a token"
    assert send(token_of(), "/runs", " " * (3 << 20))[0] == 413


def test_a_token_of_one_run_finds_no_other(run, token_of, send, client):
    other = make_judged_run(votes=0, prompts=1, attempts=1)
    make_study(other)
    token = token_of("curate", run)
    parts = ["", "/samples", "/votes", "/boards", "/studies", "/invitations", "/archive.zip", "/models", "/standings"]

    answers = [
        client.get(f"/api/v1/runs/{other.code}{part}", headers={"Authorization": f"Bearer {token}"}) for part in parts
    ]
    writes = [
        send(token, f"/runs/{other.code}/drawing", {"verb": "cancel"}),
        send(token, f"/runs/{other.code}/judging", {"verb": "open"}),
        send(token, f"/runs/{other.code}/invitations", {}),
        send(token, f"/runs/{other.code}/studies/{other.studies.get().code}/state", {"verb": "close"}),
        send(token, f"/runs/{other.code}/samples", lines(*samples_of(other)), kind=LINES),
        send(token, f"/runs/{other.code}/votes?reason=x", lines(*votes_of(other)), kind=LINES),
    ]

    assert {response.status_code for response in answers} == {404}
    assert {status for status, _ in writes} == {404}
    runs = client.get("/api/v1/runs", headers={"Authorization": f"Bearer {token}"}).json()["data"]
    assert [row["code"] for row in runs] == [run.code]
    assert send(token, "/runs", {"suite": "ascii", "key": "a"})[0] == 403


def test_each_role_may_what_its_name_says(run, token_of, send):
    verbs = {"drawing": {"verb": "pause"}, "judging": {"verb": "close"}, "invitations": {}}

    for role, status in {"read": 403, "push": 403, "curate": 200}.items():
        token = token_of(role)
        answers = {name: send(token, f"/runs/{run.code}/{name}", body)[0] for name, body in verbs.items()}
        assert set(answers.values()) <= {status, 201 if role == "curate" else status}
        pushed = send(token, f"/runs/{run.code}/samples", lines(*samples_of(run)), kind=LINES)[0]
        assert pushed == (403 if role == "read" else 200)


def test_a_token_ends_with_its_time_and_with_its_curator(run, token_of, send, carol, client):
    late = token_of(expires_at=now() - timedelta(seconds=1))
    assert send(late, f"/runs/{run.code}/judging", {"verb": "close"})[0] == 401
    token = token_of()
    carol.is_staff = False
    carol.save()

    status, problem = send(token, f"/runs/{run.code}/judging", {"verb": "open"})

    assert (status, problem["error"]["code"]) == (403, "role")
    run.refresh_from_db()
    assert run.judging_state == "closed"


def test_a_run_is_started_once_by_its_key_and_controlled(token_of, send, carol):
    token = token_of()
    wanted = {"suite": "ascii", "label": "mine", "models": [], "attempts": 2, "key": "may-1"}

    status, started = send(token, "/runs", wanted)
    again = send(token, "/runs", wanted)[1]

    run = Run.objects.get(code=started["code"])
    assert (status, again["code"], run.created_by, run.samples.count()) == (201, run.code, carol, 0)
    for verb, state in (("pause", "paused"), ("pause", "paused"), ("resume", "open"), ("cancel", "cancelled")):
        assert send(token, f"/runs/{run.code}/drawing", {"verb": verb})[1]["drawing_state"] == state
    assert send(token, f"/runs/{run.code}/drawing", {"verb": "resume"})[0] == 409
    assert "(token a pipeline)" in run.events.filter(verb=Event.Verb.CANCEL_RUN).get().reason


@pytest.mark.parametrize("other", [{"suite": "svg-arena"}, {"label": "theirs"}, {"prompts": ["cat"]}, {"attempts": 3}])
def test_a_key_is_refused_for_another_run_than_it_started(token_of, send, other):
    token = token_of()
    wanted = {"suite": "ascii", "label": "mine", "models": [], "attempts": 2, "key": "may-1"}
    started = send(token, "/runs", wanted)[1]

    status, problem = send(token, "/runs", wanted | other)

    assert (status, problem["error"]["code"], Run.objects.filter(code=started["code"]).count()) == (409, "refused", 1)
    assert [each["field"] for each in problem["errors"]] == [*other]
    assert started["code"] in problem["detail"] and "Use a new key" in problem["detail"]


def test_an_empty_body_is_refused_in_words(run, token_of, send):
    status, problem = send(token_of("push", run), f"/runs/{run.code}/votes?reason=x", "\n", kind=LINES)

    assert (status, problem["detail"]) == (422, "The body is empty. Send JSON Lines, one object a line.")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"suite": "nowhere"}, "suite"),
        ({"suite": "ascii", "key": "demo x"}, "key"),
        ({"suite": "ascii", "budget_usd": -1}, "budget_usd"),
        ({"suite": "ascii", "uploaded": False}, "uploaded"),
        ({"suite": "ascii", "attempts": 1000}, "attempts"),
    ],
)
def test_a_wrong_field_of_a_new_run_is_named(token_of, send, body, field):
    status, problem = send(token_of(), "/runs", {"key": "k"} | body)

    assert status == 422 and problem["errors"][0]["field"] == field
    assert not Run.objects.filter(suite="ascii").exists()


def test_judges_are_invited_and_links_revoked(run, token_of, send, client):
    token = token_of()

    status, made = send(token, f"/runs/{run.code}/invitations", {"count": 2, "label": "class", "quota": 5})
    link = made["data"][0]["link"].partition("testserver")[2]
    assert (status, len(made["data"]), client.get(link).status_code) == (201, 2, 200)
    revoked = send(token, f"/runs/{run.code}/invitations/{made['data'][0]['id']}", method="DELETE")[1]

    assert revoked["state"] == "revoked" and client.get(link).status_code != 200
    listed = client.get(f"/api/v1/runs/{run.code}/invitations", headers={"Authorization": f"Bearer {token}"}).json()
    assert [row["state"] for row in listed["data"]] == ["revoked", "open"]


def test_a_study_is_opened_and_closed(run, token_of, send):
    token = token_of()
    send(token, f"/runs/{run.code}/judging", {"verb": "open"})
    run.refresh_from_db()
    address = f"/runs/{run.code}/studies/{make_study(run).code}/state"

    assert [send(token, address, {"verb": verb})[1]["state"] for verb in ("pause", "open", "close")] == [
        "paused",
        "open",
        "closed",
    ]


def test_a_study_is_written_again_as_a_version_and_its_faults_are_named(run, token_of, send):
    token, address = token_of("curate", run), f"/runs/{run.code}/studies"

    first = send(token, address, {"source": source()})
    same = send(token, address, {"source": source()})
    changed = send(token, address, {"source": source(pairs=4)})
    wrong = send(token, address, {"source": source(pairs="many", colour="red")})

    assert {answer[0] for answer in (first, same, changed)} == {201} and first[1]["state"] == "draft"
    assert first[1]["code"] == same[1]["code"] == changed[1]["code"]
    assert run.studies.get().versions.count() == 2
    assert wrong[0] == 422 and {row["field"] for row in wrong[1]["errors"]} >= {"pairs", "colour"}
    assert all(row["line"] for row in wrong[1]["errors"])
    assert send(token_of("push", run), address, {"source": source()})[0] == 403


def test_a_curator_creates_a_token_for_one_run_that_ends(run, client, carol):
    client.force_login(carol)

    client.post("/analysts/", {"label": "Pipeline", "role": "push", "run": run.code, "days": "7"})
    client.post("/analysts/", {"label": "Ours", "role": "curate"})

    one, site = AnalystToken.objects.order_by("id")
    assert (one.role, one.run_id, (one.expires_at - now()).days) == ("push", run.pk, 6)
    assert (site.role, site.run_id, (site.expires_at - now()).days) == ("curate", None, 89)
    event = Event.objects.filter(verb=Event.Verb.CREATE_ANALYST_TOKEN, run=run).get()
    assert (event.actor, event.facts["role"]) == (carol, "push")
    assert "Pipeline" in client.get("/analysts/").content.decode()
