"""What a model judge answers about a pair: one JSON object that names the better drawing and says why.

Not for suites: a run of this format asks models about the drawings of another run (`Run.judged_run`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from generation.formats.base import Answer, DemoAnswer, Extraction, Format
from generation.formats.json_answer import object_schema, read_object, reason_in

ANSWERS = {"A": "left", "B": "right", "both good": "tie", "both bad": "fail"}


class Ballot(Format):
    name = "ballot"
    shown_as = "text"
    example = '{"answer": "A", "reason": "It shows the whole bicycle."}'
    judge_page = "model_judges"
    asks_again = 2

    def answer_schema(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        return object_schema({"answer": {"type": "string", "enum": list(ANSWERS)}, "reason": {"type": "string"}})

    def extract(self, answer: Answer) -> Extraction:
        ballot = read_object(answer.text)
        if isinstance(ballot, Extraction):
            return ballot
        if set(ballot) - {"answer", "reason"}:
            return Extraction(None, "other_keys", "The answer is not an object with the keys answer and reason.")
        chosen, reason = ballot.get("answer"), reason_in(ballot)
        if not isinstance(chosen, str) or chosen not in ANSWERS or reason is None:
            return Extraction(
                None, "no_choice", f"The answer is none of {', '.join(ANSWERS)}, or its reason is no text."
            )
        facts = {"answer": ANSWERS[chosen], "reason": reason}
        return Extraction(in_words(facts), facts=facts)

    def demo_answer(self, turns: Any, *, skill: float, random: Random) -> DemoAnswer:
        """Of a demo player that is asked to judge but has no eyes; demo judges have (`generation.demo.judges`)."""
        return DemoAnswer(json.dumps({"answer": random.choice(list(ANSWERS)), "reason": "A guess."}), fence=None)


def in_words(facts: Mapping[str, Any]) -> str:
    """The answer in words, as its page shows it."""
    chosen = next(word for word, answer in ANSWERS.items() if answer == facts["answer"])
    return f"{chosen}: {facts['reason']}".rstrip(": ")


FORMAT = Ballot()
