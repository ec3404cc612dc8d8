"""JSON schemas of what the API answers, made from the fields of the archive, so that both describe the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranking.archive.fields import LINES, RUN, Field, fields_of
from ranking.archive.members import listed_members

Schema = dict[str, Any]
TYPES: dict[str, Schema] = {
    "text": {"type": "string"},
    "code": {"type": "string"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "list": {"type": "array"},
    "object": {"type": "object"},
}
FIT = fields_of(
    run=("code", "the run's public id"),
    code=("code", "the fit's public id"),
    protocol=("text", "how it was scored"),
    kind=("text", "fast or full"),
    votes=("whole", "votes, grades or samples it rests on"),
    read_at=("time", "when these were read"),
    settings=("object", "the choices behind it"),
)
STANDING = fields_of(
    entrant=("text", "who"),
    scope=("text", "`overall`, or `category:` and its key"),
    score=("number?", "a rating (Elo), or points"),
    low=("number?", "lower end of the 95% interval"),
    high=("number?", "upper end"),
    rank=("whole?", "its place"),
    rank_low=("whole?", "the best place that it may have"),
    rank_high=("whole?", "the worst"),
    n=("whole", "votes, grades or samples behind it"),
)
BOARD = fields_of(
    protocol=("text", "how the run is scored"),
    label=("text", "its name on pages"),
    fit=("code?", "the newest fit; null before there is one, and while people judge the run blind"),
    votes=("whole?", "what that fit rests on"),
    read_at=("time?", "when this was read"),
    address=("text", "where its document is"),
)
STUDY = fields_of(
    code=("code", "its public id"),
    name=("text", "its name"),
    state=("text", "draft, open, paused or closed"),
    came=("whole", "people who began"),
    running=("whole", "people who are in it now"),
    done=("whole", "people who finished"),
    taken=("whole", "places that are taken"),
    median_seconds=("number?", "how long those who finished took; null before there is one"),
    outcomes=("list", "how many ended in which way"),
    funnel=("list", "how many came to each step, and how many passed it"),
)


def schema_of_field(field: Field) -> Schema:
    schema = TYPES[field.kind.rstrip("?-")]
    if "?" in field.kind:
        schema = schema | {"type": [schema["type"], "null"]}
    return schema | {"description": field.says}


def object_of(fields: Mapping[str, Field], **more: Schema) -> Schema:
    """An object with these fields; later releases add fields, and never take one away."""
    properties = {name: schema_of_field(field) for name, field in fields.items()} | more
    required = [name for name, field in fields.items() if not field.may_be_absent] + list(more)
    return {"type": "object", "properties": properties, "required": required}


def list_of(row: Schema) -> Schema:
    return {"type": "array", "items": row}


def page_of(row: Schema) -> Schema:
    """Rows, and the address of the next page."""
    following = {"type": ["string", "null"], "description": "the address of the next page; null on the last"}
    return {
        "type": "object",
        "properties": {"data": list_of(row), "next": following},
        "required": ["data", "next"],
    }


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def components() -> dict[str, Schema]:
    """The schemas that operations name; lists of judgements come from the protocols that this site knows."""
    text, object_ = TYPES["text"], TYPES["object"]
    lines = {
        "Sample": "database.jsonl",
        "Model": "models.jsonl",
        "Prompt": "prompts.jsonl",
        "Entrant": "entrants.jsonl",
    }
    problem_row = {
        "type": "object",
        "properties": {"field": text, "message": text, "line": {"type": "integer"}},
        "required": ["field", "message"],
    }
    error = {"type": "object", "properties": {"code": text, "message": text}, "required": ["code", "message"]}
    whole_run = {
        "counts": object_ | {"additionalProperties": {"type": "integer"}},
        "models": list_of(ref("Model")),
        "entrants": list_of(ref("Entrant")),
        "prompts": list_of(ref("Prompt")),
        "suite_config": object_ | {"description": "the frozen suite"},
    }
    return {
        "Run": object_of(RUN),
        "WholeRun": object_of(RUN, **whole_run),
        **{name: object_of(LINES[file]) for name, file in lines.items()},
        **{row_name(kind): object_of(member.fields) for kind, member in listed_members().items()},
        "Fit": object_of(FIT),
        "Standing": object_of(STANDING),
        "Board": object_of(BOARD),
        "Study": object_of(STUDY),
        "Problem": {
            "type": "object",
            "properties": {
                "type": text,
                "title": text,
                "status": {"type": "integer"},
                "detail": text,
                "errors": list_of(problem_row),
                "error": error,
            },
            "required": ["type", "title", "status", "detail", "errors", "error"],
        },
    }


def row_name(kind: str) -> str:
    """`votes` holds rows that are each a `Vote`."""
    return kind.removesuffix("s").title().replace("_", "")
