"""Every operation of the API as a plain description of its request: both clients are made from these."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal
from urllib.parse import quote

Row = dict[str, Any]
LINES = "application/x-ndjson"
Verb = Literal["open", "pause", "close"]


@dataclass(frozen=True)
class Call:
    """One request. `again`: sending it twice does what sending it once does, so it may be repeated after a failure."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    lines: bytes | None = None
    again: bool = True


def in_run(run: str, *parts: str) -> str:
    return "/".join(["/api/v1/runs", *(quote(part, safe="") for part in (run, *parts) if part)])


def start_run(suite: str, *, key: str, **options: Any) -> Call:
    return Call("POST", "/api/v1/runs", body={"suite": suite, "key": key, **options})


def set_drawing(run: str, verb: Literal["pause", "resume", "cancel"], **options: Any) -> Call:
    return Call("POST", in_run(run, "drawing"), body={"verb": verb, **options})


def set_judging(run: str, verb: Verb, reason: str = "") -> Call:
    return Call("POST", in_run(run, "judging"), body={"verb": verb, "reason": reason})


def set_study(run: str, study: str, verb: Verb, reason: str = "") -> Call:
    return Call("POST", in_run(run, "studies", study, "state"), body={"verb": verb, "reason": reason})


def write_study(run: str, source: str) -> Call:
    return Call("POST", in_run(run, "studies"), body={"source": source})


def invite(run: str, **options: Any) -> Call:
    return Call("POST", in_run(run, "invitations"), body=options, again=False)


def push(run: str, kind: str, rows: list[Row], **query: Any) -> Call:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return Call("POST", in_run(run, kind), query=query, lines=text.encode("utf-8", "surrogatepass"))


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    if size < 1:
        raise ValueError("a batch has at least one row")
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch
