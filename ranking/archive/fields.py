"""What every run's archive holds: each file and field, what it means and what it may be. Writer, reader and README share it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchsite.lib.text import markdown_cell
from benchsite.version import VERSION
from generation.protocols import PROTOCOLS

FORMAT = "benchsite-run"
SCHEMA = 1
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,12}")
LARGEST = 2**63


@dataclass(frozen=True)
class Field:
    """One field: text, code, whole, number, flag, time, list or object; with `?` it may be null, with `-` left out."""

    kind: str
    says: str

    @property
    def may_be_absent(self) -> bool:
        return self.kind.endswith("-")

    def fault(self, value: Any) -> str:
        """What is wrong with a value, or nothing."""
        kind = self.kind.rstrip("?-")
        if value is None:
            return "" if "?" in self.kind else "is null"
        if not CHECKS[kind](value):
            return f"is not {WORDS[kind]}"
        return ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not _UNSTORABLE.search(value)


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -LARGEST <= value < LARGEST


def _is_number(value: Any) -> bool:
    return _is_whole(value) or isinstance(value, float)


CHECKS = {
    "text": _is_text,
    "code": lambda value: isinstance(value, str) and bool(_CODE.fullmatch(value)),
    "whole": _is_whole,
    "number": _is_number,
    "flag": lambda value: isinstance(value, bool),
    "time": _is_time,
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
WORDS = {
    "text": "text",
    "code": "a public id of up to 12 letters and digits",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "time": "a time such as 2026-05-01T12:00:00+00:00",
    "list": "a list",
    "object": "an object",
}


def fields_of(**given: tuple[str, str]) -> dict[str, Field]:
    return {name: Field(*words) for name, words in given.items()}


RUN = fields_of(
    code=("code", "the run's public id"),
    suite=("text", "the suite's folder name"),
    title=("text", "the suite's title"),
    label=("text", "tells two runs of one suite apart"),
    format=("text", "how answers are read and shown"),
    protocols=("list", "how drawings are scored: " + ", ".join(PROTOCOLS)),
    digest=("text", "SHA-256 of the frozen suite"),
    is_demo=("flag", "drawn by the demo players, not by language models"),
    drawing_state=("text", "open, paused or cancelled; an imported run never draws"),
    judging_state=("text", "not_open, open, paused or closed; an imported run is closed"),
    adaptive_pairs=("flag-", "judges were shown pairs whose order was undecided more often, at least for a time"),
    measure_backend=("text", "which backend's measures make the score"),
    budget_nano=("whole?", "the cap on spending in nano-dollars (10⁻⁹ US$)"),
    spent_nano=("whole", "what the answers cost, in nano-dollars"),
    created_at=("time", "when the run was started"),
    finished_at=("time?", "when the last sample ended"),
    ties=("text", "half: a tie is half a win for each; drop: it is not counted"),
    fails=("text", "the same for both-are-bad"),
)
LINES: dict[str, dict[str, Field]] = {
    "models.jsonl": fields_of(
        model_id=("text", "the model as its provider names it"),
        label=("text", "the model as pages name it"),
        provider=("text", "the provider's name"),
        note=("text", "a remark of the suite's author"),
        extra_prompt=("text", "what was added to this model's prompts"),
        parameters=("object", "what was set for this model alone"),
        price_in_nano=("whole?", "nano-dollars for a million tokens in"),
        price_out_nano=("whole?", "nano-dollars for a million tokens out"),
        price_request_nano=("whole?-", "nano-dollars for a request"),
        price_image_nano=("whole?-", "nano-dollars for a picture in a request"),
        facts=(
            "object-",
            "organisation, weights, licence, released, context, served_by, quantisation, digest; a key is left out where unknown",
        ),
        refused_reason=("text", "why the provider would not serve it"),
    ),
    "prompts.jsonl": fields_of(
        prompt=("text", "the prompt's key in the suite"),
        code=("code", "its public id"),
        position=("whole", "its place in the suite, from 0"),
        text=("text", "what was asked"),
        subject=("text", "what is to be drawn"),
        category=("text", "its category"),
        facts=("object", "what the format needs to know about it"),
    ),
    "entrants.jsonl": fields_of(
        entrant=("text", "the name everything else uses: a model's id, or a program's name"),
        code=("code", "its public id"),
        label=("text", "the name on pages"),
        note=("text", "a remark of the suite's author"),
        model_id=("text?", "the model; null for a program, which ran on every model"),
        team=("text", "who wrote the program"),
        turns=("list", "the program's prompts in order; empty for a model"),
        source=("text-", "the source of a program that ran elsewhere; empty otherwise"),
        python=("text-", "the source of a program that was run in a sandbox; empty otherwise"),
        baseline=("flag", "a program to compare with"),
        approved=("flag", "accepted by the curators"),
        disqualified=("text", "the reason; empty while it competes"),
        is_demo=("flag", "a demo player"),
    ),
    "database.jsonl": fields_of(
        model_id=("text", "who answered"),
        prompt_text=("text", "what was asked"),
        category=("text", "the prompt's category"),
        attempt_number=("whole", "1 for the first answer to this prompt"),
        raw_output=("text", "the answer as text"),
        sanitized_output=("text", "the drawing found in it; empty where there is none"),
        program=("text-", "the prompt program that was run; only where programs compete"),
        run=("text", "the run's public id"),
        suite=("text", "the suite"),
        format=("text-", "how answers are read"),
        demo=("flag", "answered by a demo player"),
        label=("text-", "the model's name on pages"),
        note=("text-", "what is to be known of the model: a proxy, drawings made elsewhere"),
        valid=("flag", "whether it is a drawing by the format's rules"),
        invalid=("flag-", "the opposite"),
        reason=("text", "why not"),
        flags=("list", "what else was noticed"),
        finish_reason=("text", "why the model stopped"),
        completion_tokens=("whole?", "tokens of the answer"),
        sample=("code", "the sample's public id, which the other files refer to"),
        entrant=("text", "who is ranked for it"),
        prompt=("text", "the prompt's key"),
        detail=("text", "the reason in words"),
        facts=("object", "what the format's reader found out"),
        earlier_answers=("list", "a program's answers before the last turn"),
        questions=("list-", "what a Python program asked; its answers are in earlier_answers, in the same order"),
        raw_base64=("text?", "the answer's bytes, where they are not the UTF-8 of raw_output"),
        drawn_at=("time", "when the answer was stored"),
        imported=("flag", "came from a file, not from a provider"),
        format_version=("whole", "version of the rules that read it"),
        held=("flag", "signs itself, and is kept from judges"),
        excluded_reason=("text", "why a curator excluded it; empty otherwise"),
    ),
    "undrawn.jsonl": fields_of(
        sample=("code", "the sample's public id"),
        entrant=("text", "who was to be ranked for it"),
        model_id=("text", "who was to answer"),
        prompt=("text", "the prompt's key"),
        attempt_number=("whole", "which attempt"),
        state=("text", "pending, asking, failed or cancelled"),
        claims=("whole", "how often it was asked"),
        failure=("text", "the last error's code"),
        failure_detail=("text", "the last error in words"),
        excluded_reason=("text-", "why a curator does not count it; empty otherwise"),
        reason=("text-", "`unfinished` where it came from a run that was exported before it ended; empty otherwise"),
    ),
    "calls.jsonl": fields_of(
        sample=("text", "the sample it was made for"),
        turn=("whole", "0 for the first turn of a program"),
        started_at=("time", "just before the request"),
        ended_at=("time?", "when the answer or the error came"),
        outcome=("text", "open, answered, retry, refused or unknown"),
        status=("whole?", "the HTTP status"),
        error=("text", "the error's code"),
        cost_nano=("whole?", "what it cost in nano-dollars; null while unknown"),
        prompt_tokens=("whole?", "tokens in"),
        completion_tokens=("whole?", "tokens out"),
        reasoning_tokens=("whole?-", "the part of tokens out that was spent on reasoning"),
        cached_tokens=("whole?-", "the part of tokens in that the provider had cached"),
        own_key_nano=("whole?-", "the part of the cost that was charged to an own key behind a router"),
        latency_ms=("whole?", "how long it took"),
        served_model=("text", "the model that the provider says answered"),
        served_by=("text", "whom the provider passed the call on to"),
        fingerprint=("text-", "the provider's system_fingerprint"),
    ),
    "measures.jsonl": fields_of(
        sample=("text", "the sample"),
        backend=("text", "which backend measured it; two backends never mix"),
        values=("object", "what it says"),
        format_version=("whole", "version of the rules"),
        measured_at=("time", "when"),
    ),
    "extractions.jsonl": fields_of(
        sample=("text", "the sample"),
        format_version=("whole", "version of the rules that read it so"),
        verdict=("text", "valid or invalid"),
        reason=("text", "why it was invalid"),
        detail=("text", "the reason in words"),
        flags=("list", "what else was noticed"),
        facts=("object", "what the reader found out"),
        drawing=("text", "the drawing as it was read then"),
        replaced_at=("time", "when newer rules read it otherwise"),
    ),
    "judges.jsonl": fields_of(
        judge=("text", "the pseudonym; votes and grades refer to it"),
        unknown=("flag", "stands for votes of a file that names no judge"),
        simulated=("flag", "a program, not a person"),
        panel=("text-", "`arena` for who came to the open arena; their votes are on a board of its own"),
        weight=("number", "how much a vote counts, 0 to 1; 0 where a curator keeps this judge out of the ranking"),
        excluded_reason=("text", "why"),
        quota=("whole?", "how many votes were asked for"),
        joined_at=("time", "when the judge joined"),
    ),
}
# What people read; written, never read back.
PAPERS = {
    "README.md": "this page",
    "suite.yaml": "the frozen suite as YAML",
    "LEADERBOARD.md": "the leaderboard in words; a run scored in several ways has LEADERBOARD-<protocol>.md too",
    "standings.csv": "every standing of every scope, for spreadsheets",
    "leaderboard.json": "the whole leaderboard document, as `manage.py leaderboard RUN --format json` writes it",
}
PAPER_NAME = re.compile(r"README\.md|suite\.yaml|(LEADERBOARD|standings|leaderboard)(-[a-z_]+)?\.(md|csv|json)")
DOCUMENTS = {"run.json": "the run itself", "suite.json": "the frozen suite, which the run was made from"}
MANIFEST = "manifest.json"


def readme(title: str, *, written: list[str], lines: Mapping[str, dict[str, Field]]) -> str:
    """The README of an archive with these files; `lines` says what the fields of each mean."""
    parts = [
        f"# {markdown_cell(title)}\n",
        "Everything about one run: what was asked, what was drawn, what judges were shown and what they said, and the",
        "leaderboard that follows. `*.jsonl` files hold one JSON object a line, UTF-8, in a stable order; times are",
        "ISO 8601 with their zone; money is in nano-dollars. Judges appear by pseudonym only.",
        "",
        "- `pandas.read_json('votes.jsonl', lines=True)` opens each of them.",
        "- `manage.py analyse votes.jsonl --samples database.jsonl` gives the leaderboard again, without a database.",
        "- `manage.py import_run FILE.zip` brings the run into another site, with the same leaderboard to the last digit.",
        "",
        "Not in here: accounts, invitations, keys, judges' reports and the curators' log.",
        "",
        f"`manifest.json` was written by Benchsite {VERSION}; it has the schema's version ({SCHEMA}) and the SHA-256 of every file.",
        "",
    ]
    for name, says in {**PAPERS, **DOCUMENTS}.items():
        if name in written:
            parts.append(f"- `{name}`: {says}")
    for name, fields in {"run.json": RUN, **lines}.items():
        if name in written:
            rows = [f"| `{field}` | {made.kind} | {made.says} |" for field, made in fields.items()]
            parts += ["", f"## {name}", "", "| field | kind | meaning |", "|---|---|---|", *rows]
    return "\n".join(parts) + "\n\nA kind with `?` may be null; a field with `-` may be left out.\n"
