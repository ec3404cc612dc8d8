"""What a model judge is told, and which version of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired, TypedDict

from django.conf import settings

from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.yaml_fields import integer, mapping, text
from generation.suites.yaml_source import SuiteError, load_yaml

FILE = "model_judges.yaml"
LONGEST = 8_000


class AboutJudge(TypedDict):
    instructions: str
    version: int
    own_family: bool
    name: NotRequired[str]  # of a judge from a file


@dataclass(frozen=True)
class Instructions:
    text: str
    version: int


def standard_instructions() -> Instructions:
    """Those of config/model_judges.yaml."""
    try:
        fields = mapping(
            load_yaml(settings.SUITES_DIR / FILE), ("version", "instructions"), ("version", "instructions")
        )
        return Instructions(text(fields["instructions"]).strip(), integer(fields["version"], 1, 10_000))
    except SuiteError as error:
        raise RunError(str(error)) from None


def versioned(run: Run, words: str) -> Instructions:
    """A curator's words for this run: the version that has them already, else the next."""
    words = words.strip()
    standard = standard_instructions()
    if not words or words == standard.text:
        return standard
    if len(words) > LONGEST:
        raise RunError(f"Instructions have at most {LONGEST} characters; these have {len(words)}.")
    used = {(about["instructions"], about["version"]) for about in map(about_judge, run.model_judges.all())}
    same = [version for text, version in used if text == words]
    return Instructions(words, min(same) if same else max([standard.version, *(v for _, v in used)]) + 1)


def about_judge(judge: Run) -> AboutJudge:
    """The words and version that a judge was added with, and whether it is asked about its own family's drawings."""
    about: AboutJudge = judge.config["model_judge"]
    return about
