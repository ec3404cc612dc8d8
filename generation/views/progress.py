"""How a run is getting on: counts, rate, money and errors, each from one query over its own rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q, Sum
from django.utils.timezone import now

from generation.drawing.pricing import awaited
from generation.drawing.workers import Workers, workers_of
from generation.models import Event, Measurement, ProviderCall, Run, Sample
from generation.reading.backends import RETRIED_FOR, news_of_backend
from generation.reading.measuring import unmeasured

RATE_WINDOW = timedelta(minutes=5)
SILENT = timedelta(minutes=1)

RECOUNT = "The model’s own doing, from an earlier release. `manage.py recount` counts it as an invalid answer."
# What a curator can do about an error, by its code.
ADVICE = {
    "bad_credentials": "The key was refused. Set the provider’s environment variable, restart the workers, then Resume.",
    "out_of_credits": "The key has no credit. Add credit at the provider, then Resume.",
    "in_flight_budget": "The provider limits calls in flight. No action needed: the run waits and continues.",
    "rate_limited": "The provider asked for a pause. No action needed: the run waits and continues.",
    "model_unavailable": "No provider serves this model. Check its id with check_provider, then extend the run with the right one.",
    "no_pictures": "This model takes no pictures. Choose one that does: add it to the run, or as another judge.",
    "moderation": RECOUNT,
    "content_filter": RECOUNT,
    "reasoning_only": RECOUNT,
    "response_too_large": "The answer exceeded 8 MiB and was cut off.",
    "unexpected_redirect": "The base URL redirects. Put the final address into config/providers.yaml and start a new run.",
    "deadline": "The call took longer than the run allows. Retry, or raise the timeout in config/providers.yaml and start a new run.",
    "timeout": "The provider did not answer. Retry later.",
    "connection_error": "The connection failed. Check that the provider is up and its address is right.",
    "lease_lapsed": "A worker died in mid-call. The call may have been charged; the sample will be retried.",
    "worker_stopped": "A worker was stopped in mid-call. The call may have been charged; the sample will be retried.",
    "provider_error": "The provider had an internal error. The run waits and retries; use Retry for what failed.",
    "forbidden": "The key may not use this model. Grant it access at the provider, then Retry.",
    "window_too_small": "The model’s window cannot hold the prompt and the longest answer. Lower max_tokens or choose another model.",
    "prompt_cut": "The server cut the prompt silently. Update Ollama or give it a larger context, then Retry.",
    "bad_profile": "The provider’s profile is wrong. Fix config/providers.yaml and start a new run.",
    "bad_request": "The provider rejected the request. The example has its words; check the parameters for this model.",
    "bad_response": "The response does not follow the chat protocol. Check the base URL.",
    "incomplete_body": "The answer was incomplete. The run waits and retries; use Retry for what failed.",
    "empty_choices": "The answer was empty. The run retries; use Retry for what failed.",
    "no_content": "The answer had no text. The run retries; if it stays empty, it counts as an invalid answer.",
    "not_storable": "The answer could not be stored; the log says why.",
    "client_failed": "Our own client failed; the log says why.",
}
GENERAL_ADVICE = "Look at the example, then Retry."


@dataclass(frozen=True)
class ModelProgress:
    """One model's samples by state; `invalid` is the part of `drawn` that holds no drawing."""

    model_id: str
    label: str
    note: str
    refused_reason: str
    pending: int
    asking: int
    drawn: int
    invalid: int
    failed: int
    cancelled: int

    @property
    def total(self) -> int:
        return self.pending + self.asking + self.drawn + self.failed + self.cancelled

    def parts(self) -> list[tuple[str, float, float]]:
        """The bar: (state, start, width) in hundredths."""
        start, items = 0.0, []
        sizes = {
            "drawn": self.drawn - self.invalid,
            "invalid": self.invalid,
            "asking": self.asking,
            "failed": self.failed,
        }
        for state, count in sizes.items():
            width = 100 * count / self.total if self.total else 0
            items.append((state, round(start, 3), round(width, 3)))
            start += width
        return items


@dataclass(frozen=True)
class Problem:
    """Samples that stopped or wait for the same reason."""

    code: str
    count: int
    waiting: bool
    example: str
    detail: str
    advice: str


@dataclass(frozen=True)
class Switch:
    """Another backend that a curator asked for: how far it is, or why it could not measure."""

    backend: str
    measured: int
    failed: str


@dataclass(frozen=True)
class RunProgress:
    """All that the top of a run's page says."""

    models: list[ModelProgress]
    per_minute: float
    seconds_left: float | None
    tokens_in: int
    tokens_out: int
    unknown_costs: int
    unmeasured: int = 0
    switch: Switch | None = None
    awaited: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def count(self, state: str) -> int:
        return sum(getattr(model, state) for model in self.models)

    @property
    def drawn(self) -> int:
        return self.count("drawn")

    @property
    def invalid(self) -> int:
        return self.count("invalid")

    @property
    def failed(self) -> int:
        return self.count("failed")

    @property
    def total(self) -> int:
        return self.count("total")

    @property
    def pending(self) -> int:
        return self.count("pending")

    @property
    def asking(self) -> int:
        return self.count("asking")

    @property
    def left(self) -> int:
        return self.pending + self.asking


