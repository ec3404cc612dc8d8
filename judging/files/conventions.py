"""Whose columns a file of votes has: ours, an arena's, comparIA's, Label Studio's, or names that the caller maps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from benchsite.lib.file_errors import BadField
from benchsite.lib.json_lines import JsonError, read_json
from judging.files.label_studio import chosen_side, milliseconds
from judging.files.vote_lines import OPTIONAL, OUTCOMES, REQUIRED

FIELDS = (*REQUIRED, *OPTIONAL)
LONGEST_PROMPT = 9000  # characters: a longer one is cut, and told from others by its checksum
NOT_TAKEN_BACK = "judge_set_aside"  # the reason of an uncounted vote that its judge's weight keeps out


@dataclass(frozen=True)
class Convention:
    """What a file's columns mean. `columns` has the file's name of each of our fields that it has."""

    name: str
    columns: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    outcome_of: Callable[[Mapping[str, Any]], Any] | None = None
    unanswered: Callable[[Mapping[str, Any]], bool] | None = None  # whether a row is of somebody who did not vote
    needed: tuple[str, ...] = ()  # columns besides, that `outcome_of` reads, and what the first of them must hold
    expected: str = ""

    @property
    def is_ours(self) -> bool:
        return not self.columns

    @property
    def read(self) -> list[str]:
        """The columns that are read."""
        return list(dict.fromkeys([*self.columns.values(), *self.needed]))

    def converted(self, row: Any) -> Any:
        """A row in our fields; what is no row stays as it is."""
        if self.is_ours or not isinstance(row, dict):
            return row
        fields = {ours: _value(ours, row.get(theirs)) for ours, theirs in self.columns.items() if theirs in row}
        if "lead_time" in self.columns.values():
            fields["response_ms"] = milliseconds(row.get("lead_time"))
        if self.outcome_of:
            return fields | {"outcome": self.outcome_of(row)}
        outcome = fields.get("outcome")
        return fields | {"outcome": self.outcomes.get(str(outcome), outcome)} if "outcome" in fields else fields

    def fault(self, fault: BadField, row: Any) -> BadField:
        """The same fault in the file's own words."""
        if self.is_ours or not fault.field:
            return fault
        if fault.field == "outcome" and self.outcome_of:
            return BadField(self.needed[0], self.expected)
        name = self.columns.get(fault.field, fault.field)
        if fault.field == "outcome" and isinstance(row, dict) and "outcome" in row and self.outcomes:
            word = str(row["outcome"])[:40]
            known = f"must be one of {', '.join(self.outcomes)}, not {word!r}"
            return BadField(name, f"{known}; say what it means under Outcomes (--outcome), such as left={word}")
        return BadField(name, fault.message.replace("left_model", self.columns.get("left_model", "left_model")))


OURS = Convention("votes.jsonl")
# Where a file has several of these, the first is taken.
ARENA = {
    "left_model": ("model_a",),
    "right_model": ("model_b",),
    "outcome": ("winner",),
    "judge": ("judge", "judge_hash", "evaluation_session_id", "user_id", "annotator"),
    "prompt_text": ("prompt", "conversation_a"),
    "category": ("category",),
    "left_attempt": ("attempt_a",),
    "right_attempt": ("attempt_b",),
    "voted_at": ("timestamp", "tstamp", "created_at"),
    "response_ms": ("response_ms", "lead_time"),
    "kind": ("kind",),
    "withdrawn": ("uncounted_reason",),
}
ARENA_OUTCOMES = {
    "model_a": "left",
    "model_b": "right",
    "tie": "tie",
    "both_bad": "fail",
    "tie (bothbad)": "fail",
    "bothbad": "fail",
}
# The Kaggle file of 55,000 rows has a column for each answer, and tells ties of good and bad answers from nothing.
ONE_HOT = {"winner_model_a": "left", "winner_model_b": "right", "winner_tie": "tie"}
COMPARIA = {
    "left_model": ("model_a_name",),
    "right_model": ("model_b_name",),
    "judge": ("visitor_id", "session_hash"),
    "prompt_text": ("opening_msg",),
    "category": ("selected_category",),
    "voted_at": ("timestamp",),
}
# comparIA's file of turns (comparia-fr-arena) has no word for who asked, so a conversation stands for its judge.
COMPARIA_TURNS = {
    "left_model": ("model_a",),
    "right_model": ("model_b",),
    "outcome": ("choice",),
    "judge": ("comparison_id",),
    "prompt_text": ("response_a", "full_conversation_a"),
    "voted_at": ("timestamp",),
}
COMPARIA_CHOICES = {"a_better": "left", "b_better": "right", "both_good": "tie", "both_bad": "fail"}
LABEL_STUDIO = {"annotator", "annotation_id", "lead_time"}  # that every export of it has, beside a project's own
UNDECIDED = (None, "", "idk")
OUR_WORDS = {name: name for name in OUTCOMES}


