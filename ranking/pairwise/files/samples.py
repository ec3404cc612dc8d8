"""What `analyse --samples database.jsonl` adds: how often each entrant drew anything valid, and in every font."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchsite.lib.text import clean_text
from generation.files.sample_lines import SampleRow, read_file
from generation.formats import DEFAULT_FORMAT, format_to_show
from generation.formats.base import Answer
from judging.files.vote_lines import name_fault
from ranking.statistics.samples import SampleRate, sample_rate


@dataclass
class _Counts:
    samples: int = 0
    valid: int = 0
    note: str = ""
    measures: list[dict[str, Any]] = field(default_factory=list)
    by_prompt: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def add(self, row: SampleRow, *, valid: bool) -> None:
        self.samples, self.valid = self.samples + 1, self.valid + valid
        if not row.fields.get("program"):  # the note is the model's
            self.note = self.note or clean_text(row.optional_text("note") or "")[0]
        if (prompt := row.optional_text("prompt_text")) is not None:
            key = (clean_text(row.optional_text("category") or "")[0], clean_text(prompt)[0])
            answers, good = self.by_prompt.get(key, (0, 0))
            self.by_prompt[key] = (answers + 1, good + valid)


def read_samples(path: Path) -> tuple[dict[str, SampleRate], dict[str, str]]:
    """Rates by entrant (the program's name where one is given, else `model_id`), and what is noted of each."""
    seen: dict[str, _Counts] = {}
    for row in read_file(path):
        counts = seen.setdefault(_entrant(row), _Counts())
        valid = _is_valid(row)
        counts.add(row, valid=valid)
        if valid:
            counts.measures += _measures(row)
    rates = {
        name: sample_rate(
            samples=counts.samples, valid=counts.valid, measures=counts.measures, by_prompt=counts.by_prompt
        )
        for name, counts in sorted(seen.items())
    }
    return rates, {name: counts.note for name, counts in seen.items() if counts.note}


def _measures(row: SampleRow) -> list[dict[str, Any]]:
    """What the file says was measured; else, of a text that is shown in fonts, what the site would measure."""
    given = row.fields.get("measures")
    if given and isinstance(given, dict):
        return [given]
    form = format_to_show(row.optional_text("format") or DEFAULT_FORMAT)
    drawing = row.optional_text("sanitized_output")
    if not form.shown_in_fonts or not drawing:
        return []
    return [_measured(form.name, drawing)]


@lru_cache(maxsize=1024)  # attempts are often the same drawing
def _measured(name: str, drawing: str) -> dict[str, Any]:
    form = format_to_show(name)
    return form.measure(drawing, Answer(""), backend=form.measure_backends[0])


def _entrant(row: SampleRow) -> str:
    entrant = row.fields.get("program") or row.text("model_id")
    if fault := name_fault(entrant):
        raise row.bad("program" if row.fields.get("program") else "model_id", fault)
    return entrant


def _is_valid(row: SampleRow) -> bool:
    drawn = not row.fields.get("invalid", False) and row.fields.get("sanitized_output") is not None
    valid = row.fields.get("valid", drawn)
    if not isinstance(valid, bool):
        raise row.bad("valid", "must be true or false")
    return valid
