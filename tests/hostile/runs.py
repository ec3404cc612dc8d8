"""Runs that hold the whole corpus: each kind read by a format's own rules, and every case as bare words."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from django.utils.timezone import now

from benchsite.lib.text import clean_text, decode
from generation.models import Event, Prompt, Run, Sample
from generation.reading.answers import read_answer
from generation.runs.lifecycle import start_run
from generation.runs.loaded import load_run
from generation.suites.suite import ModelEntry
from tests.generation.drawing_room import MASTER, ask, claim, make_suite, settle
from tests.generation.suites.suite_files import write_suite
from tests.hostile import all_cases, case_bytes, cases, serve
from tests.judging.make import make_run

# The format that reads the answers of a kind, and a harmless answer to pair them with. YAML and HTTP cases are of no
# format: those come in as answers of a model that was asked for ASCII art, these through the provider's own protocol.
KINDS = {
    "ascii": ("ascii_art", "ascii-ok-cat"),
    "svg": ("svg", "svg-ok"),
    "json": ("pixel_art", "json-ok"),
    "code": ("science_birds", "code-ok"),
    "yaml": ("ascii_art", "ascii-ok-cat"),
    "http": ("ascii_art", "ascii-ok-cat"),
}
LONGEST = 4000  # characters of a case that is shown as it is; the readers would let none of the longer ones pass

Cast = dict[str, Sample]  # by the case's id


def hostile_run(kind: str) -> tuple[Run, Cast]:
    """A run whose first entrants drew the corpus' cases of one kind; it is open for judging."""
    run = _replied_run() if kind == "http" else _answered_run(kind)
    Run.objects.filter(pk=run.pk).update(judging_state=Run.Judging.OPEN)
    run.refresh_from_db()
    corpus = cases(kind)
    samples = run.samples.order_by("id") if kind == "http" else _of_master(run)
    return run, {case["id"]: sample for case, sample in zip(corpus, samples, strict=True)}


def _of_master(run: Run) -> Any:
    return run.samples.filter(model__model_id=MASTER.id).order_by("prompt__position")


def _answered_run(kind: str) -> Run:
    """A prompt for each case: one model answers with the case, the other with something harmless."""
    corpus, (format_name, harmless) = cases(kind), KINDS[kind]
    run = start_run(make_suite(prompts=len(corpus), attempts=1, format=format_name), draw=False)
    answers = {sample.pk: case_bytes(case) for case, sample in zip(corpus, _of_master(run), strict=True)}
    ours = next(case_bytes(case) for case in all_cases() if case["id"] == harmless)
    loaded = load_run(run.pk)
    for sample in run.samples.all():
        raw = answers.get(sample.pk, ours)
        text, flags = decode(raw)
        text, more = clean_text(text)
        read = read_answer(loaded, prompt_pk=sample.prompt_id, text=text, flags=(*flags, *more), measure=False)
        Sample.objects.filter(pk=sample.pk).update(
            **read.fields, answer=text, raw=raw, state=Sample.State.DRAWN, drawn_at=now()
        )
    return run


def _replied_run() -> Run:
    """A model for each case, asked over a socket: one server replays them all."""
    corpus = cases("http")
    models = [
        ModelEntry(f"demo/case-{n}", f"Case {n}", provider="demo", price_in=1, price_out=1) for n in range(len(corpus))
    ]
    run = start_run(make_suite(models=models, prompts=1, attempts=1))
    server, port = serve.start()
    for case, model in zip(corpus, run.models.order_by("id"), strict=True):
        model.profile = serve.profile(case, port)
        model.save()
    # In a thread of its own, because a browser test has an event loop in this one.
    with closing(server), ThreadPoolExecutor(1) as thread:
        settle(run, thread.submit(ask, claim(run, len(corpus))).result())
    return run


def words_of(case: dict[str, Any]) -> str:
    """The case as text that both databases can store, and otherwise as it is."""
    return clean_text(decode(case_bytes(case))[0])[0][:LONGEST]


def worded_run() -> tuple[Run, Cast]:
    """All cases as if no reader had refused any: each is a drawing, its prompt, a failure's detail and a reason."""
    corpus = all_cases()
    run = make_run(entrants=2, prompts=len(corpus), attempts=1, overlap=0, repeats=0)
    first = run.entrants.order_by("id").first()
    prompts = list(run.prompts.order_by("position"))
    samples = list(first.samples.order_by("prompt__position"))
    for case, prompt, sample in zip(corpus, prompts, samples, strict=True):
        words = words_of(case)
        prompt.text = words[:2000]
        sample.drawing = sample.answer = words
        sample.detail = sample.failure_detail = words[:500]
    Prompt.objects.bulk_update(prompts, ["text"])
    Sample.objects.bulk_update(samples, ["drawing", "answer", "detail", "failure_detail"])
    Event.objects.bulk_create(Event(run=run, verb="look", reason=words_of(case)[:2000]) for case in corpus)
    return run, {case["id"]: sample for case, sample in zip(corpus, samples, strict=True)}


def write_hostile_suites(root: Path) -> None:
    """A folder of suites, one for each YAML case, in which the case is the list of models."""
    for case in cases("yaml"):
        folder = write_suite(root, case["id"])
        (folder / "models.yaml").write_bytes(case_bytes(case))