def _models(run: Run) -> list[ModelProgress]:
    """Counted among the samples alone: joined with their models, each of them would carry a model's whole row."""
    counts: dict[int, dict[str, int]] = {}
    samples = run.samples.order_by()
    for model, state, number in samples.values_list("model", "state").annotate(Count("id")):
        counts.setdefault(model, {})[state] = number
    # Counted here: SQLite would go through the samples by model, which takes four times as long.
    invalid = Counter(samples.filter(verdict=Sample.Verdict.INVALID).values_list("model_id", flat=True))
    return [
        ModelProgress(
            model_id=row.model_id,
            label=row.label,
            note=row.note,
            refused_reason=row.refused_reason,
            invalid=invalid[row.pk],
            **{state: counts.get(row.pk, {}).get(state, 0) for state in Sample.State.values},
        )
        for row in run.models.all()
    ]


def _problems(run: Run) -> list[Problem]:
    """Grouped by code; a waiting sample that has met an error is a problem too, milder than one that failed."""
    troubled = run.samples.exclude(failure="").filter(state__in=[Sample.State.FAILED, Sample.State.PENDING])
    groups = troubled.order_by().values("failure", "state").annotate(count=Count("id"), example=Max("id"))
    examples = Sample.objects.in_bulk([group["example"] for group in groups])
    items = [
        Problem(
            code=group["failure"],
            count=group["count"],
            waiting=group["state"] == Sample.State.PENDING,
            example=examples[group["example"]].code,
            detail=examples[group["example"]].failure_detail,
            advice=ADVICE.get(group["failure"], GENERAL_ADVICE),
        )
        for group in groups
    ]
    return sorted(items, key=lambda problem: (problem.waiting, -problem.count, problem.code))


def _switch(run: Run) -> Switch | None:
    """What a curator has to know about another backend; nothing once the run uses it, or a day later."""
    news = news_of_backend(run)
    if news is None or news.at < now() - RETRIED_FOR or news.subject in ("", run.measure_backend):
        return None
    measured = Measurement.objects.filter(sample__run=run, backend=news.subject).count()
    return Switch(news.subject, measured, news.reason if news.verb == Event.Verb.MEASURE_FAILED else "")


def _silence(asking: int, newest: datetime | None, lease: datetime | None, workers: Workers) -> list[str]:
    """Lost workers by name; else what is being asked without an answer for a while."""
    if workers.lost:
        return [str(worker) for worker in workers.lost]
    if not asking or lease is None or (newest is not None and now() - newest < SILENT):
        return []
    are = "1 call is" if asking == 1 else f"{asking} calls are"
    wait = max(round((lease - now()).total_seconds() / 60), 1)
    since = "yet" if newest is None else f"for {round((now() - newest).total_seconds() / 60)} min"
    return [
        f"{are} in progress, and no answer has arrived {since}. If a worker was lost, its calls will be repeated when its "
        f"lease ends: at {lease:%H:%M} UTC, in {wait} min, at the latest."
    ]


def run_progress(run: Run) -> RunProgress:
    models = _models(run)
    money = run.calls.aggregate(
        tokens_in=Sum("prompt_tokens", default=0),
        tokens_out=Sum("completion_tokens", default=0),
        unknown=Count("id", filter=Q(cost_nano=None) & ~Q(outcome=ProviderCall.Outcome.OPEN)),
    )
    since = max(now() - RATE_WINDOW, run.created_at)
    newest = run.samples.aggregate(newest=Max("drawn_at"))["newest"]
    lease = run.samples.filter(state=Sample.State.ASKING).aggregate(lease=Max("lease_until"))["lease"]
    minutes = max((now() - since).total_seconds() / 60, 1 / 60)
    per_minute = run.samples.filter(drawn_at__gte=since, imported=False).count() / minutes
    asking, pending = (sum(getattr(model, state) for model in models) for state in ("asking", "pending"))
    left = sum(model.pending + model.asking for model in models)
    workers = workers_of(run) if asking else Workers([], 0)
    alone = bool(workers.lost) and not workers.waiting  # nobody draws before a lease ends
    drawing = run.drawing_state == Run.Drawing.OPEN and per_minute > 0 and not alone
    return RunProgress(
        models=models,
        per_minute=per_minute,
        # Once the last ones are asked, their answers decide, and not the rate; a lost worker gives none.
        seconds_left=60 * left / per_minute if drawing and pending else None,
        tokens_in=money["tokens_in"],
        tokens_out=money["tokens_out"],
        unknown_costs=money["unknown"],
        unmeasured=unmeasured(run) if run.is_measured else 0,
        switch=_switch(run) if run.is_measured else None,
        awaited=[*awaited(run), *_silence(asking, newest, lease, workers)],
        problems=_problems(run),
    )
