"""Stores the outcome of a call: in its sample, its ProviderCall, its model and its run's money."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Least
from django.utils.timezone import now

from benchsite.lib.database.updates import update_rows
from benchsite.lib.text import clean_text
from generation.drawing.active import ActiveRun
from generation.drawing.questions import THROTTLED, Ended, Question
from generation.models import Event, LanguageModel, ProviderCall, Run, Sample
from generation.providers.errors import ProviderError
from generation.providers.replies import Reply
from generation.reading.answers import Read, read_answer
from generation.reading.measuring import measured_inline
from generation.runs.loaded import LoadedRun
from generation.sandbox.programs import Outcome

LONGEST_BACKOFF = 300.0
LONGEST_BREAK = 900.0
WAITING_CALLS = ("outcome", (ProviderCall.Outcome.OPEN.value, ProviderCall.Outcome.UNKNOWN.value))
FREE = {"token": None, "lease_until": None}


@dataclass
class Money:
    """What is added to a run's spending and taken from its reservations."""

    spent: int = 0
    released: int = 0

    def __bool__(self) -> bool:
        return bool(self.spent or self.released)


@dataclass
class Settled:
    """What a batch of ended calls changed."""

    money: Money = field(default_factory=Money)
    measured: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    drawn: int = 0
    failed: int = 0


def read_all(loaded: LoadedRun, ended: Sequence[Ended]) -> dict[Any, Read]:
    """Reads each answer that ends its sample, by call; before the transaction, because reading takes processor time."""
    if not ended:
        return {}
    inline = measured_inline(loaded)
    return {
        item.question.token: read_answer(
            loaded,
            prompt_pk=item.question.prompt_pk,
            text=clean_text(answer.text)[0],
            finish_reason=answer.finish_reason,
            completion_tokens=answer.completion_tokens,
            flags=[*answer.flags, *clean_text(answer.text)[1]],
            measure=inline,
        )
        for item in ended
        if (answer := item.answer) is not None
    }


def save_all(ended: Sequence[Ended], read: Mapping[Any, Read], *, asks_again: int = 0) -> Settled:
    """Books every call, and stores what came back; where nothing could be read, the model is asked again up to `asks_again` times."""
    settled = Settled()
    for item in ended:
        if item.question.step is not None:
            pass  # no call, and no cost
        elif _close_call(item):
            if item.cost_nano is not None:
                settled.money.spent += item.cost_nano
                settled.money.released += item.question.reserved_nano
        elif (entered := _reopen_closed(item)) is not None:
            settled.money.spent += (item.cost_nano if item.cost_nano is not None else entered) - entered
        else:
            continue  # settled before: a repeat after a commit whose fate was unknown
        if (answer := item.answer) is not None:
            unreadable = read[item.question.token].verdict == Sample.Verdict.INVALID
            if unreadable and item.question.claims <= asks_again:
                _ask_again(item.question, read[item.question.token])
            elif _save_answer(item.question, answer, _explained(item, read[item.question.token])):
                settled.drawn += 1
                settled.measured.append((item.question.sample_id, read[item.question.token].values))
        elif item.outcome is not None:
            _save_question(item.question, item.outcome)
        elif item.reply is not None:
            _save_turn(item.question, item.reply)
        else:
            settled.failed += _save_error(item.question, item.failure)
    return settled


def _close_call(item: Ended) -> bool:
    """Books the call, once. A call that was given up can still return and report its cost."""
    where = {"token": item.question.token, "cost_nano": None}
    return update_rows(ProviderCall, _call_fields(item), where=where, either=WAITING_CALLS) == 1


def _reopen_closed(item: Ended) -> int | None:
    """A call that came back after a curator had entered its cost: its answer counts, and the provider's cost replaces
    what was entered, which is returned."""
    closed = ProviderCall.objects.filter(
        token=item.question.token, outcome=ProviderCall.Outcome.UNKNOWN, cost_nano__isnull=False
    )
    entered = closed.values_list("cost_nano", flat=True).first()
    fields = _call_fields(item) | ({} if item.cost_nano is not None else {"cost_nano": entered})
    return entered if entered is not None and closed.update(**fields) == 1 else None


