"""What a recruiting platform says of its submissions, asked by its API or told by a signed message; a fake one answers here."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from http.server import BaseHTTPRequestHandler
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from judging.models import Participation
from tests.judging.make import make_curator
from tests.judging.studies.make import PROFILE, TEXTS, Guest, make_study
from tests.listening import Listening

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
SECRET = "between us"


@pytest.fixture
def platform(settings):
    """A server that answers as Prolific documents it: pages of submissions, for who has the token."""
    pages: dict[str, dict] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            allowed = self.headers["Authorization"] == "Token right"
            status = 401 if not allowed else 200 if self.path in pages else 404
            body = json.dumps(pages.get(self.path, {}) if allowed else {"error": "no"}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with Listening(Handler) as server:
        settings.PLATFORM_URL, settings.PLATFORM_TOKEN = server.url, "right"
        settings.PLATFORM_WEBHOOK_SECRET = SECRET
        yield pages


def come(study, person):
    guest = Guest(study, f"?PROLIFIC_PID={person}&STUDY_ID=s1&SESSION_ID=session-{person}")
    guest.enter()
    return guest


def tell(body, *, secret=SECRET, age=0, client=None):
    text, timestamp = json.dumps(body), str(int(now().timestamp()) - age)
    digest = hmac.new(secret.encode(), (timestamp + text).encode(), hashlib.sha256).digest()
    headers = {
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
    }
    client = client or Client(enforce_csrf_checks=True)
    return client.post("/platform/events/", text, content_type="application/json", headers=headers)


def event(person, status):
    return {"event_type": "submission.status.change", "resource_id": f"session-{person}", "status": status}


def states(study):
    return list(study.participations.order_by("id").values_list("external_id", "outcome", "platform_status"))


def test_polling_learns_returns_and_approvals_from_every_page_once(platform):
    study = make_study(platform="prolific", pairs=1)
    done, gone, _ = come(study, "one"), come(study, "two"), come(study, "three")
    done.judge(1)
    done.page()
    first = "/api/v1/studies/s1/submissions/"
    platform[first] = {
        "results": [{"id": "session-one", "participant_id": "one", "status": "APPROVED"}],
        "_links": {"next": {"href": f"{first}?page=2"}},
    }
    returned = {"id": "session-two", "participant": "two", "status": "RETURNED"}
    platform[f"{first}?page=2"] = {"results": [returned, {"id": "x", "participant_id": "nobody", "status": "RETURNED"}]}
    out = StringIO()

    call_command("poll_platform", stdout=out)
    call_command("poll_platform", study.code, stdout=out)

    assert out.getvalue().splitlines() == ["Things: 2 changed.", "Things: 0 changed."]
    assert states(study) == [("one", "done", "APPROVED"), ("two", "returned", "RETURNED"), ("three", "running", "")]
    assert "You ended: returned." in gone.page()


@pytest.mark.parametrize(
    ("token", "body", "sentence"),
    [
        ("", {}, "PLATFORM_TOKEN is not set"),
        ("wrong", {}, "answered 401 .* Check PLATFORM_TOKEN"),
        ("right", {"nothing": 1}, "has no results"),
        ("right", {"results": [], "_links": {"next": {"href": "https://evil.example/"}}}, "at another host"),
    ],
)
def test_a_platform_that_cannot_be_asked_is_a_clear_error_and_changes_nothing(
    platform, settings, token, body, sentence
):
    study = make_study(platform="prolific")
    come(study, "one")
    settings.PLATFORM_TOKEN = token
    platform["/api/v1/studies/s1/submissions/"] = body

    with pytest.raises(CommandError, match=sentence):
        call_command("poll_platform")

    assert states(study) == [("one", "running", "")]


def test_an_odd_link_stops_the_polling_of_nobody_else(platform):
    study = make_study(platform="prolific")
    for person, study_id in (("one", "..%2F..%2Fusers%2Fme%2F%3F"), ("two", "none"), ("three", "s1")):
        Guest(study, f"?PROLIFIC_PID={person}&STUDY_ID={study_id}&SESSION_ID=session-{person}").enter()
    platform["/api/users/me/?/submissions/"] = {"results": [{"id": "session-one", "status": "RETURNED"}]}
    platform["/api/v1/studies/s1/submissions/"] = {"results": [{"id": "session-three", "status": "RETURNED"}]}
    out, errors = StringIO(), StringIO()

    call_command("poll_platform", stdout=out, stderr=errors)

    assert out.getvalue() == "Things: 1 changed.\n"
    assert [outcome for _, outcome, _ in states(study)] == ["running", "running", "returned"]
    odd, unknown = errors.getvalue().splitlines()
    assert "'../../users/me/?' in a participant’s link is not a study id" in odd
    assert "answered 404" in unknown


def test_a_message_means_the_session_and_else_the_person_in_the_same_study(platform):
    first = make_study(platform="prolific")
    second = make_study(platform="prolific")
    for study, query in ((first, "STUDY_ID=s1&SESSION_ID=a"), (second, "STUDY_ID=s2")):
        Guest(study, f"?PROLIFIC_PID=one&{query}").enter()
    message = {"event_type": "submission.status.change", "participant_id": "one", "status": "AWAITING REVIEW"}

    tell(message | {"resource_id": "b", "study_id": "s3"})
    tell(message | {"resource_id": "b"})
    tell(message | {"resource_id": "b", "study_id": "s1"})
    before = states(first) + states(second)
    tell(message | {"resource_id": "a", "study_id": "s1"})
    tell(message | {"resource_id": "b", "study_id": "s2", "status": "RETURNED"})

    assert before == [("one", "running", "")] * 2
    assert states(first) == [("one", "running", "AWAITING REVIEW")]
    assert states(second) == [("one", "returned", "RETURNED")]


def test_a_signed_message_frees_a_place_and_twice_is_once(platform):
    study = make_study(platform="prolific", places=1, minutes=60)
    come(study, "one")

    answers = [tell(event("one", "RETURNED")) for _ in range(2)]
    ended = Participation.objects.get().ended_at
    tell(event("one", "TIMED-OUT"))

    assert [answer.status_code for answer in answers] == [200, 200]
    assert (Participation.objects.get().outcome, Participation.objects.get().ended_at) == ("returned", ended)
    assert come(study, "two").participation().outcome == "running"


def test_a_forged_stale_or_meaningless_message_changes_nothing(platform, settings):
    study = make_study(platform="prolific")
    come(study, "one")

    statuses = [
        tell(event("one", "RETURNED"), secret="guess").status_code,
        tell(event("one", "RETURNED"), age=3600).status_code,
        Client().post("/platform/events/", "{}", content_type="application/json").status_code,
        tell(["no", "object"]).status_code,
        tell(event("nobody", "RETURNED")).status_code,
        tell(event("one", "<script>")).status_code,
        tell({"event_type": "study.status.change", "resource_id": "session-one", "status": "RETURNED"}).status_code,
    ]
    settings.PLATFORM_WEBHOOK_SECRET = ""
    statuses.append(tell(event("one", "RETURNED"), secret="").status_code)

    assert statuses == [403, 403, 403, 400, 200, 200, 200, 404]
    assert states(study) == [("one", "running", "")]


def test_lists_to_approve_screen_out_and_bonus_leave_out_what_is_settled(platform, client):
    texts = TEXTS | {"done": {"text": "Thanks.", "code": "GOOD1"}}
    study = make_study(platform="prolific", pairs=1, profile=PROFILE[:1], bonus=0.5, outcomes=texts)
    for person in ("one", "two", "rejected", "returned"):
        guest = come(study, person)
        guest.pass_step("profile", age="18 or older")
        guest.judge(1)
        guest.page()
    come(study, "young").pass_step("profile", age="under 18")
    tell(event("two", "APPROVED"))
    tell(event("rejected", "REJECTED"))
    tell(event("returned", "RETURNED"))
    client.force_login(make_curator())

    lists = {
        name: client.get(f"/runs/{study.run.code}/studies/{study.code}/{name}.csv").text.split()
        for name in ("approve", "screen_out", "bonus")
    }

    assert lists["approve"] == ["participant_id", "one"]
    assert lists["screen_out"] == ["participant_id", "young"]
    assert lists["bonus"] == ["participant_id,amount", "one,0.50", "two,0.50"]
