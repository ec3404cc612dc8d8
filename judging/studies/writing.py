"""Verbs of a curator: write a study, and open, pause or close it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from generation.models import Event, Run
from generation.protocols import protocols_of
from generation.runs.errors import RunError
from generation.suites.loading import load_suite
from generation.suites.studies.study import Study as Content
from generation.suites.studies.study_files import parse_study
from generation.suites.yaml_source import SuiteError
from judging.gold.pool import fill_pool
from judging.models import Participation, Study, StudyVersion
from judging.rules import rules_of
from judging.studies.practice.pairs import can_practise

EXAMPLE = Path(__file__).with_name("example.yaml")
STATES = {
    "open": (Study.State.OPEN, Event.Verb.OPEN_STUDY),
    "pause": (Study.State.PAUSED, Event.Verb.PAUSE_STUDY),
    "close": (Study.State.CLOSED, Event.Verb.CLOSE_STUDY),
}


def newest_version(study: Study) -> StudyVersion:
    return study.versions.latest("number")


def content_of(version: StudyVersion) -> Content:
    return Content.from_dict(version.content)


def content_for(participation: Participation) -> Content:
    """The study as this participant meets it: the version they began with, in their arm."""
    return content_of(participation.version).in_arm(participation.arm)


def suggested_source(run: Run) -> str:
    """Where a new study begins: the one of the run's suite, if its YAML has one, or the example."""
    try:
        study = load_suite(settings.SUITES_DIR / run.suite).judging.study
    except SuiteError:
        study = None
    return EXAMPLE.read_text() if study is None else source_of(study)


def source_of(content: Content) -> str:
    """A study as YAML, without what is as by default."""
    plain = _without_defaults(_in_languages(content.to_dict(), content.languages))
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100)


def _in_languages(value: Any, languages: Sequence[str]) -> Any:
    """Texts with their translations in one place, as they are written: `{en: …, de: …}`."""
    if isinstance(value, list):
        return [_in_languages(each, languages) for each in value]
    if not isinstance(value, dict):
        return value
    written = {name: _in_languages(child, languages) for name, child in value.items() if name != "translations"}
    for code, texts in value.get("translations", {}).items():
        for name, text in texts.items():
            first = written[name] if isinstance(written[name], dict) else {languages[0]: written[name]}
            written[name] = {**first, code: text}
    return written


def _without_defaults(value: dict[str, object]) -> dict[str, object]:
    kept: dict[str, object] = {}
    for name, child in value.items():
        if isinstance(child, dict):
            child = _without_defaults(child)
        elif isinstance(child, list):
            child = [_without_defaults(each) if isinstance(each, dict) else each for each in child]
        is_empty = child is None or child is False or child in ("", [], {})
        if not is_empty or name == "required":
            kept[name] = child
    return kept


@transaction.atomic
def write_study(*, run: Run, source: str, by: User | None, study: Study | None = None) -> Study:
    """A new study, or a new version of one; StudyFaultsError where the YAML is wrong, and then nothing changes."""
    content = parse_study(source)
    if not any(entry.studies_page for entry in protocols_of(run).values()):
        raise RunError(f"{run} is not judged by pairs, so it has nothing for a study to show.")
    namesake = run.studies.filter(name=content.name).first()
    if namesake is not None and namesake != study:
        raise RunError(f"This run has a study called “{content.name}” already: choose another name.")
    arena = run.studies.filter(arena=True).first() if content.arena else None
    if arena is not None and arena != study:
        raise RunError("This run has an open arena already, and it can have one: edit that one.")
    if study is None:
        study = Study.objects.create(run=run, name=content.name, arena=content.arena, created_by=by)
    else:
        study = Study.objects.select_for_update().get(pk=study.pk)
        if study.state == Study.State.OPEN and (faults := content.faults()):
            raise RunError(f"The study is open, so it cannot be saved with errors: {faults[0]}")
        if content.arena != study.arena and study.participations.exists():
            raise RunError(
                "People have begun: a study cannot become an open arena, nor an arena a study. Write a new one."
            )
        study.name, study.arena = content.name, content.arena
        study.save(update_fields=["name", "arena"])
    number = study.versions.count() + 1
    StudyVersion.objects.create(study=study, number=number, source=source, content=content.to_dict(), written_by=by)
    Event.objects.create(run=run, actor=by, verb=Event.Verb.WRITE_STUDY, subject=f"{study}, version {number}")
    return study


def study_faults(study: Study) -> list[str]:
    """Everything that keeps a study from being opened, a sentence each."""
    content = content_of(newest_version(study))
    faults = content.faults()
    if content.gold and rules_of(study.run.code).judging.reveal == "after_vote":
        faults.append(
            "The run shows names after each vote, which would tell which pairs are attention checks: leave gold out."
        )
    if content.practice and not can_practise(study.run):
        faults.append("No drawing of this run can be damaged, so there is nothing to practise on: leave practice out.")
    if study.run.judging_state != Run.Judging.OPEN:
        faults.append(
            f"Judging of the run is {study.run.get_judging_state_display()}: open it first, or participants find no pair."
        )
    return faults


@transaction.atomic
def set_study_state(*, study: Study, verb: str, by: User | None, reason: str = "") -> None:
    """Open, pause or close a study; one with a fault does not open. Who has begun goes on while it is paused or closed."""
    state, event = STATES[verb]
    if verb == "open" and (faults := study_faults(study)):
        raise RunError(" ".join(["The study cannot open yet.", *faults]))
    if verb == "open" and content_of(newest_version(study)).gold:
        fill_pool(study.run, by=by)
    Study.objects.filter(pk=study.pk).update(state=state)
    study.state = state
    Event.objects.create(run=study.run, actor=by, verb=event, subject=str(study), reason=reason)
