"""Verb: votes that a program pushes under ids of its own, as often as it likes: each is stored once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from benchsite.lib.file_errors import BadLine, BadLines
from generation.files.sample_lines import SampleRow, read_rows
from generation.models import Event, Run
from generation.runs.errors import RunError
from generation.runs.staleness import mark_stale
from judging.files.import_votes import BATCH, store_votes
from judging.files.vote_lines import VoteLine, vote_line
from judging.models import Vote
from judging.pairs import NAME
from judging.pairs.tallies import rebuild_tallies
from judging.provenance import import_reason, refuse_judged
from ranking.models import PushedVote

LONGEST_KEY = 100
Pushed = dict[str, tuple[str, VoteLine]]  # by id: the digest, and the vote


@transaction.atomic
def push_votes(stream: Iterable[bytes], *, run: Run, reason: str, by: User | None) -> dict[str, int]:
    """All or nothing; says how many were added and how many were there. Marked as imported, with the reason.

    The run's row stays locked until the end, so the same votes pushed twice at once are stored once.
    """
    refuse_judged(run)
    if NAME not in run.protocols:
        raise RunError(f"{run} is not judged by pairs, so it has no votes.")
    reason = import_reason(reason)
    pushed = _read(stream)
    known = _known(run, list(pushed))
    if bad := [line.bad(_OTHERWISE) for key, (digest, line) in pushed.items() if known.get(key, digest) != digest]:
        raise BadLines(bad)
    new = {key: each for key, each in pushed.items() if key not in known}
    if new:
        _store(run, new)
        facts = {"votes": len(new), "columns": "pushed"}
        Event.objects.create(run=run, actor=by, verb=Event.Verb.IMPORT_VOTES, subject="API", reason=reason, facts=facts)
        rebuild_tallies(run)
        mark_stale(run.pk)
    return {"added": len(new), "same": len(pushed) - len(new)}


_OTHERWISE = "id was pushed before with another vote; a vote is never edited, so send it under a new id"


def _read(stream: Iterable[bytes]) -> Pushed:
    pushed: Pushed = {}
    bad: list[BadLine] = []
    for row in read_rows(stream, "body"):
        try:
            if isinstance(row, BadLine):
                raise row
            key = _key(row)
            fields = {name: value for name, value in row.fields.items() if name != "id"}
            line = vote_line(fields, row.source, row.number)
            digest = _digest(fields)
            if pushed.setdefault(key, (digest, line))[0] != digest:
                raise row.bad("id", "stands for another vote in an earlier line")
        except BadLine as error:
            bad.append(error)
    if bad:
        raise BadLines(bad)
    if not pushed:
        raise BadLine("body", 0, "", "the body has no line")
    return pushed


def _key(row: SampleRow) -> str:
    key = row.text("id")
    if not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
        raise row.bad("id", f"is not an id of 1 to {LONGEST_KEY} printable characters")
    return key


def _digest(fields: dict[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _known(run: Run, keys: list[str]) -> dict[str, str]:
    digests: dict[str, str] = {}
    for start in range(0, len(keys), BATCH):
        rows = PushedVote.objects.filter(run=run, key__in=keys[start : start + BATCH])
        digests.update(rows.values_list("key", "digest"))
    return digests


def _store(run: Run, new: Pushed) -> None:
    waiting = iter(new.items())

    def note(votes: list[Vote]) -> None:
        rows = [
            PushedVote(run=run, key=key, digest=digest, vote=vote)
            for vote, (key, (digest, _)) in zip(votes, waiting, strict=False)
        ]
        PushedVote.objects.bulk_create(rows)

    store_votes(run, [line for _, line in new.values()], stored=note)
