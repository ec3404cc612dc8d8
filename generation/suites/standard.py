"""What a suite is that does not say: drawings in characters, compared in pairs, with the prompts of the suite that ships."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from generation.formats import DEFAULT_FORMAT
from generation.protocols import PROTOCOLS

SHIPPED = "ascii"
DESCRIPTION = "Drawings by language models, judged by people who do not know who drew what."
METHOD = (
    "Judges see two drawings of the same prompt and say which is better, or that both are good, or that both are bad. A "
    "Bradley–Terry model turns these votes into ratings with 95% intervals."
)
GRADED = "Judges grade one drawing at a time on the rubric’s dimensions; stages are weighted as the rubric says."


def standard_suite(slug: str, *, has_rubric: bool) -> dict[str, Any]:
    """The suite block of a config.yaml that has none."""
    protocol = next(name for name, entry in PROTOCOLS.items() if entry.by_people and entry.needs_rubric == has_rubric)
    return {
        "title": slug.replace("-", " ").capitalize(),
        "description": DESCRIPTION,
        "method": GRADED if has_rubric else METHOD,
        "format": DEFAULT_FORMAT,
        "protocols": (protocol,),
        "seed": 1,
        "concurrency": 8,
        "budget_usd": None,
        "provider_order": (),
    }


def prompts_path(folder: Path, suites: Path, *, is_standard: bool) -> Path:
    """The folder's prompts.yaml; where it has none and no suite block either, that of the suite that ships."""
    own, shipped = folder / "prompts.yaml", suites / SHIPPED / "prompts.yaml"
    return shipped if is_standard and not own.exists() and shipped.exists() else own
