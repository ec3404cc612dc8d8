"""A run of a shipped suite whose samples are answered here, by the demo players' hands or by a function of the sample."""

from __future__ import annotations

from random import Random

from django.conf import settings
from django.utils.timezone import now

from generation.formats.pixel_art import demo as pixels
from generation.formats.science_birds import demo as letters
from generation.models import Run, Sample
from generation.reading.answers import Read, read_answer
from generation.reading.measuring import save_measurements
from generation.runs.lifecycle import start_run
from generation.runs.loaded import load_run
from generation.suites.loading import load_suite

SKILL = {
    "demo/master": 0.95,
    "demo/journeyman": 0.8,
    "demo/apprentice": 0.6,
    "demo/beginner": 0.4,
    "demo/scribbler": 0.1,
}

KNOWN: dict[tuple[str, str, str], Read] = {}


def draw_by_hand(sample: Sample) -> str:
    luck, skill = (
        Random(f"{sample.entrant.name} {sample.model.model_id} {sample.prompt.key} {sample.attempt}"),
        SKILL[sample.model.model_id],
    )
    if sample.run.format == "science_birds":
        return f"```\n{letters.draw((f'Build the letter {sample.prompt.subject}. drop_block',), skill, luck)}\n```"
    return pixels.draw(sample.prompt.text, skill, luck)


def make_answered_run(slug="pixel-art-lite", *, say=draw_by_hand, protocols=("automatic",), published=True, **shape):
    """Demo players, no network: each sample's answer is what `say` makes of it; None leaves the sample unasked."""
    run = start_run(load_suite(settings.SUITES_DIR / slug), demo=True, draw=False, **shape)
    visibility = Run.Visibility.PUBLISHED if published else Run.Visibility.PRIVATE
    Run.objects.filter(pk=run.pk).update(protocols=list(protocols), visibility=visibility)
    run.refresh_from_db()
    answer_samples(run, say)
    return run


def answer_samples(run, say=draw_by_hand):
    loaded = load_run(run.pk)
    for sample in run.samples.filter(state="pending").select_related("run", "prompt", "entrant", "model"):
        text = say(sample)
        if text is None:
            continue
        key = (run.suite, sample.prompt.key, text)
        if key not in KNOWN:  # ten seconds of physics, once for each level and not for each test
            KNOWN[key] = read_answer(loaded, prompt_pk=sample.prompt_id, text=text, finish_reason="stop")
        read = KNOWN[key]
        Sample.objects.filter(pk=sample.pk).update(state="drawn", drawn_at=now(), answer=text, **read.fields)
        save_measurements(loaded, [(sample.pk, read.values)])
