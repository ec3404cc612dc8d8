"""The state machine of a sample: claim, ask, settle. All state is in the database, and no locks are taken.

- A claim is a conditional UPDATE with the row count checked, and its ledger row is written in the same transaction,
  before the request. The run's state and its budget are part of that transaction.
- Asking happens outside any transaction, under one total deadline; the lease outlives the deadline.
- Settling stores an answer if none is stored, and books this call's cost in any case, once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils.timezone import now

from benchsite.lib.database.updates import change_rows, insert_rows, update_rows
from generation.drawing import settling
from generation.drawing.active import ActiveRun
from generation.drawing.pictures import drawings_shown, with_pictures
from generation.drawing.pricing import reservation_nano
from generation.drawing.questions import Ended, Question, deadline_of, request_of
from generation.drawing.settling import Money
from generation.drawing.steps import run_program, step_of
from generation.models import LanguageModel, ProviderCall, Run, Sample
from generation.money import NANO
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.reading.measuring import save_measurements

SPARE = 32  # due samples looked up ahead, so that a claim of one costs no search of its own
SPARE_SECONDS = 1.0


@dataclass(frozen=True)
class Turn:
    """The result of one transaction: questions to ask, and how many samples were drawn or failed."""

    questions: list[Question]
    drawn: int = 0
    failed: int = 0


async def ask(client: Client, question: Question) -> Ended:
    """Asks, and returns a reply or an error; never raises because of a provider."""
    if question.step is not None:
        return await run_program(question)
    try:
        request = question.request
        if question.shown is not None:
            request = await with_pictures(request, question.shown)
        reply = await client.ask(question.profile, request, deadline=question.deadline)
    except ProviderError as error:
        return Ended(question, error=error)
    return Ended(question, reply=reply)


def claim(active: ActiveRun, *, wanted: int, room: dict[str, int] | None = None) -> list[Question]:
    return take_turn(active, wanted=wanted, room=room).questions


def settle(active: ActiveRun, ended: Sequence[Ended]) -> Turn:
    return take_turn(active, ended=ended)


def take_turn(
    active: ActiveRun, *, ended: Sequence[Ended] = (), wanted: int = 0, room: dict[str, int] | None = None
) -> Turn:
    """Settle what has ended and claim up to `wanted` samples, in one transaction; `room` is what providers can take.

    Safe to repeat with the same arguments when a commit's fate is unknown: a second settling changes nothing.
    """
    read = settling.read_all(active.loaded, ended)
    with transaction.atomic():
        settled = settling.save_all(ended, read, asks_again=active.loaded.format.asks_again)
        picks = _pick(active, wanted, room) if wanted else []
        questions = _take(active, _book(active, settled.money, picks))
        save_measurements(active.loaded, settled.measured)
        settling.pause_for_errors(active, ended)
        settling.mark_models(active, ended)
    return Turn(questions, settled.drawn, settled.failed)


def _pick(active: ActiveRun, wanted: int, room: dict[str, int] | None) -> list[Question]:
    """Questions for due samples, within the room of each provider, and one probe of a model whose breaker tripped."""
    if len(active.due) < wanted or active.loaded.has_programs or time.monotonic() - active.due_at > SPARE_SECONDS:
        _look_up(active, wanted)
    left = dict(room) if room is not None else None
    picked: list[Question] = []
    kept: list[dict[str, Any]] = []
    probed: set[int] = set()
    for row in active.due:
        provider, tripped = active.loaded.profiles[row["model_id"]].name, _tripped(row)
        if len(picked) == wanted or (left is not None and left.get(provider, 0) <= 0):
            kept.append(row)
        elif not (tripped and row["model_id"] in probed):
            if left is not None:
                left[provider] -= 1
            if tripped:
                probed.add(row["model_id"])
            picked.append(_question(active, row, probe=tripped))
    active.due = kept
    return picked


def _tripped(row: dict[str, Any]) -> bool:
    return row["model__failures_in_row"] >= settings.BREAKER_FAILURES


def _look_up(active: ActiveRun, wanted: int) -> None:
    fields = (
        "id",
        "model_id",
        "entrant_id",
        "prompt_id",
        "attempt",
        "claims",
        "earlier_answers",
        "questions",
        "model__failures_in_row",
    )
    due = Sample.objects.claimable().filter(
        run_id=active.loaded.run.pk, model_id__in=active.loaded.models.keys() - active.unpriced
    )
    active.due = list(due.order_by("next_at", "id").values(*fields)[: wanted + SPARE])
    active.due_at = time.monotonic()
    active.failing.update(row["model_id"] for row in active.due if row["model__failures_in_row"])


def _question(active: ActiveRun, row: dict[str, Any], *, probe: bool) -> Question:
    profile, earlier = active.loaded.profiles[row["model_id"]], row["earlier_answers"]
    entrant = active.loaded.entrants[row["entrant_id"]]
    about = {"entrant_pk": entrant.pk, "prompt_pk": row["prompt_id"], "attempt": row["attempt"]}
    about |= {"earlier": earlier, "asked": row["questions"]}
    request = request_of(active.loaded, model_pk=row["model_id"], claims=row["claims"], **about)
    step = step_of(active.loaded, **about)
    return Question(
        token=uuid4(),
        sample_id=row["id"],
        model_pk=row["model_id"],
        prompt_pk=row["prompt_id"],
        claims=row["claims"] + 1,
        earlier=tuple(earlier),
        last_turn=not entrant.python and len(earlier) + 1 >= len(entrant.turns),
        profile=profile,
        request=request,
        deadline=deadline_of(profile),
        reserved_nano=0 if step else reservation_nano(request) or 0,
        probe=probe and step is None,
        step=step,
        asked=tuple(row["questions"]),
        shown=drawings_shown(active.loaded, row["prompt_id"]),
    )


def _book(active: ActiveRun, money: Money, picks: list[Question]) -> list[Question]:
    """Book what was settled and reserve what is claimed, in one UPDATE where all of it fits."""
    if picks and _reserve(active, picks, money):
        return picks
    if money:
        Run.objects.filter(pk=active.loaded.run.pk).update(
            spent_nano=F("spent_nano") + money.spent, reserved_nano=F("reserved_nano") - money.released
        )
    fitting = _fitting(active, picks) if picks else []
    return fitting if fitting and _reserve(active, fitting, Money()) else []


RESERVE = """
UPDATE generation_run SET spent_nano = spent_nano + %(spent)s, reserved_nano = reserved_nano + %(reserved)s
WHERE id = %(run)s AND drawing_state = 'open'
  AND (budget_nano IS NULL OR (%(priced)s AND budget_nano >= spent_nano + reserved_nano + %(spent)s + %(reserved)s))