def convention_of(names: Collection[str], columns: Mapping[str, str], outcomes: Mapping[str, str]) -> Convention:
    """By the columns that a file has, and those that the caller names; raises BadField with the way out."""
    if set(names) >= LABEL_STUDIO and "outcome" not in columns:
        known = _known(names, columns, needed=("left_model", "right_model"))
        return Convention(
            "Label Studio",
            known,
            outcome_of=chosen_side,
            unanswered=lambda row: chosen_side(row) in (None, "none"),
            needed=("selected", *names),
            expected="must be left or right, in one column",
        )
    if columns or outcomes:
        return _mapped(names, columns, outcomes)
    if {"model_a", "model_b", "winner"} <= set(names):
        return Convention("arena", _present(ARENA, names), ARENA_OUTCOMES)
    if {"model_a", "model_b", *ONE_HOT} <= set(names):
        columns, expected = _present(ARENA, names), f"of {', '.join(ONE_HOT)} exactly one must be 1"
        return Convention("arena", columns, outcome_of=_marked_outcome, needed=tuple(ONE_HOT), expected=expected)
    if {"model_a_name", "model_b_name", "chosen_model_name"} <= set(names):
        needed = ("chosen_model_name", *({"both_equal"} & set(names)))
        columns = _present(COMPARIA, names)
        expected = "must be model_a_name or model_b_name, or both_equal must be true"
        return Convention(
            "comparIA",
            columns,
            outcome_of=_comparia_outcome,
            unanswered=_not_chosen if "both_equal" in names else None,
            needed=needed,
            expected=expected,
        )
    if {"comparison_id", "choice", "model_a", "model_b"} <= set(names):
        present = _present(COMPARIA_TURNS, names)
        return Convention("comparIA", present, COMPARIA_CHOICES, unanswered=lambda row: row.get("choice") in UNDECIDED)
    if {"refers_to_model", "liked"} <= set(names):
        raise BadField(
            "refers_to_model",
            "is a column of comparIA's reactions, which rate single answers and compare nothing; "
            "import its votes (comparia-votes or comparia-fr-arena)",
        )
    if names and not {*REQUIRED} & set(names):
        listed = ", ".join(name[:40] for name in sorted(names)[:12])
        raise BadField(
            "",
            f"has the columns {listed}, which are not those of votes. Expected left_model, right_model and outcome, or an arena's "
            "model_a, model_b and winner; name others as left_model=NAME and so on, under Columns (--column)",
        )
    return OURS


def _present(fields: Mapping[str, tuple[str, ...]], names: Collection[str]) -> dict[str, str]:
    pairs = ((ours, next((name for name in theirs if name in names), "")) for ours, theirs in fields.items())
    return {ours: name for ours, name in pairs if name}


