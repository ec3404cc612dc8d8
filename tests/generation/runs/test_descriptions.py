"""What pages say about a model, corrected by a curator with a reason."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils.timezone import now

from generation.files.export_samples import sample_lines
from generation.files.import_samples import import_samples
from generation.models import Event, Run
from generation.runs.descriptions import describe_model
from generation.runs.errors import RunError
from generation.runs.lifecycle import start_run
from tests.generation.drawing_room import MASTER, make_suite
from tests.judging.make import make_curator

pytestmark = pytest.mark.django_db
REASON = "The vendor opened an API since."


@pytest.fixture
def run():
    """A run with a model whose drawings were imported."""
    run = start_run(make_suite(models=[MASTER], prompts=1, attempts=1), draw=False)
    row = {"model_id": "composer-2", "prompt_text": run.prompts.get().text, "attempt_number": 1}
    row |= {"raw_output": "```\n/\\\n```", "label": "Composer 2", "made": "subagents, tools disabled"}
    import_samples([json.dumps(row).encode()], run=run)
    return run


@pytest.fixture
def model(run):
    return run.models.get(model_id="composer-2")


def test_a_note_is_corrected_on_pages_and_in_exports(run, model):
    assert describe_model(model, label="Composer 2", note="via a proxy", by=make_curator(), reason=REASON)

    entrant = run.entrants.get(name="composer-2")
    assert (entrant.label, entrant.note) == ("Composer 2", "via a proxy")
    assert json.loads(list(sample_lines(run))[-1])["note"] == "via a proxy"


def test_the_log_keeps_who_why_and_the_old_words(run, model):
    curator = make_curator()

    describe_model(model, label="Composer 2", note="via a proxy", by=curator, reason=REASON)

    event = run.events.get(verb=Event.Verb.DESCRIBE_MODEL)
    assert (event.actor, event.reason, event.subject) == (curator, REASON, "composer-2")
    assert event.facts["before"]["note"] == "subagents, tools disabled"
    assert event.facts["after"]["note"] == "via a proxy"


def test_the_same_words_change_nothing(run, model):
    assert not describe_model(model, label=model.label, note=model.note, by=make_curator(), reason=REASON)

    assert not run.events.filter(verb=Event.Verb.DESCRIBE_MODEL).exists()


@pytest.mark.parametrize(
    ("label", "note", "reason", "why"),
    [
        ("", "x", REASON, "needs a label"),
        ("Composer", "x", " ", "Say why"),
        ("Composer", "x" * 301, REASON, "has 301 characters; at most 300"),
    ],
)
def test_words_that_cannot_be_kept_are_refused(model, label, note, reason, why):
    with pytest.raises(RunError, match=why):
        describe_model(model, label=label, note=note, by=make_curator(), reason=reason)


def test_a_frozen_run_keeps_its_words(run, model):
    Run.objects.filter(pk=run.pk).update(frozen_at=now())
    model.run.refresh_from_db()

    with pytest.raises(RunError):
        describe_model(model, label="Other", note="", by=make_curator(), reason=REASON)


def test_the_form_starts_with_todays_words_and_saves_new_ones(client, run, model):
    client.force_login(make_curator())
    address = f"{reverse('generation:describe', args=[run.code])}?model=composer-2"

    assert "subagents, tools disabled" in client.get(address).text
    saved = client.post(address, {"label": "Composer 2", "note": "", "reason": REASON}, follow=True)

    model.refresh_from_db()
    assert model.note == ""
    assert "Composer 2: saved." in saved.text
    assert f"{reverse('generation:describe', args=[run.code])}?model=composer-2" in saved.text
    assert client.get(address.replace("composer-2", "nobody")).status_code == 404


def test_the_form_asks_why(client, run, model):
    client.force_login(make_curator())
    address = f"{reverse('generation:describe', args=[run.code])}?model=composer-2"

    page = client.post(address, {"label": "Composer 2", "note": "x", "reason": ""}).text

    assert "This field is required" in page


def test_the_command_changes_what_it_is_given(run, model, capsys):
    call_command("describe_model", run.code, "composer-2", "--note", "via a proxy", "--reason", REASON)

    model.refresh_from_db()
    assert (model.label, model.note) == ("Composer 2", "via a proxy")
    with pytest.raises(CommandError, match=r"no model 'nobody'; it has demo/master, composer-2"):
        call_command("describe_model", run.code, "nobody", "--note", "x", "--reason", REASON)
