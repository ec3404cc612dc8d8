"""Verb: bring votes made elsewhere into a run, so that they can be ranked beside any other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, now

from generation.models import Entrant, Event, LanguageModel, Prompt, Run, Sample
from generation.runs import refuse_frozen
from generation.suite import Category, Generation, ModelEntry, PromptEntry, Suite
from generation.text import clean_text
from judging.models import Kind, Matchup, Outcome, Seat, Vote
from judging.tallies import rebuild_tallies
from judging.voting import mark_changed

BATCH = 500
# By text and category, and by text alone (then the category is None).
Prompts = dict[tuple[str | None, str | None], Prompt]
LONGEST = {"left_model": 200, "right_model": 200, "judge": 100, "category": 80, "prompt_text": 20_000}


class ImportRefusedError(Exception):
    """The file holds something that is no vote; nothing of it was imported."""


@dataclass(frozen=True)
class Line:
    """One vote of a file; only the two entrants and the outcome are sure to be there."""

    left_model: str
    right_model: str
    outcome: str
    judge: str | None = None
    prompt_text: str | None = None
    category: str = ""
    left_attempt: int | None = None
    right_attempt: int | None = None
    voted_at: datetime | None = None
    response_ms: int | None = None
    kind: str = "regular"
    withdrawn: bool = False


def read_lines(path: Path) -> list[Line]:
    """Every vote of a JSONL file; the first bad line refuses the file, by number."""
    found = []
    with path.open(encoding="utf-8", errors="strict") as stream:
        for number, text in enumerate(_lines(stream, path), start=1):
            if text.strip():
                try:
                    found.append(_line(text))
                except ValueError as error:
                    raise ImportRefusedError(f"{path.name}:{number}: {error}") from None
    if not found:
        raise ImportRefusedError(f"{path.name} holds no votes.")
    return found


def _lines(stream: Iterator[str], path: Path) -> Iterator[str]:
    try:
        yield from stream
    except UnicodeDecodeError:
        raise ImportRefusedError(f"{path.name} is not UTF-8 text.") from None


def _line(text: str) -> Line:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("this is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("a vote is one JSON object")
    texts = {name: _text(found.get(name), name) for name in LONGEST}
    if not texts["left_model"] or not texts["right_model"]:
        raise ValueError("left_model and right_model are required")
    if texts["left_model"] == texts["right_model"]:
        raise ValueError("left_model and right_model are the same")
    if found.get("outcome") not in Outcome.values:
        raise ValueError("outcome must be left, right, tie or fail")
    if found.get("kind", "regular") not in Kind.values:
        raise ValueError("kind must be regular, shared or repeat")
    numbers = {name: _number(found.get(name), name) for name in ("left_attempt", "right_attempt", "response_ms")}
    return Line(
        **{**texts, "category": texts["category"] or ""},
        **numbers,
        outcome=found["outcome"],
        kind=found.get("kind", "regular"),
        voted_at=moment_of(found.get("voted_at"), "voted_at"),
        withdrawn=found.get("withdrawn") is True,
    )


def _text(value: Any, name: str) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text")
    if len(value) > LONGEST[name]:
        raise ValueError(f"{name} is longer than {LONGEST[name]} characters")
    return clean_text(value)[0]


def _number(value: Any, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"{name} must be a whole number")
    return value


def moment_of(value: Any, name: str) -> datetime | None:
    """A time as a file tells it, in UTC; None for none. ValueError names the field."""
    if value is None:
        return None
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
        # In UTC, as databases keep it: the first and last hours of the calendar have no such time elsewhere.
        moment = moment and (moment.replace(tzinfo=UTC) if is_naive(moment) else moment.astimezone(UTC))
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise ValueError(f"{name} must be a time such as 2026-05-01T12:00:00Z")
    return moment


@transaction.atomic
def import_votes(*, path: Path, run: Run | None = None, title: str = "") -> tuple[Run, int]:
    """Import a file into a run, or into a new one made of the names in it. The same file never counts twice in a run."""
    if run is not None:
        refuse_frozen(run)
    lines = read_lines(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    run = run or _make_run(lines, title or path.stem)
    if Event.objects.filter(run=run, verb="import votes", facts__digest=digest).exists():
        raise ImportRefusedError(f"{path.name} was imported into this run before.")
    _store(run, lines)
    Event.objects.create(run=run, verb="import votes", subject=path.name, facts={"digest": digest, "votes": len(lines)})
    rebuild_tallies(run)
    mark_changed(run.pk)
    return run, len(lines)


def _make_run(lines: list[Line], title: str) -> Run:
    names = sorted({name for line in lines for name in (line.left_model, line.right_model)})
    prompts = dict.fromkeys((line.prompt_text, line.category) for line in lines if line.prompt_text)
    categories = sorted({line.category for line in lines if line.category})
    suite = Suite(
        slug="imported",
        title=title[:200],
        description="Votes that were cast elsewhere.",
        method="The votes were imported; how they were collected is not recorded here.",
        format="ascii_art",
        protocols=("pairwise",),
        seed=0,
        generation=Generation(attempts_per_prompt=1, temperature=0.0, max_tokens=1, provider="import"),
        models=tuple(ModelEntry(id=name, label=name) for name in names),
        prompts=tuple(PromptEntry(key=f"p{n}", text=text, category=c) for n, (text, c) in enumerate(prompts)),
        categories=tuple(Category(key=key, label=key) for key in categories),
    )
    run = Run.objects.create(
        suite=suite.slug,
        title=suite.title,
        format=suite.format,
        protocols=["pairwise"],
        config=suite.to_dict(),
        digest=suite.digest(),
        drawing_state=Run.Drawing.CANCELLED,
        judging_state=Run.Judging.CLOSED,
    )
    for name in names:
        model = LanguageModel.objects.create(run=run, model_id=name, label=name, provider="import")
        Entrant.objects.create(run=run, name=name, label=name, model=model)
    Prompt.objects.bulk_create(
        Prompt(run=run, position=n, key=entry.key, text=entry.text, category=entry.category)
        for n, entry in enumerate(suite.prompts)
    )
    return run


def _store(run: Run, lines: list[Line]) -> None:
    entrants = {entrant.name: entrant for entrant in run.entrants.all()}
    prompts: Prompts = {}
    for prompt in run.prompts.all():
        prompts[prompt.text, prompt.category] = prompt
        prompts.setdefault((prompt.text, None), prompt)
    samples = {
        (entrant, prompt, attempt): pk
        for entrant, prompt, attempt, pk in Sample.objects.filter(run=run).values_list(
            "entrant_id", "prompt_id", "attempt", "id"
        )
    }
    seats: dict[str | None, Seat] = {}
    for start in range(0, len(lines), BATCH):
        pairs = []
        for line in lines[start : start + BATCH]:
            if line.judge not in seats:
                seats[line.judge] = _seat(run, line.judge)
            pairs.append((line, _matchup(run, seats[line.judge], line, entrants, prompts, samples)))
        Matchup.objects.bulk_create(matchup for _, matchup in pairs)
        Vote.objects.bulk_create(_vote(run, line, matchup) for line, matchup in pairs)
    for seat in seats.values():
        seat.save(update_fields=["made", "voted"])


def _seat(run: Run, judge: str | None) -> Seat:
    name = judge or "unknown judges"
    if Seat.objects.filter(run=run, pseudonym=name, judge__isnull=False).exists():
        name = f"{name} (imported)"
    return Seat.objects.get_or_create(run=run, pseudonym=name, defaults={"is_unknown": judge is None})[0]


def _matchup(
    run: Run,
    seat: Seat,
    line: Line,
    entrants: dict[str, Entrant],
    prompts: Prompts,
    samples: dict[tuple[int, int, int], int],
) -> Matchup:
    for name in (line.left_model, line.right_model):
        if name not in entrants:
            raise ImportRefusedError(f"{name!r} is no entrant of this run. Import without --run to make a new one.")
    left, right = entrants[line.left_model], entrants[line.right_model]
    prompt = prompts.get((line.prompt_text, line.category)) or prompts.get((line.prompt_text, None))
    order, seat.made = seat.made, seat.made + 1
    seat.voted += not line.withdrawn

    def sample(entrant: Entrant, attempt: int | None) -> int | None:
        return samples.get((entrant.pk, prompt.pk, attempt)) if prompt and attempt is not None else None

    return Matchup(
        run=run,
        seat=seat,
        order=order,
        kind=line.kind,
        state=Matchup.State.VOID if line.withdrawn else Matchup.State.VOTED,
        prompt=prompt,
        # The run's word stands above the file's: counts by prompt and by judge must speak of the same categories.
        category=prompt.category if prompt else line.category,
        left=left,
        right=right,
        left_sample_id=sample(left, line.left_attempt),
        right_sample_id=sample(right, line.right_attempt),
    )


def _vote(run: Run, line: Line, matchup: Matchup) -> Vote:
    moment = line.voted_at or now()
    return Vote(
        matchup=matchup,
        run=run,
        seat=matchup.seat,
        outcome=line.outcome,
        voted_at=moment,
        response_ms=line.response_ms,
        imported=True,
        withdrawn_at=moment if line.withdrawn else None,
    )
