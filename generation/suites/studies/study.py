"""A study as frozen data: what people who come from a link are told and asked, and what each way to end says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from benchsite.lib.frozen import from_json, to_json
from benchsite.lib.languages import LANGUAGES
from generation.suites.studies.gold import Gold
from generation.suites.studies.practice import Practice
from generation.suites.studies.texts import Translations, in_language, missing_texts

KINDS = ("choice", "several", "number", "text")
# Every way to end, or to be turned away, and what a curator's page calls it.
OUTCOMES = {
    "done": "done",
    "refused": "refused consent",
    "screened_out": "screened out",
    "failed_gold": "failed the attention checks",
    "timed_out": "timed out",
    "returned": "returned",
    "no_work_left": "no work left",
    "study_full": "study full",
}


@dataclass(frozen=True)
class Question:
    """One thing that participants are asked. `answers` are the right ones of a comprehension check.

    `labels` are the options as a page in another language shows them; stored are the options themselves.
    """

    TEXTS: ClassVar = ("text", "options", "help")
    key: str
    text: str
    kind: str = "choice"
    options: tuple[str, ...] = ()
    required: bool = True
    low: float | None = None
    high: float | None = None
    help: str = ""
    screen_out: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    ask_if: dict[str, list[str]] = field(
        default_factory=dict
    )  # asked if each of these questions got one of these answers
    translations: Translations = field(default_factory=dict)

    @property
    def choices(self) -> list[tuple[str, str]]:
        return list(zip(self.options, self.labels or self.options, strict=True))


@dataclass(frozen=True)
class Consent:
    """What participants agree to; each statement is a box to tick."""

    TEXTS: ClassVar = ("text", "statements")
    version: str
    text: str
    statements: tuple[str, ...] = ()
    translations: Translations = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """Questions with right answers, and how often they may be tried."""

    TEXTS: ClassVar = ("text",)
    questions: tuple[Question, ...]
    tries: int = 2
    text: str = ""
    translations: Translations = field(default_factory=dict)


@dataclass(frozen=True)
class Platform:
    """Where participants are recruited: the parameters of its links, and the address that they return to."""

    name: str
    id: str
    others: tuple[str, ...] = ()
    return_url: str = ""  # with {code}


@dataclass(frozen=True)
class Ending:
    """What a participant reads at one end of the study, and the code to give the platform; no code where it is empty."""

    TEXTS: ClassVar = ("text",)
    text: str = ""
    code: str = ""
    translations: Translations = field(default_factory=dict)


@dataclass(frozen=True)
class Arm:
    """A condition that some of the participants meet; what it does not say is as in the study."""

    TEXTS: ClassVar = ("instructions",)
    name: str
    instructions: str = ""
    pairs: int | None = None
    translations: Translations = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """All that a participant meets, in order. What is absent is left out.

    `pairs` is the number of pairs for each participant, `places` how many may finish, `minutes` how long each may take.
    `idle_minutes` ends the part of who does nothing for so long; `per_address` is how many may come from one address an hour.
    An `arena` is open to everybody without a link; its votes are a crowd's, apart from the judges'.
    `languages` are those that it is offered in; texts without a language are in the first. Empty: whatever the browser says.
    """

    TEXTS: ClassVar = ("title", "welcome", "instructions")
    name: str
    pairs: int = 20
    title: str = ""
    welcome: str = ""
    ask_name: bool = False
    consent: Consent | None = None
    profile: tuple[Question, ...] = ()
    check: Check | None = None
    instructions: str = ""
    practice: Practice | None = None
    closing: tuple[Question, ...] = ()
    places: int | None = None
    minutes: int | None = None
    idle_minutes: int | None = None
    per_address: int | None = None
    arena: bool = False
    gold: Gold | None = None
    votes_of_dropouts: str = "keep"  # or drop
    platform: Platform | None = None
    outcomes: dict[str, Ending] = field(default_factory=dict)
    arms: tuple[Arm, ...] = ()
    bonus: float | None = None  # for each who is done, in the platform's currency
    languages: tuple[str, ...] = ()
    translations: Translations = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = to_json(self)
        return document

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Study:
        study: Study = from_json(cls, data)
        return study

    def in_arm(self, name: str) -> Study:
        """What a participant of that arm meets."""
        arm = next((arm for arm in self.arms if arm.name == name), None)
        if arm is None:
            return self
        texts_of_arm: dict[str, Any] = {}
        if arm.instructions:
            others = {
                code: {name: text for name, text in texts.items() if name != "instructions"}
                for code, texts in self.translations.items()
            }
            translations = {code: others.get(code, {}) | arm.translations.get(code, {}) for code in self.languages[1:]}
            texts_of_arm = {"instructions": arm.instructions, "translations": translations}
        return replace(self, pairs=arm.pairs or self.pairs, **texts_of_arm)

    def in_language(self, code: str) -> Study:
        return in_language(self, code)

    def missing_texts(self) -> list[str]:
        """What a participant reads in the first language though the page is in another, a sentence for each place."""
        names = ", ".join(LANGUAGES[code] for code in self.languages[:1])
        return [
            f"{place} has no text of its own and is shown in {names}." for place in missing_texts(self, self.languages)
        ]

    @property
    def shown_pairs(self) -> int:
        """How many pairs participants are told of: theirs, and the checks among them."""
        return self.pairs + (self.pairs // self.gold.every if self.gold else 0)

    @property
    def shown_pairs_range(self) -> tuple[int, int]:
        """The fewest and the most that an arm has: what somebody is told who is in none yet."""
        numbers = [self.in_arm(arm.name).shown_pairs for arm in self.arms] or [self.shown_pairs]
        return min(numbers), max(numbers)

    def ending(self, outcome: str) -> Ending:
        return self.outcomes.get(outcome, Ending())

    def reaches(self, outcome: str) -> bool:
        """Whether anybody can come to this end at all."""
        needs = {
            "refused": self.consent is not None,
            "screened_out": self.check is not None
            or any(question.screen_out for question in (*self.profile, *self.closing)),
            "failed_gold": self.gold is not None and self.gold.on_failure == "end",
            "timed_out": self.minutes is not None or self.idle_minutes is not None,
            "study_full": self.places is not None,
        }
        return needs.get(outcome, True)

    def faults(self) -> list[str]:
        """Why the study cannot be opened yet, a sentence each; none where it can."""
        faults = [
            f"The outcome “{name}” has no text: write what participants read then under outcomes: {name}: text."
            for name in OUTCOMES
            if self.reaches(name) and not self.ending(name).text.strip()
        ]
        success = self.ending("done").code
        faults += [
            f"The outcome “{name}” has the code of “done”: only participants who finish may get it."
            for name in OUTCOMES
            if name != "done" and success and self.ending(name).code == success
        ]
        if self.platform and self.platform.return_url and not success:
            faults.append(
                "Participants return to the platform with a code, and “done” has none: copy the platform's completion "
                "code to outcomes: done: code."
            )
        if self.arena and self.platform:
            faults.append(
                "An open arena has no platform: anybody comes to it from the run's own pages. Delete platform or arena."
            )
        if self.arena and not self.gold:
            faults.append("An open arena needs attention checks, as anybody can come: add gold.")
        if self.places is not None and self.minutes is None and self.idle_minutes is None:
            faults.append(
                "The places are limited and the time is not: whoever leaves would keep a place for good. Add minutes or "
                "idle_minutes."
            )
        keys = [question.key for question in self.questions]
        faults += [
            f"Two questions have the key “{key}”: exports could not tell them apart."
            for key in sorted({key for key in keys if keys.count(key) > 1})
        ]
        return [*faults, *self._condition_faults()]

    @property
    def questions(self) -> tuple[Question, ...]:
        """All of them, in the order in which they are asked."""
        return (*self.profile, *(self.check.questions if self.check else ()), *self.closing)

    def _condition_faults(self) -> list[str]:
        """Conditions that no earlier answer can fulfil."""
        faults, earlier = [], dict[str, Question]()
        for question in self.questions:
            for key, options in question.ask_if.items():
                if key not in earlier or not earlier[key].options:
                    faults.append(f"“{question.key}” is asked by “{key}”, which is no earlier question with options.")
                    continue
                faults += [
                    f"“{question.key}” is asked if “{key}” is “{option}”, which is not among its options."
                    for option in options
                    if option not in earlier[key].options
                ]
            earlier[question.key] = question
        if self.check and any(question.ask_if for question in self.check.questions):
            faults.append("A check asks all of its questions of everybody: delete ask_if there.")
        return faults
