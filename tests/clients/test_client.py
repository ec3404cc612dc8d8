"""The Python client by itself: what it sends again, what it does not, and how it says what is wrong."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler

import pytest
from benchsite_client import BenchsiteError, Client

from tests.listening import Listening

PROBLEM = {"type": "/api/v1/docs#rows", "detail": "Nothing was stored.", "errors": [{"line": 2, "field": "id"}]}


@pytest.fixture
def site():
    """A server that answers as planned, (status, document, headers) each, and notes what it was asked."""
    plan, asked = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append((self.command, self.path, body))
            status, document, *headers = plan.pop(0)
            text = json.dumps(document).encode()
            self.send_response(status)
            for name, value in (headers[0] if headers else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET

        def log_message(self, *words):
            pass

    with Listening(Handler) as server, Client(server.url, "bench_x", first_wait=0.0, progress=False) as client:
        yield client, plan, asked


def test_a_busy_site_is_asked_again_after_the_time_it_names(site):
    client, plan, asked = site
    plan += [(429, PROBLEM, {"Retry-After": "0"}), (503, {}), (200, {"code": "r"})]

    assert client.run("r") == {"code": "r"}
    assert len(asked) == 3


def test_a_push_is_sent_again_and_an_invitation_is_not(site):
    client, plan, asked = site
    plan += [(502, {}), (200, {"added": 2, "same": 0}), (502, {})]

    assert client.push_votes("r", [{"id": "1"}, {"id": "2"}], reason="a pilot") == {"added": 2, "same": 0}
    with pytest.raises(BenchsiteError, match="502 http"):
        client.invite("r")

    assert [path for _, path, _ in asked] == ["/api/v1/runs/r/votes?reason=a+pilot"] * 2 + [
        "/api/v1/runs/r/invitations"
    ]
    assert asked[0][2] == asked[1][2] == b'{"id": "1"}\n{"id": "2"}\n'


def test_a_problem_is_an_error_that_names_the_line(site):
    client, plan, _ = site
    plan += [(422, PROBLEM)]

    with pytest.raises(BenchsiteError, match="422 rows: Nothing was stored") as refused:
        client.push_samples("r", [{}])

    assert refused.value.errors == [{"line": 2, "field": "id"}]


def test_rows_come_page_by_page_from_the_address_one_knows(site):
    client, plan, asked = site
    plan += [
        (200, {"data": [{"n": 1}], "next": "https://public.example/api/v1/runs/r/votes?limit=1000&cursor=a:b"}),
        (200, {"data": [{"n": 2}], "next": None}),
    ]

    assert client.votes("r").to_list() == [{"n": 1}, {"n": 2}]
    assert asked[1][1] == "/api/v1/runs/r/votes?limit=1000&cursor=a:b"


def test_batches_are_sent_one_by_one(site):
    client, plan, asked = site
    plan += [(200, {"added": 2, "same": 0, "joined": ["a"]}), (200, {"added": 0, "same": 1, "joined": []})]

    done = client.push_samples("r", ({"n": n} for n in range(3)), batch=2)

    assert done == {"added": 2, "same": 1, "joined": ["a"]} and [body.count(b"\n") for *_, body in asked] == [2, 1]