"""


def _reserve(active: ActiveRun, picks: list[Question], money: Money) -> bool:
    values = {
        "run": active.loaded.run.pk,
        "spent": money.spent,
        "reserved": sum(question.reserved_nano for question in picks) - money.released,
        "priced": all(question.priced for question in picks),  # else nobody knows what would have to fit
    }
    return change_rows(RESERVE, values) == 1


def _fitting(active: ActiveRun, picks: list[Question]) -> list[Question]:
    """Returns the picks that the budget allows; pauses the run if there are none and no call is in flight."""
    run = Run.objects.get(pk=active.loaded.run.pk)
    if run.drawing_state != Run.Drawing.OPEN:
        return []
    if run.budget_nano is None:
        return picks
    picks = _priced(active, picks)
    left, fitting = run.budget_nano - run.spent_nano - run.reserved_nano, []
    for question in picks:
        if question.reserved_nano <= left:
            fitting.append(question)
            left -= question.reserved_nano
    if picks and not fitting and not Sample.objects.filter(run=run, state=Sample.State.ASKING).exists():
        needed = min(question.reserved_nano for question in picks)
        settling.pause(run.pk, _budget_reason(run, needed), code="budget")
    return fitting


def _priced(active: ActiveRun, picks: list[Question]) -> list[Question]:
    """Without those whose price is unknown. The run had no cap when it was loaded: from now on they wait for it."""
    unknown = {question.model_pk for question in picks if not question.priced}
    if unknown:
        active.unpriced |= unknown
        active.due = []
    return [question for question in picks if question.priced]


def _budget_reason(run: Run, needed: int) -> str:
    return (
        f"The budget of US${(run.budget_nano or 0) / NANO:.4f} does not allow another call: US${run.spent_nano / NANO:.4f} "
        f"is spent, US${run.reserved_nano / NANO:.4f} is reserved for calls whose cost is not known yet, and the next call "
        f"may cost up to US${needed / NANO:.4f}. Raise the budget to continue."
    )


def _take(active: ActiveRun, questions: list[Question]) -> list[Question]:
    """Claim each sample by a conditional UPDATE and write its call down; what another worker took is given back."""
    moment = now()
    taken = [question for question in questions if _take_one(question, moment)]
    lost = sum(question.reserved_nano for question in questions) - sum(question.reserved_nano for question in taken)
    if lost:
        Run.objects.filter(pk=active.loaded.run.pk).update(reserved_nano=F("reserved_nano") - lost)
    calls = [
        {
            "sample_id": question.sample_id,
            "run_id": active.loaded.run.pk,
            "token": question.token,
            "turn": question.turn,
            "started_at": moment,
            "worker": active.worker,
            "seen_at": moment,
            "lease_until": _lease(question, moment),
            "reserved_nano": question.reserved_nano,
        }
        for question in taken
        if question.step is None  # a program's own work is no call
    ]
    insert_rows(ProviderCall, calls)
    return taken


def _take_one(question: Question, moment: datetime) -> bool:
    lease = _lease(question, moment)
    if question.probe:
        model = LanguageModel.objects.filter(Q(open_until=None) | Q(open_until__lte=moment), pk=question.model_pk)
        if model.update(open_until=lease) != 1:
            return False
    untouched = {"id": question.sample_id, "state": Sample.State.PENDING, "claims": question.claims - 1}
    fields = {"state": Sample.State.ASKING, "token": question.token, "lease_until": lease, "claims": question.claims}
    return update_rows(Sample, fields, where=untouched | {"next_at__lte": moment}) == 1


def _lease(question: Question, moment: datetime) -> datetime:
    return moment + timedelta(seconds=question.deadline + settings.LEASE_MARGIN)
