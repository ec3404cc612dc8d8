"""OpenTelemetry: a request, its job and the calls of providers are one trace, at a collector that speaks OTLP over HTTP."""

from __future__ import annotations

import subprocess
import sys
from http.server import BaseHTTPRequestHandler

import pytest
from django.test import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from redis import Redis

from benchsite import tracing
from generation.queue import make_worker
from generation.runs import lifecycle as runs
from tests.generation.drawing_room import make_suite
from tests.judging.make import make_curator
from tests.listening import Listening


class Collector(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = ExportTraceServiceRequest.FromString(body)
        self.server.spans += [s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans]
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def collector(monkeypatch):
    server = Listening(Collector)
    server.spans = []
    monkeypatch.setenv(tracing.SWITCH, server.url)
    tracing._provider.cache_clear()
    yield server
    tracing._provider().shutdown()
    tracing._provider.cache_clear()
    server.stop()


@pytest.mark.django_db(transaction=True)
def test_a_request_its_job_and_its_calls_are_one_trace_without_names(queue, demo, collector, settings):
    demo()
    settings.REDIS_URL = queue.url
    settings.RQ_QUEUES = {name: {**about, "URL": queue.url} for name, about in settings.RQ_QUEUES.items()}
    run = runs.start_run(make_suite())
    runs.pause_run(run)
    Redis.from_url(queue.url).flushall()
    client = Client(headers={"traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01"})
    client.force_login(make_curator())

    client.post(f"/runs/{run.code}/do/resume/")
    worker = make_worker("draw")
    job = worker.queues[0].jobs[0]
    worker.perform_job(job, worker.queues[0])
    tracing.flush()

    request = next(span for span in collector.spans if span.name.startswith("POST /runs/<slug:code>/"))
    jobs = [span for span in collector.spans if span.name == "job generation.jobs.draw"]
    calls = [span for span in collector.spans if span.name == "provider call"]
    assert [span.parent_span_id for span in jobs] == [request.span_id] and len(calls) >= 12
    assert {span.parent_span_id for span in calls} == {jobs[0].span_id}
    assert {span.trace_id for span in (*jobs, *calls)} == {request.trace_id}
    assert request.trace_id.hex() != "1" * 32, "what a client claims is not continued"
    words = " ".join(str(span) for span in collector.spans)
    names = {
        run.code,
        *run.entrants.values_list("name", flat=True),
        *run.models.values_list("model_id", flat=True),
        "carol",
    }
    assert [name for name in names if name in words] == []


def test_without_the_setting_nothing_of_it_is_imported():
    """By us: redis imports what it finds installed, for metrics of its own."""
    code = "import sys, benchsite.wsgi, generation.queue; print({'opentelemetry.exporter', 'opentelemetry.sdk.trace'} & set(sys.modules))"
    environment = {"DJANGO_SETTINGS_MODULE": "tests.settings", "PATH": "/usr/bin:/bin"}

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)

    assert done.stdout.strip() == "set()", done.stderr
