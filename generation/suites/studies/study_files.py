"""The `judging: study:` block of a config.yaml, or the same from a curator's form: a Study, or every fault at once."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

from benchsite.lib.languages import LANGUAGES
from generation.suites import yaml_fields as read
from generation.suites.studies.faults import Faults, Languages, StudyFaultsError
from generation.suites.studies.gold import read_gold
from generation.suites.studies.practice import read_practice
from generation.suites.studies.study import KINDS, OUTCOMES, Arm, Check, Consent, Ending, Platform, Question, Study
from generation.suites.studies.texts import languages_in
from generation.suites.yaml_source import Node, SuiteError, parse_yaml

PLATFORMS = {
    "prolific": Platform(
        "Prolific",
        "PROLIFIC_PID",
        ("STUDY_ID", "SESSION_ID"),
        "https://app.prolific.com/submissions/complete?cc={code}",
    ),
    "mturk": Platform("Mechanical Turk", "workerId", ("hitId", "assignmentId")),
}
KEYS = (
    *("name", "title", "pairs", "welcome", "ask_name", "consent", "profile", "check", "instructions", "closing"),
    *(
        "places",
        "minutes",
        "idle_minutes",
        "per_address",
        "arena",
        "votes_of_dropouts",
        "practice",
        "gold",
        "platform",
        "outcomes",
        "languages",
        "bonus",
        "arms",
    ),
)
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
CODE = re.compile(r"[A-Za-z0-9_-]{0,40}")
ADDRESS = re.compile(r"https://[^\s\"'<>]{1,300}")


def parse_study(text: str) -> Study:
    """A study from what a curator wrote; StudyFaultsError names all that is wrong."""
    try:
        node = parse_yaml(text, "study")
    except SuiteError as fault:
        raise StudyFaultsError([fault]) from None
    return _study(node)


def read_study(node: Node) -> Study:
    """For a suite's files, which name one fault at a time."""
    try:
        return _study(node)
    except StudyFaultsError as faults:
        raise faults.faults[0] from None


def _study(node: Node) -> Study:
    faults = Faults()
    fields = faults.fields(node, KEYS, ("name",))
    languages = faults.languages = faults.value(fields, "languages", _languages, ()) or languages_in(node)

    values: dict[str, Any] = {
        "name": faults.value(fields, "name", lambda child: read.line(child, limit=100), ""),
        "pairs": faults.value(fields, "pairs", lambda child: read.integer(child, 1, 5000), 20),
        "ask_name": faults.value(fields, "ask_name", read.boolean, False),
        "consent": faults.value(fields, "consent", lambda child: _consent(child, languages), None),
        "profile": faults.value(fields, "profile", lambda child: _questions(child, languages), ()),
        "check": faults.value(fields, "check", lambda child: _check(child, languages), None),
        "closing": faults.value(fields, "closing", lambda child: _questions(child, languages), ()),
        "places": faults.value(fields, "places", lambda child: read.integer(child, 1, 100_000), None),
        "minutes": faults.value(fields, "minutes", lambda child: read.integer(child, 1, 60 * 24 * 60), None),
        "idle_minutes": faults.value(fields, "idle_minutes", lambda child: read.integer(child, 1, 60 * 24), None),
        "per_address": faults.value(fields, "per_address", lambda child: read.integer(child, 1, 100_000), None),
        "arena": faults.value(fields, "arena", read.boolean, False),
        "practice": faults.value(fields, "practice", read_practice, None),
        "gold": faults.value(fields, "gold", read_gold, None),
        "arms": faults.value(fields, "arms", lambda child: _arms(child, languages), ()),
        "bonus": faults.value(fields, "bonus", lambda child: read.number(child, 0.01, 10_000), None),
        "platform": faults.value(fields, "platform", _platform, None),
        "outcomes": faults.value(fields, "outcomes", lambda child: _outcomes(child, languages), {}),
        "languages": languages,
        "votes_of_dropouts": faults.value(
            fields, "votes_of_dropouts", lambda child: read.choice(child, ("keep", "drop"), "rule"), "keep"
        ),
        **faults.texts(fields, title=lambda child: read.line(child, limit=160), welcome=_blank, instructions=_blank),
    }
    faults.end()
    return Study(**values)


def _blank(node: Node) -> str:
    return read.text(node, blank=True).strip()


def _languages(node: Node) -> Languages:
    nodes = read.items(node, least=1, most=len(LANGUAGES))
    codes = [read.choice(child, LANGUAGES, "language") for child in nodes]
    read.unique(nodes, codes, "language")
    return tuple(codes)


def _consent(node: Node, languages: Languages) -> Consent:
    faults = Faults(languages)
    fields = faults.fields(node, ("version", "text", "statements"), ("version", "text"))
    consent = Consent(
        version=faults.value(fields, "version", lambda child: read.line(child, limit=40), ""),
        **{"text": "", **faults.texts(fields, text=lambda child: read.text(child).strip(), statements=_lines)},
    )
    faults.end()
    return consent


def _lines(node: Node) -> tuple[str, ...]:
    return tuple(read.line(child, limit=300) for child in read.items(node, most=50))


