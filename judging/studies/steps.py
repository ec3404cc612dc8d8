"""The steps of a study in their order: a function of what the study says, and of which ones a participant has passed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from generation.suites.studies.study import Question, Study

CONSENT, PROFILE, CHECK, INSTRUCTIONS, PRACTICE, JUDGE, CLOSING = (
    "consent",
    "profile",
    "check",
    "instructions",
    "practice",
    "judge",
    "closing",
)
TITLES = {
    CONSENT: "Your consent",
    PROFILE: "About you",
    INSTRUCTIONS: "What you will do",
    PRACTICE: "Practice",
    CHECK: "A few questions to check",
    JUDGE: "Compare drawings",
    CLOSING: "To finish",
}


def steps_of(study: Study) -> list[str]:
    """Those that this study has; the welcome comes before them and the thanks after."""
    has = {
        CONSENT: study.consent is not None,
        PROFILE: bool(study.profile),
        INSTRUCTIONS: bool(study.instructions),
        PRACTICE: study.practice is not None,
        CHECK: study.check is not None,
        JUDGE: True,
        CLOSING: bool(study.closing),
    }
    return [step for step in TITLES if has[step]]


def next_step(study: Study, passed: Collection[str]) -> str | None:
    """The first step that is not passed; None behind the last."""
    return next((step for step in steps_of(study) if step not in passed), None)


def questions_of(study: Study, step: str) -> tuple[Question, ...]:
    if step == CHECK and study.check:
        return study.check.questions
    return {PROFILE: study.profile, CLOSING: study.closing}.get(step, ())


def due_questions(questions: tuple[Question, ...], answers: Mapping[str, object]) -> tuple[Question, ...]:
    """Those to ask next: not answered yet, and with conditions that the answers so far fulfil."""
    return tuple(
        question
        for question in questions
        if question.key not in answers
        and all(set(_chosen(answers.get(key))) & set(options) for key, options in question.ask_if.items())
    )


def is_screened_out(questions: tuple[Question, ...], answers: dict[str, object]) -> bool:
    return any(chosen in question.screen_out for question in questions for chosen in _chosen(answers.get(question.key)))


def is_right(questions: tuple[Question, ...], answers: dict[str, object]) -> bool:
    """Whether a comprehension check is passed: every right option of a question and no other, or one of them for a choice."""
    for question in questions:
        chosen = set(_chosen(answers.get(question.key)))
        right = set(question.answers)
        if chosen != right if question.kind == "several" else not chosen or not chosen <= right:
            return False
    return True


def _chosen(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    return [] if value is None else [str(value)]