def _call_fields(item: Ended) -> dict[str, Any]:
    fields: dict[str, Any] = {"ended_at": now(), "cost_nano": item.cost_nano}
    if item.reply is not None:
        reply = item.reply
        fields |= {
            "outcome": ProviderCall.Outcome.ANSWERED,
            "status": 200,
            "error": "",
            "detail": "",
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "latency_ms": reply.latency_ms,
            "generation_id": clean_text(reply.generation_id)[0],
            "served_model": clean_text(reply.served_model)[0],
            "served_by": clean_text(reply.served_provider)[0],
            "reasoning_tokens": reply.reasoning_tokens,
            "cached_tokens": reply.cached_tokens,
            "own_key_nano": reply.own_key_nano,
            "fingerprint": clean_text(reply.fingerprint)[0],
        }
    else:
        error = item.failure
        fields |= {
            "outcome": _outcome(item),
            "status": error.status,
            "error": error.code,
            "detail": clean_text(error.detail)[0],
            "completion_tokens": error.completion_tokens,
            "generation_id": clean_text(error.generation_id)[0],
        }
    return fields


def _outcome(item: Ended) -> ProviderCall.Outcome:
    if item.answer is not None:
        return ProviderCall.Outcome.ANSWERED  # with silence, and an error that says why
    again = item.failure.kind in ("retry", "pause_run")
    return ProviderCall.Outcome.RETRY if again else ProviderCall.Outcome.REFUSED


def _explained(item: Ended, read: Read) -> Read:
    """With the words of a Python program's own error, where it ended in one."""
    if item.outcome is None or not item.outcome.error:
        return read
    return replace(read, detail=clean_text(item.outcome.error)[0])


def _save_answer(question: Question, reply: Reply, read: Read) -> bool:
    """Stores the answer if none is stored, even a late one: it was paid for."""
    fields = {
        **read.fields,
        **FREE,
        "state": Sample.State.DRAWN,
        "drawn_at": now(),
        "raw": reply.raw_bytes,
        "answer": clean_text(reply.text)[0],
        "earlier_answers": list(question.earlier),
        "finish_reason": reply.finish_reason,
        "completion_tokens": reply.completion_tokens,
        "failure": "",
        "failure_detail": "",
    }
    return update_rows(Sample, fields, where={"id": question.sample_id, "drawn_at": None}) == 1


def _mine(question: Question) -> Any:
    return Sample.objects.filter(pk=question.sample_id, state=Sample.State.ASKING, token=question.token)


def _ask_again(question: Question, read: Read) -> None:
    """Nothing is stored: an answer is stored once and for good."""
    failure = {"failure": read.reason, "failure_detail": read.detail}
    _mine(question).update(**FREE, **failure, state=Sample.State.PENDING, next_at=now())


def _save_turn(question: Question, reply: Reply) -> None:
    """A program's next turn is a claim of its own, due at once; so a pause or a budget holds between turns too."""
    fields: dict[str, Any] = {"earlier_answers": [*question.earlier, clean_text(reply.text)[0]]}
    if question.asked:
        how = {"finish_reason": reply.finish_reason, "completion_tokens": reply.completion_tokens}
        fields["questions"] = [*question.asked[:-1], {**question.asked[-1], **how}]
    _mine(question).update(**FREE, **fields, state=Sample.State.PENDING, claims=F("claims") - 1)


def _save_question(question: Question, outcome: Outcome) -> None:
    """What a Python program wants to ask next, which is a claim of its own too."""
    asked = [*question.asked, {"messages": list(outcome.question)}]
    _mine(question).update(**FREE, state=Sample.State.PENDING, questions=asked, claims=F("claims") - 1)


def _save_error(question: Question, error: ProviderError) -> bool:
    fields = {**FREE, "failure": error.code, "failure_detail": clean_text(error.detail)[0]}
    if error.kind == "pause_run":
        _mine(question).update(**fields, state=Sample.State.PENDING, claims=F("claims") - 1)
        return False
    throttled = error.code in THROTTLED
    if error.kind == "retry" and (throttled or question.claims < settings.MAX_CLAIMS):
        claims = F("claims") - 1 if throttled else F("claims")
        due = now() + timedelta(seconds=wait_for(error, question.claims))
        _mine(question).update(**fields, state=Sample.State.PENDING, next_at=due, claims=claims)
        return False
    return _mine(question).update(**fields, state=Sample.State.FAILED) == 1


