"""Hostile answers through reader, database, admin list, sample page and export: kept, shown as text, never acted on."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.timezone import now

from benchsite.accounts import make_curator
from generation.asking import load_sheet
from generation.dumps import sample_lines
from generation.models import Sample
from generation.reading import read_answer, reread_run
from generation.runs import start_run
from generation.text import clean_text, decode
from tests.generation.drawing_room import MASTER, make_suite
from tests.hostile import case_bytes, cases

pytestmark = pytest.mark.django_db

FORMATS = {"ascii": "ascii_art", "svg": "svg", "json": "pixel_art", "code": "science_birds"}


def hostile_run(kind: str):
    """A run whose samples hold the corpus' answers of one kind, read by the format's own rules."""
    corpus = cases(kind)
    run = start_run(make_suite(models=(MASTER,), prompts=1, attempts=len(corpus), format=FORMATS[kind]), draw=False)
    sheet = load_sheet(run.pk)
    for case, sample in zip(corpus, run.samples.order_by("id"), strict=True):
        text, flags = decode(case_bytes(case))
        text, more = clean_text(text)
        read = read_answer(sheet, prompt_pk=sample.prompt_id, text=text, flags=(*flags, *more), measure=False)
        Sample.objects.filter(pk=sample.pk).update(
            **read.fields, answer=text, raw=case_bytes(case), state=Sample.State.DRAWN, drawn_at=now()
        )
    return run, corpus


@pytest.fixture
def alice(client):
    user = User.objects.create_user("alice")
    make_curator(user)
    client.force_login(user)
    return user


@pytest.mark.parametrize("kind", FORMATS)
def test_a_hostile_answer_is_kept_and_shown_and_exported_whole(client, alice, kind):
    run, corpus = hostile_run(kind)

    listed = client.get(reverse("admin:generation_sample_changelist"), {"run__id__exact": run.pk})
    browsed = client.get(reverse("generation:samples", args=[run.code]))
    lines = [json.loads(line) for line in sample_lines(run)]

    assert (listed.status_code, browsed.status_code, len(lines)) == (200, 200, len(corpus))
    rows = listed.content.partition(b'id="result_list"')[2].partition(b"</table>")[0]  # the admin has icons of its own
    for shown in (rows, browsed.content):
        assert run.samples.first().code.encode() in shown
        assert b"<svg" not in shown
        assert b"<script>" not in shown
    for case, sample in zip(corpus, run.samples.order_by("id"), strict=True):
        assert bytes(sample.raw) == case_bytes(case), case["id"]
        page = client.get(reverse("generation:sample", args=[sample.code]))
        assert page.status_code == 200, case["id"]
        assert b"<script>" not in page.content, case["id"]
        if sample.drawing and run.format != "ascii_art":
            picture = client.get(reverse("generation:picture", args=[sample.code]))
            assert "sandbox" in picture["Content-Security-Policy"], case["id"]
            assert b"<script" not in picture.content.lower(), case["id"]


def test_reading_the_corpus_again_changes_nothing(alice):
    run, corpus = hostile_run("ascii")

    assert reread_run(run, by=alice, reason="the same rules") == 0
    assert run.samples.count() == len(corpus)