def _mapped(names: Collection[str], columns: Mapping[str, str], outcomes: Mapping[str, str]) -> Convention:
    known = _known(names, columns, needed=REQUIRED)
    if wrong := sorted(set(outcomes.values()) - set(OUTCOMES)):
        raise BadField("outcome", f"{wrong[0]!r} is not one of {', '.join(OUTCOMES)}")
    return Convention("mapped", known, {**ARENA_OUTCOMES, **OUR_WORDS, **outcomes})


def _known(names: Collection[str], columns: Mapping[str, str], *, needed: Collection[str]) -> dict[str, str]:
    """The file's name of each field of ours: as the caller says, or as ours and arenas' are called."""
    known = {name: name for name in FIELDS if name in names} | _present(ARENA, names) | dict(columns)
    if wrong := sorted(set(columns) - set(FIELDS)):
        raise BadField(wrong[0], f"is not a field of votes; the fields are {', '.join(FIELDS)}")
    for ours in needed:
        if known.get(ours) not in names:
            raise BadField(known.get(ours, ours), f"is not a column; name it as {ours}=NAME under Columns (--column)")
    return {ours: theirs for ours, theirs in known.items() if theirs in names}


def _marked_outcome(row: Mapping[str, Any]) -> str | None:
    """The one column of three that is marked."""
    marked = [outcome for name, outcome in ONE_HOT.items() if row.get(name) in (1, "1", True, 1.0, "1.0")]
    return marked[0] if len(marked) == 1 else None


def _not_chosen(row: Mapping[str, Any]) -> bool:
    """comparIA publishes conversations that were commented on, but not decided, among its votes."""
    return row.get("chosen_model_name") in (None, "") and _comparia_outcome(row) != "tie"


def _comparia_outcome(row: Mapping[str, Any]) -> str | None:
    """comparIA names the model that was chosen, or says that both were equal."""
    if row.get("both_equal") in (True, "True", "true", 1):
        return "tie"
    sides = {row.get("model_a_name"): "left", row.get("model_b_name"): "right"}
    return sides.get(row.get("chosen_model_name"), row.get("chosen_model_name"))


def _value(field: str, value: Any) -> Any:
    if value is None or value == "":
        return None
    if field == "voted_at":
        return moment_of(value)
    if field == "prompt_text":
        return prompt_of(value)
    if field == "withdrawn":
        return isinstance(value, bool | str) and value not in (False, NOT_TAKEN_BACK)
    if field == "judge" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if field == "category" and not isinstance(value, str):
        return None
    return value


def moment_of(value: Any) -> Any:
    """A time as our lines write it; seconds since 1970 and a database's own times are converted."""
    try:
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
        if isinstance(value, str):
            value = float(value)
        return datetime.fromtimestamp(value, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return value


def prompt_of(value: Any) -> Any:
    """The words of a prompt: text, or the first message of a conversation, which some files hold as JSON."""
    turns = _conversation(value) if isinstance(value, str) and value.startswith("[") else value
    if isinstance(turns, list):
        first = next((turn for turn in turns if _is_asked(turn)), None)
        value = first.get("content") if isinstance(first, dict) else first
        if isinstance(value, list):
            value = "\n".join(str(part.get("text") or "") for part in value if isinstance(part, dict))
        if isinstance(value, str):  # in JSON half a surrogate pair may stand for a cut emoji
            value = value.encode("utf-8", "replace").decode()
    if isinstance(value, str) and len(value) > LONGEST_PROMPT:
        return f"{value[:LONGEST_PROMPT]} … {hashlib.sha256(value.encode('utf-8', 'replace')).hexdigest()[:16]}"
    return value or None


def _conversation(text: str) -> Any:
    """The messages that a text of JSON holds, or the text, which may be a prompt that begins with a bracket."""
    try:
        turns = read_json(text)
    except JsonError:
        return text
    return turns if isinstance(turns, list) and any(map(_is_asked, turns)) else text


def _is_asked(turn: Any) -> bool:
    return isinstance(turn, str) or (isinstance(turn, dict) and turn.get("role") == "user")
