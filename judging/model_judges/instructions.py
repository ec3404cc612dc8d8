"""What a model judge is told, and which version of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired, TypedDict

from django.conf import settings

from generation.models import Run
from generation.runs.errors import RunError
from generation.suites.yaml_fields import integer, mapping, text
from generation.suites.yaml_source import SuiteError, load_yaml
from judging.model_judges.grading import GRADES
from judging.model_judges.kinds import Kind
from judging.model_judges.pairs import PAIRS

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


def standard_instructions(kind: Kind) -> Instructions:
    """Those of config/model_judges.yaml."""
    own = ("version", "instructions")
    try:
        needed = (kind.section,) if kind.section else own
        fields = mapping(load_yaml(settings.SUITES_DIR / FILE), (*own, GRADES.section), needed)
        if kind.section:
            fields = mapping(fields[kind.section], own, own)
        return Instructions(text(fields["instructions"]).strip(), integer(fields["version"], 1, 10_000))
    except SuiteError as error:
        raise RunError(str(error)) from None


def versioned(run: Run, words: str, kind: Kind = PAIRS) -> Instructions:
    """A curator's words for this run: the version that has them already, else the next."""
    words = words.strip()
    standard = standard_instructions(kind)
    if not words or words == standard.text:
        return standard
    if len(words) > LONGEST:
        raise RunError(f"Instructions have at most {LONGEST} characters; these have {len(words)}.")
    used = {(about["instructions"], about["version"]) for about in map(about_judge, kind.judges(run))}
    same = [version for text, version in used if text == words]
    return Instructions(words, min(same) if same else max([standard.version, *(v for _, v in used)]) + 1)


def about_judge(judge: Run) -> AboutJudge:
    """The words and version that a judge was added with, and whether it is asked about its own family's drawings."""
    about: AboutJudge = judge.config["model_judge"]
    return about
