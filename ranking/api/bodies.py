"""What programs send: JSON bodies with their limits, and JSON Lines that are read from the request line by line."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Literal

from django.conf import settings
from ninja import Field, Schema
from pydantic import AfterValidator, ConfigDict

from benchsite.lib.reasons import LONGEST_REASON
from benchsite.lib.text import clean_text
from ranking.api.access import ApiRequest
from ranking.api.answers import LINES
from ranking.api.problems import Problem
from ranking.archive.fields import fields_of

MEBIBYTE = 1 << 20
MOST_LINES = 20_000
KEY = r"^[A-Za-z0-9._-]{1,40}$"


def _one_line(text: str) -> str:
    return " ".join(clean_text(text)[0].split())


OneLine = Annotated[str, AfterValidator(_one_line)]
Name = Annotated[OneLine, Field(max_length=200)]
Reason = Annotated[OneLine, Field(max_length=LONGEST_REASON, description="Kept in the run's history.")]
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Body(Schema):
    """A field that is not known is refused: a slip of the pen must not be a default."""

    model_config = ConfigDict(extra="forbid")


class NewRun(Body):
    """A run of a suite on the server. `models: []` draws nothing: its drawings are pushed."""

    suite: Annotated[Name, Field(description="The suite's folder name.")]
    label: Annotated[OneLine, Field(max_length=60, description="Tells two runs of one suite apart.")] = ""
    models: Annotated[list[Name] | None, Field(description="Some of the suite's models; all where left out.")] = None
    prompts: Annotated[list[Name] | None, Field(description="Keys of some of its prompts.")] = None
    attempts: Annotated[int | None, Field(ge=1, le=100, description="Drawings of each prompt by each model.")] = None
    budget_usd: Annotated[Dollars | None, Field(description="A hard cap in US$; the suite's where left out.")] = None
    demo: Annotated[bool, Field(description="A small run with the demo players.")] = False
    draw: Annotated[bool, Field(description="Begin at once; otherwise the run waits, paused.")] = True
    key: Annotated[str, Field(pattern=KEY, description="Your id of this run: sent again, it gives the same run.")]


class Drawing(Body):
    verb: Literal["pause", "resume", "cancel"]
    reason: Reason = ""
    budget_usd: Annotated[Dollars | None, Field(description="With resume: another hard cap in US$.")] = None


class State(Body):
    """What to do to judging or to a study."""

    verb: Literal["open", "pause", "close"]
    reason: Reason = ""


class NewStudy(Body):
    """A study as its curators' page takes it. The same YAML again changes nothing."""

    source: Annotated[str, Field(max_length=100_000, description="The study in YAML; see docs/studies.md.")]


class NewInvitations(Body):
    count: Annotated[int, Field(ge=1, le=200, description="Links.")] = 1
    label: Annotated[OneLine, Field(max_length=100, description="For whom, for your own list.")] = ""
    max_uses: Annotated[int, Field(ge=1, le=1000, description="Uses of each link.")] = 1
    days: Annotated[int, Field(ge=1, le=365, description="How long a link works.")] = 14
    quota: Annotated[int | None, Field(ge=1, le=1_000_000, description="Pairs or drawings for each judge.")] = None


# What a line of a push holds; `generation.files.sample_lines` and `judging.files.vote_lines` read them.
PUSHED_SAMPLE = fields_of(
    model_id=("text", "who drew it; a model that is new to the run joins it"),
    prompt_text=("text", "the prompt, as the run has it"),
    attempt_number=("whole", "1 for the first answer to this prompt; with model and prompt it is the sample's id"),
    raw_output=("text", "the answer; it is read by the run's format, as any other"),
    category=("text?-", "the prompt's category, where one text is in two"),
    program=("text?-", "the prompt program, where programs compete"),
    finish_reason=("text?-", "why the model stopped"),
    completion_tokens=("whole?-", "tokens of the answer"),
    label=("text?-", "the name on pages of a model that is new to the run"),
    note=("text?-", "a remark about it"),
)
PUSHED_VOTE = fields_of(
    id=("text", "your id of the vote, up to 100 characters: pushed again, it is the same vote"),
    left_model=("text", "the entrant on the left"),
    right_model=("text", "the entrant on the right"),
    outcome=("text", "left, right, tie (both good) or fail (both bad)"),
    judge=("text?-", "a pseudonym; one for all where left out"),
    prompt_text=("text?-", "the prompt, as the run has it"),
    category=("text?-", "the prompt's category"),
    left_attempt=("whole?-", "which attempt of the left one was shown"),
    right_attempt=("whole?-", "the same for the right one"),
    voted_at=("time?-", "when; now where left out"),
    response_ms=("whole?-", "how long the judge looked"),
)


def body_lines(request: ApiRequest) -> list[bytes]:
    """The lines of a body of JSON Lines; refused where it is another kind, too large or of too many lines."""
    if (request.content_type or "").lower() != LINES:
        raise Problem(415, "media_type", f"Send JSON Lines, one object a line: Content-Type: {LINES}.")
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length.isdecimal():
        raise Problem(411, "media_type", "Send a Content-Length: a body in chunks is not read.")
    if int(length) > settings.UPLOAD_MEGABYTES * MEBIBYTE:
        raise Problem(
            413,
            "too_large",
            f"A body has at most {settings.UPLOAD_MEGABYTES} MiB, and this one {int(length) / MEBIBYTE:.1f}. "
            "Send it in several parts; what is pushed twice is stored once.",
        )
    lines = list(islice(request, MOST_LINES + 1))
    if not any(map(bytes.strip, lines)):
        raise Problem(422, "rows", "The body is empty. Send JSON Lines, one object a line.")
    if len(lines) > MOST_LINES:
        raise Problem(413, "too_large", f"A body has at most {MOST_LINES} lines. Send it in several parts.")
    return lines