def _check(node: Node, languages: Languages) -> Check:
    faults = Faults(languages)
    fields = faults.fields(node, ("questions", "tries", "text"), ("questions",))
    questions = faults.value(fields, "questions", lambda child: _questions(child, languages), ())
    for number, question in enumerate(questions):
        if not question.answers:
            child = fields["questions"].value[number]
            faults.faults.append(
                child.error("a check needs the right answer", "add answers: with one or more options", key="answers")
            )
    check = Check(
        questions=questions,
        tries=faults.value(fields, "tries", lambda child: read.integer(child, 1, 10), 2),
        **faults.texts(fields, text=lambda child: read.text(child).strip()),
    )
    faults.end()
    return check


def _questions(node: Node, languages: Languages) -> tuple[Question, ...]:
    faults, questions = Faults(), []
    nodes = read.items(node, most=50)
    for child in nodes:
        with faults.kept():
            questions.append(_question(child, languages))
    faults.end()
    read.unique(nodes, [question.key for question in questions], "question")
    return tuple(questions)


def _question(node: Node, languages: Languages) -> Question:
    faults = Faults(languages)
    keys = ("key", "text", "kind", "options", "required", "low", "high", "help", "screen_out", "answers", "ask_if")
    fields = faults.fields(node, keys, ("key", "text"))
    kind = faults.value(fields, "kind", lambda child: read.choice(child, KINDS, "kind"), "choice")
    line = partial(read.line, limit=500)
    texts = {"text": "", "options": (), **faults.texts(fields, text=line, options=_lines, help=line)}
    options = texts["options"]
    if kind in ("choice", "several") and len(options) < 2:
        hint = "add options: with two or more, or use kind: text or number"
        faults.faults.append(node.error("there is nothing to choose from", hint, reason="missing_key", key="options"))

    def among(child: Node) -> tuple[str, ...]:
        return tuple(read.choice(each, options, "option") for each in read.items(child, least=1, most=50))

    def bound(name: str) -> Any:
        return faults.value(fields, name, lambda child: read.number(child, -1e9, 1e9), None)

    question = Question(
        key=faults.value(fields, "key", read.key, ""),
        kind=kind,
        required=faults.value(fields, "required", read.boolean, True),
        low=bound("low"),
        high=bound("high"),
        screen_out=faults.value(fields, "screen_out", among, ()),
        answers=faults.value(fields, "answers", among, ()),
        ask_if=faults.value(fields, "ask_if", _condition, {}),
        **texts,
    )
    if question.low is not None and question.high is not None and question.low > question.high:
        faults.faults.append(fields["low"].error("is above high", "change one of them", reason="out_of_range"))
    faults.end()
    return question


def _arms(node: Node, languages: Languages) -> tuple[Arm, ...]:
    faults, arms, nodes = Faults(), list[Arm](), read.items(node, least=2, most=20)
    for child in nodes:
        with faults.kept():
            arms.append(_arm(child, languages))
    faults.end()
    read.unique(nodes, [arm.name for arm in arms], "arm")
    return tuple(arms)


def _arm(node: Node, languages: Languages) -> Arm:
    faults = Faults(languages)
    fields = faults.fields(node, ("name", "instructions", "pairs"), ("name",))
    arm = Arm(
        name=faults.value(fields, "name", read.key, ""),
        pairs=faults.value(fields, "pairs", lambda child: read.integer(child, 1, 5000), None),
        **faults.texts(fields, instructions=lambda child: read.text(child).strip()),
    )
    faults.end()
    return arm


def _condition(node: Node) -> dict[str, list[str]]:
    """Keys of earlier questions, each with the answers (or the one answer) that this question is asked after."""
    children = read.having(node, ())
    return {
        read.key(replace(child, value=key)): list(
            _lines(child) if isinstance(child.value, list) else (read.line(child),)
        )
        for key, child in children.items()
    }


def _platform(node: Node) -> Platform:
    """A platform by its name, or the names of its parameters."""
    if isinstance(node.value, str):
        return PLATFORMS[read.choice(node, PLATFORMS, "platform")]
    faults = Faults()
    fields = faults.fields(node, ("name", "id", "others", "return_url"), ("name", "id"))

    def parameters(child: Node) -> tuple[str, ...]:
        return tuple(read.matching(each, PARAMETER, "a parameter") for each in read.items(child, most=10))

    platform = Platform(
        name=faults.value(fields, "name", lambda child: read.line(child, limit=60), ""),
        id=faults.value(fields, "id", lambda child: read.matching(child, PARAMETER, "a parameter"), ""),
        others=faults.value(fields, "others", parameters, ()),
        return_url=faults.value(fields, "return_url", lambda child: read.matching(child, ADDRESS, "an address"), ""),
    )
    faults.end()
    return platform


def _outcomes(node: Node, languages: Languages) -> dict[str, Ending]:
    faults = Faults()
    fields = faults.fields(node, tuple(OUTCOMES))
    endings = {
        name: ending
        for name in fields
        if (ending := faults.value(fields, name, lambda child: _ending(child, languages), None))
    }
    faults.end()
    return endings


def _ending(node: Node, languages: Languages) -> Ending | None:
    faults = Faults(languages)
    fields = faults.fields(node, ("text", "code"))
    ending = Ending(
        **faults.texts(fields, text=_blank),
        code=faults.value(fields, "code", lambda child: read.matching(child, CODE, "a code"), ""),
    )
    faults.end()
    return ending
