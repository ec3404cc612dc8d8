"""Verb: a curator corrects what pages say about a model: its label, and its note, such as how its drawings were made."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from generation.models import Entrant, Event, LanguageModel
from generation.runs.errors import RunError, refuse_frozen
from generation.runs.staleness import mark_stale

LONGEST_LABEL = LanguageModel._meta.get_field("label").max_length or 0
LONGEST_NOTE = LanguageModel._meta.get_field("note").max_length or 0


@transaction.atomic
def describe_model(model: LanguageModel, *, label: str, note: str, by: User | None, reason: str) -> bool:
    """New words for a model, on its entrant too; the log keeps the old ones. Returns whether anything changed."""
    refuse_frozen(model.run)
    label, note = label.strip(), note.strip()
    if not reason.strip():
        raise RunError("Say why: the log keeps it.")
    if not label:
        raise RunError("A model needs a label.")
    for name, text, longest in (("label", label, LONGEST_LABEL), ("note", note, LONGEST_NOTE)):
        if len(text) > longest:
            raise RunError(f"The {name} has {len(text)} characters; at most {longest} are kept.")
    before, after = {"label": model.label, "note": model.note}, {"label": label, "note": note}
    if before == after:
        return False
    LanguageModel.objects.filter(pk=model.pk).update(**after)
    Entrant.objects.filter(model=model).update(**after)
    facts = {"model_id": model.model_id, "before": before, "after": after}
    Event.objects.create(
        run=model.run, actor=by, verb=Event.Verb.DESCRIBE_MODEL, subject=model.model_id, reason=reason, facts=facts
    )
    mark_stale(model.run_id)
    return True
