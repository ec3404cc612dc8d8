"""OpenTelemetry traces from a request to its job to the calls of providers; nothing, not even an import, unless it is turned on.

OTEL_EXPORTER_OTLP_ENDPOINT turns it on; OpenTelemetry's own variables do the rest. Spans hold routes and ids: no path (an
invitation's is a secret), no person, and no name of a model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

SWITCH = "OTEL_EXPORTER_OTLP_ENDPOINT"
MISSING = f"{SWITCH} is set, but OpenTelemetry is not installed: pip install -r requirements-tracing.txt"


def is_on() -> bool:
    return bool(os.environ.get(SWITCH))


@cache
def _provider() -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise RuntimeError(MISSING) from error
    name = os.environ.get("OTEL_SERVICE_NAME", "benchsite")
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def span(name: str, *, server: bool = False, after: Mapping[str, str] | None = None, **facts: str | int) -> Any:
    """A context manager that gives the span, or None where tracing is off. `after` is what `carrier` gave elsewhere."""
    return _span(name, server, after, facts) if is_on() else nullcontext()


@contextmanager
def _span(name: str, server: bool, after: Mapping[str, str] | None, facts: dict[str, str | int]) -> Iterator[Any]:
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind

    context = extract(dict(after)) if after else None
    kind = SpanKind.SERVER if server else SpanKind.INTERNAL
    attributes = {f"benchsite.{fact}": value for fact, value in facts.items()}
    tracer = _provider().get_tracer("benchsite")
    about = {"context": context, "kind": kind, "attributes": attributes}
    with tracer.start_as_current_span(name, **about, record_exception=False) as current:  # its text may name anything
        yield current


def carrier() -> dict[str, str]:
    """What continues the current trace in another process; empty where tracing is off."""
    headers: dict[str, str] = {}
    if is_on():
        from opentelemetry.propagate import inject

        inject(headers)
    return headers


def flush() -> None:
    """Send what has been recorded: a worker's child ends without the usual goodbye."""
    if is_on():
        _provider().force_flush(5_000)


def trace_request(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware. What a client claims to continue is not believed: a trace begins here."""
    if not is_on():
        raise MiddlewareNotUsed

    def traced(request: HttpRequest) -> HttpResponse:
        with span(request.method or "", server=True) as current:
            response = get_response(request)
            route = request.resolver_match.route if request.resolver_match else "unknown"
            current.update_name(f"{request.method} /{route}")
            current.set_attribute("http.request.method", request.method or "")
            current.set_attribute("http.route", f"/{route}")
            current.set_attribute("http.response.status_code", response.status_code)
        return response

    return traced
