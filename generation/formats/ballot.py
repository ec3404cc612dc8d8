"""What a model judge answers: one JSON object that names the better drawing and says why.

Not for suites: a run of this format asks models about the drawings of another run (`Run.judged_run`).
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from generation.formats.base import Answer, DemoAnswer, Extraction, Format

ANSWERS = {"A": "left", "B": "right", "both good": "tie", "both bad": "fail"}
LONGEST_ANSWER = 20_000
LONGEST_REASON = 600
_FENCED = re.compile(r"\A```(?:json)?[^\S\n]*\n(.*)\n```\Z", re.DOTALL)


class Ballot(Format):
    name = "ballot"
    shown_as = "text"
    example = '{"answer": "A", "reason": "It shows the whole bicycle."}'
    asks_again = 2

    def extract(self, answer: Answer) -> Extraction:
        """The object alone, or alone in a code block: words around it mean that the model did something else as well."""
        text = answer.text.strip()
        if not text:
            return Extraction(None, "empty", "The answer is empty.")
        if len(text) > LONGEST_ANSWER:
            return Extraction(None, "too_long", f"The answer is longer than {LONGEST_ANSWER} characters.")
        fenced = _FENCED.match(text)
        try:
            ballot = json.loads(fenced[1] if fenced else text)
        except (ValueError, RecursionError):
            return Extraction(None, "not_json", "The answer is not one JSON object.")
        if not isinstance(ballot, dict) or set(ballot) - {"answer", "reason"}:
            return Extraction(None, "other_keys", "The answer is not an object with the keys answer and reason.")
        chosen, reason = ballot.get("answer"), ballot.get("reason", "")
        if not isinstance(chosen, str) or chosen not in ANSWERS or not isinstance(reason, str):
            return Extraction(
                None, "no_choice", f"The answer is none of {', '.join(ANSWERS)}, or its reason is no text."
            )
        facts: dict[str, Any] = {"answer": ANSWERS[chosen], "reason": " ".join(reason.split())[:LONGEST_REASON]}
        return Extraction(f"{chosen}: {facts['reason']}".rstrip(": "), facts=facts)

    def demo_answer(self, turns: Any, *, skill: float, random: Random) -> DemoAnswer:
        """Of a demo player that is asked to judge but has no eyes; demo judges have (`generation.demo.judges`)."""
        return DemoAnswer(json.dumps({"answer": random.choice(list(ANSWERS)), "reason": "A guess."}), fence=None)


FORMAT = Ballot()
