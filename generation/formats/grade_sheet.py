"""What a model judge answers about one drawing: one JSON object with a grade and a reason for each dimension of a rubric.

Not for suites: a run of this format asks models about the drawings of another run (`Run.judged_run`). The question's facts hold
the `scale` (low, high, step) and the keys of the `dimensions`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from random import Random
from typing import Any

from generation.formats.base import Answer, DemoAnswer, Extraction, Format
from generation.formats.json_answer import object_schema, read_object, reason_in

LARGEST = 1e6  # of a grade on any scale


class GradeSheet(Format):
    name = "grade_sheet"
    shown_as = "text"
    example = '{"shape": {"grade": 7.5, "reason": "The beak is missing."}}'
    judge_page = "model_graders"
    asks_again = 2

    def answer_schema(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        given = object_schema({"grade": {"type": "number"}, "reason": {"type": "string"}})
        return object_schema(dict.fromkeys(facts.get("dimensions", ()), given))

    def extract(self, answer: Answer) -> Extraction:
        """Exactly the dimensions that were asked for, each with a grade on the scale."""
        sheet = read_object(answer.text)
        if isinstance(sheet, Extraction):
            return sheet
        dimensions = answer.prompt_facts.get("dimensions", list(sheet))
        if set(sheet) != set(dimensions):
            return Extraction(None, "other_keys", f"The answer is not an object with the keys {', '.join(dimensions)}.")
        grades, reasons = {}, {}
        for key in dimensions:
            given = sheet[key]
            if not isinstance(given, dict) or set(given) - {"grade", "reason"}:
                return Extraction(None, "no_grade", f"{key} is not an object with a grade and a reason.")
            reason, fault = reason_in(given), _fault(given.get("grade"), answer.prompt_facts.get("scale"))
            if fault or reason is None:
                return Extraction(None, "no_grade", f"{key}: {fault or 'the reason is no text.'}")
            grades[key], reasons[key] = float(given["grade"]), reason
        facts = {"grades": grades, "reasons": reasons}
        return Extraction(in_words(facts), facts=facts)

    def demo_answer(self, turns: Any, *, skill: float, random: Random) -> DemoAnswer:
        """Of a demo player that is asked to judge but has no eyes; demo judges have (`generation.demo.judges`)."""
        return DemoAnswer(json.dumps({"grades": "I would rather draw."}), fence=None)


def in_words(facts: Mapping[str, Any]) -> str:
    """The answer in words, as its page shows it."""
    reasons = facts["reasons"]
    return "\n".join(f"{key} {grade:g}: {reasons.get(key, '')}".rstrip(": ") for key, grade in facts["grades"].items())


def _fault(grade: Any, scale: Any) -> str:
    if type(grade) not in (int, float) or not -LARGEST <= grade <= LARGEST:
        return "the grade is no number."
    if scale is None:
        return ""
    low, high, step = scale
    steps = (grade - low) / step
    if low <= grade <= high and math.isclose(steps, round(steps), abs_tol=1e-6):
        return ""
    return f"the grade is not on the scale from {low:g} to {high:g} in steps of {step:g}."


FORMAT = GradeSheet()
