"""Answers without a word: why the model said nothing. Such an answer is as invalid as one with no drawing in it."""

from __future__ import annotations

from collections.abc import Mapping

from generation.formats.base import Answer, Extraction, Format

PROGRAM_ERROR = "program_error"
# By the finish reason that the provider gave; `moderation` stands for a prompt that it refused to pass on, and
# `program_error` for a Python program that gave no answer.
REASONS: Mapping[str, tuple[str, str]] = {
    "length": ("reasoning_only", "All of max_tokens went into reasoning; the answer is empty."),
    "content_filter": ("content_filter", "A filter of the model or its provider withheld the answer."),
    "moderation": ("moderation", "The provider refused this prompt for this model."),
    PROGRAM_ERROR: ("program_failed", "The program ended without an answer."),
}
EMPTY = ("no_content", "The answer is empty.")
# What the model caused, by code, and the finish reason that says so.
FINISH_OF = {reason: finish for finish, (reason, _) in REASONS.items()} | {EMPTY[0]: ""}


def extract_answer(form: Format, answer: Answer) -> Extraction:
    """The drawing in an answer, or the reason there is none: the format's own, or why there is no text at all."""
    if answer.text.strip():
        return form.extract(answer)
    return Extraction(None, *REASONS.get(answer.finish_reason, EMPTY))
