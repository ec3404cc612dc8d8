"""The `judging: study:` block of a config.yaml, or the same from a curator's form: a Study, or every fault at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from generation.suites import yaml_fields as read
from generation.suites.studies.study import KINDS, OUTCOMES, Check, Consent, Ending, Platform, Question, Study
from generation.suites.yaml_source import Node, SuiteError, parse_yaml

T = TypeVar("T")
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
    *("places", "minutes", "votes_of_dropouts", "platform", "outcomes"),
)
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
CODE = re.compile(r"[A-Za-z0-9_-]{0,40}")
ADDRESS = re.compile(r"https://[^\s\"'<>]{1,300}")


class StudyFaultsError(ValueError):
    """Everything that is wrong with a study's YAML, each with its line and key."""

    def __init__(self, faults: list[SuiteError]) -> None:
        self.faults = faults
        super().__init__("\n".join(map(str, faults)))


class _Faults:
    """Reads on after a fault, and keeps each."""

    def __init__(self) -> None:
        self.faults: list[SuiteError] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        try:
            yield
        except SuiteError as fault:
            self.faults.append(fault)
        except StudyFaultsError as inner:
            self.faults += inner.faults

    def fields(self, node: Node, allowed: tuple[str, ...], required: tuple[str, ...] = ()) -> dict[str, Node]:
        """The known keys of a mapping; unknown and missing ones are faults."""
        with self.kept():
            read.having(node, ())
        if not isinstance(node.value, dict):
            return {}
        for name, child in node.value.items():
            if name not in allowed:
                self.faults.append(
                    child.error(f"unknown key {name[:60]!r}", read.nearest(name, allowed), reason="unknown_key")
                )
        with self.kept():
            read.having(node, required)
        return {name: child for name, child in node.value.items() if name in allowed}

    def value(self, fields: Mapping[str, Node], name: str, reader: Callable[[Node], T], default: Any) -> Any:
        with self.kept():
            return read.optional(fields, name, reader, default)
        return default

    def end(self) -> None:
        if self.faults:
            raise StudyFaultsError(self.faults)


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
    faults = _Faults()
    fields = faults.fields(node, KEYS, ("name",))

    def text(name: str) -> str:
        return str(faults.value(fields, name, lambda child: read.text(child, blank=True).strip(), ""))

    values: dict[str, Any] = {
        "name": faults.value(fields, "name", lambda child: read.line(child, limit=100), ""),
        "title": faults.value(fields, "title", lambda child: read.line(child, limit=160), ""),
        "pairs": faults.value(fields, "pairs", lambda child: read.integer(child, 1, 5000), 20),
        "ask_name": faults.value(fields, "ask_name", read.boolean, False),
        "consent": faults.value(fields, "consent", _consent, None),
        "profile": faults.value(fields, "profile", _questions, ()),
        "check": faults.value(fields, "check", _check, None),
        "closing": faults.value(fields, "closing", _questions, ()),
        "places": faults.value(fields, "places", lambda child: read.integer(child, 1, 100_000), None),
        "minutes": faults.value(fields, "minutes", lambda child: read.integer(child, 1, 60 * 24 * 60), None),
        "platform": faults.value(fields, "platform", _platform, None),
        "outcomes": faults.value(fields, "outcomes", _outcomes, {}),
        "votes_of_dropouts": faults.value(
            fields, "votes_of_dropouts", lambda child: read.choice(child, ("keep", "drop"), "rule"), "keep"
        ),
        **{name: text(name) for name in ("welcome", "instructions")},
    }
    faults.end()
    return Study(**values)


def _consent(node: Node) -> Consent:
    faults = _Faults()
    fields = faults.fields(node, ("version", "text", "statements"), ("version", "text"))
    consent = Consent(
        version=faults.value(fields, "version", lambda child: read.line(child, limit=40), ""),
        text=faults.value(fields, "text", lambda child: read.text(child).strip(), ""),
        statements=faults.value(fields, "statements", _lines, ()),
    )
    faults.end()
    return consent


def _lines(node: Node) -> tuple[str, ...]:
    return tuple(read.line(child, limit=300) for child in read.items(node, most=50))


def _check(node: Node) -> Check:
    faults = _Faults()
    fields = faults.fields(node, ("questions", "tries", "text"), ("questions",))
    questions = faults.value(fields, "questions", _questions, ())
    for number, question in enumerate(questions):
        if not question.answers:
            child = fields["questions"].value[number]
            faults.faults.append(
                child.error("a check needs the right answer", "add answers: with one or more options", key="answers")
            )
    check = Check(
        questions=questions,
        tries=faults.value(fields, "tries", lambda child: read.integer(child, 1, 10), 2),
        text=faults.value(fields, "text", lambda child: read.text(child).strip(), ""),
    )
    faults.end()
    return check


def _questions(node: Node) -> tuple[Question, ...]:
    faults, questions = _Faults(), []
    nodes = read.items(node, most=50)
    for child in nodes:
        with faults.kept():
            questions.append(_question(child))
    faults.end()
    read.unique(nodes, [question.key for question in questions], "question")
    return tuple(questions)


def _question(node: Node) -> Question:
    faults = _Faults()
    keys = ("key", "text", "kind", "options", "required", "low", "high", "help", "screen_out", "answers")
    fields = faults.fields(node, keys, ("key", "text"))
    kind = faults.value(fields, "kind", lambda child: read.choice(child, KINDS, "kind"), "choice")
    options = faults.value(fields, "options", _lines, ())
    if kind in ("choice", "several") and len(options) < 2:
        hint = "add options: with two or more, or use kind: text or number"
        faults.faults.append(node.error("there is nothing to choose from", hint, reason="missing_key", key="options"))

    def among(child: Node) -> tuple[str, ...]:
        return tuple(read.choice(each, options, "option") for each in read.items(child, least=1, most=50))

    def bound(name: str) -> Any:
        return faults.value(fields, name, lambda child: read.number(child, -1e9, 1e9), None)

    question = Question(
        key=faults.value(fields, "key", read.key, ""),
        text=faults.value(fields, "text", lambda child: read.line(child, limit=500), ""),
        kind=kind,
        options=options,
        required=faults.value(fields, "required", read.boolean, True),
        low=bound("low"),
        high=bound("high"),
        help=faults.value(fields, "help", lambda child: read.line(child, limit=500), ""),
        screen_out=faults.value(fields, "screen_out", among, ()),
        answers=faults.value(fields, "answers", among, ()),
    )
    if question.low is not None and question.high is not None and question.low > question.high:
        faults.faults.append(fields["low"].error("is above high", "change one of them", reason="out_of_range"))
    faults.end()
    return question


def _platform(node: Node) -> Platform:
    """A platform by its name, or the names of its parameters."""
    if isinstance(node.value, str):
        return PLATFORMS[read.choice(node, PLATFORMS, "platform")]
    faults = _Faults()
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


def _outcomes(node: Node) -> dict[str, Ending]:
    faults = _Faults()
    fields = faults.fields(node, tuple(OUTCOMES))
    endings = {name: ending for name in fields if (ending := faults.value(fields, name, _ending, None))}
    faults.end()
    return endings


def _ending(node: Node) -> Ending | None:
    faults = _Faults()
    fields = faults.fields(node, ("text", "code"))
    ending = Ending(
        text=faults.value(fields, "text", lambda child: read.text(child, blank=True).strip(), ""),
        code=faults.value(fields, "code", lambda child: read.matching(child, CODE, "a code"), ""),
    )
    faults.end()
    return ending