def wait_for(error: ProviderError, claims: int) -> float:
    """Seconds until the next try: what the provider asked for and a little more, else full jitter that doubles."""
    if error.retry_after is not None:
        return error.retry_after + random.uniform(0, 1 + error.retry_after / 10)
    return random.uniform(0, min(LONGEST_BACKOFF, settings.RETRY_SECONDS * 2**claims))


def pause_for_errors(active: ActiveRun, ended: Sequence[Ended]) -> None:
    """A refused key or an empty account stops the whole run, once, with the reason on its page."""
    error = next((item.error for item in ended if item.error and item.error.kind == "pause_run"), None)
    if error is not None:
        pause(active.loaded.run.pk, clean_text(error.detail)[0], code=error.code)


def pause(run_id: int, reason: str, *, code: str) -> bool:
    """Pauses an open run without a curator; the event has no actor."""
    open_run = Run.objects.filter(pk=run_id, drawing_state=Run.Drawing.OPEN)
    if open_run.update(drawing_state=Run.Drawing.PAUSED, paused_reason=reason) != 1:
        return False
    Event.objects.create(run_id=run_id, verb=Event.Verb.PAUSE_RUN, reason=reason, facts={"code": code})
    return True


def mark_models(active: ActiveRun, ended: Sequence[Ended]) -> None:
    """The circuit breaker, and models that the provider will never serve."""
    by_model: dict[int, list[Ended]] = {}
    for item in (item for item in ended if item.question.step is None):
        by_model.setdefault(item.question.model_pk, []).append(item)
    for model_pk, items in by_model.items():
        refused = next((item.error for item in items if item.error and item.error.kind == "fatal_model"), None)
        if refused is not None:
            _refuse_model(active, model_pk, refused)
        elif not all(item.is_failure for item in items):
            _model_is_well(active, model_pk, probe=any(item.question.probe for item in items))
        else:
            _model_failed(active, model_pk, len(items), probe=any(item.question.probe for item in items))


def _refuse_model(active: ActiveRun, model_pk: int, error: ProviderError) -> None:
    reason = clean_text(error.detail)[0]
    LanguageModel.objects.filter(pk=model_pk).update(refused_reason=reason)
    _waiting(model_pk).update(state=Sample.State.FAILED, failure=error.code, failure_detail=reason)
    active.due = []


def _model_is_well(active: ActiveRun, model_pk: int, *, probe: bool) -> None:
    if probe or model_pk in active.failing:
        LanguageModel.objects.filter(pk=model_pk).update(failures_in_row=0, open_until=None)
        active.failing.discard(model_pk)


def _model_failed(active: ActiveRun, model_pk: int, failures: int, *, probe: bool) -> None:
    """After some failures in a row the model is left alone; then one probe at a time, each wait twice the last."""
    active.failing.add(model_pk)
    limit, model = settings.BREAKER_FAILURES, LanguageModel.objects.filter(pk=model_pk)
    if probe:
        model.update(failures_in_row=F("failures_in_row") + 1, open_until=None)
    else:
        model.filter(failures_in_row__lt=limit).update(failures_in_row=Least(F("failures_in_row") + failures, limit))
    tripped = model.filter(failures_in_row__gte=limit, open_until=None).values_list("failures_in_row", flat=True)
    for count in tripped:
        until = _break_until(count - limit)
        if model.filter(open_until=None).update(open_until=until) == 1:
            _waiting(model_pk).filter(next_at__lt=until).update(next_at=until)
            active.due = []


def _break_until(trips: int) -> datetime:
    seconds = min(LONGEST_BREAK, 8 * settings.RETRY_SECONDS * 2.0 ** min(trips, 10))
    return now() + timedelta(seconds=seconds * random.uniform(0.8, 1.2))


def _waiting(model_pk: int) -> Any:
    return Sample.objects.filter(model_id=model_pk, state=Sample.State.PENDING)
