"""A competition's files: trials.csv in, with every bad row named by line and column; JSON and Markdown out."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchsite.lib.file_errors import BadField, FileError
from benchsite.lib.json_lines import JsonError, read_json
from benchsite.lib.text import csv_text, markdown_cell

if TYPE_CHECKING:
    from ranking.competition.scores import Competition

NEEDED = ("program", "model", "target", "trial", "stability", "similarity")
KNOWN = (*NEEDED, "vector", "diversity", "baseline", "disqualified", "prompt_length")
YES, NO = ("1", "true", "yes"), ("", "0", "false", "no")


@dataclass
class TrialFile:
    """What a file says: its trials, T, and what it knows about programs."""

    trials: pd.DataFrame = field(default_factory=pd.DataFrame)
    count: int = 0
    baselines: set[str] = field(default_factory=set)
    disqualified: dict[str, str] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)


def read_trials(path: Path, *, trials: int | None = None) -> TrialFile:
    """T is `trials`, or as many as the file has different trial numbers."""
    read = TrialFile()
    rows: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], Any] = {}
    for line, raw in numbered_rows(path):
        try:
            row = parse_row(raw)
            check_repeats(row, seen, trials)
            note_program(row, read)
        except BadField as error:
            raise FileError(path.name, line, error.field, str(error)) from None
        rows.append({key: row[key] for key in (*NEEDED, "vector", "diversity") if key in row})
    if not rows:
        raise FileError(path.name, 0, "", "there is no trial in it.")
    read.trials = pd.DataFrame(rows)
    read.count = trials or len({row["trial"] for row in rows})
    return read


def numbered_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            check_header(path.name, list(reader.fieldnames or ()))
            for row in reader:
                if None in row or None in row.values():
                    raise FileError(path.name, reader.line_num, "", "it has not as many fields as the first line.")
                yield reader.line_num, row
    except UnicodeDecodeError:
        raise FileError(path.name, 0, "", "it is not UTF-8 text.") from None
    except csv.Error as error:
        raise FileError(path.name, reader.line_num + 1, "", f"it is not CSV ({error}).") from None


def check_header(file: str, columns: list[str]) -> None:
    for column in NEEDED:
        if column not in columns:
            raise FileError(file, 1, column, "this column is missing.")
    for column in columns:
        if column not in KNOWN:
            raise FileError(file, 1, column, f"this column is not known; known are {', '.join(KNOWN)}.")
    if len(set(columns)) != len(columns):
        raise FileError(file, 1, "", "a column occurs twice.")
    if ("vector" in columns) == ("diversity" in columns):
        raise FileError(file, 1, "vector", "give either the column vector or the column diversity.")


def parse_row(raw: dict[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {name: parse_name(raw, name) for name in ("program", "model", "target")}
    row["trial"] = parse_whole(raw, "trial")
    row |= {name: parse_share(raw, name) for name in ("stability", "similarity", "diversity") if name in raw}
    if "vector" in raw:
        row["vector"] = parse_vector(raw["vector"])
    row["baseline"] = parse_yes(raw.get("baseline", ""))
    reason = raw.get("disqualified", "").strip()
    row["disqualified"] = "" if reason.lower() in NO else "no reason given" if reason.lower() in YES else reason
    row["prompt_length"] = parse_whole(raw, "prompt_length") if raw.get("prompt_length", "").strip() else None
    return row


def parse_name(raw: dict[str, str], column: str) -> str:
    if not raw[column].strip():
        raise BadField(column, "it is empty.")
    return raw[column].strip()


def parse_whole(raw: dict[str, str], column: str) -> int:
    text = raw[column].strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise BadField(column, f"{text[:40]!r} is not a whole number.")
    return int(text)


def parse_share(raw: dict[str, str], column: str) -> float:
    text = raw[column].strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise BadField(column, f"{text[:40]!r} is not a number from 0 to 1.")
    return value


def parse_vector(text: str) -> tuple[float, ...] | None:
    """A JSON list of probabilities; blank or null for a level that was lost."""
    if not text.strip():
        return None
    try:
        values = read_json(text)
    except JsonError as error:
        raise BadField("vector", f"it {error}.") from None
    if values is None:
        return None
    numbers = isinstance(values, list) and all(type(value) in (int, float) and 0 <= value <= 1 for value in values)
    if not numbers or not any(values):
        raise BadField("vector", "it is not a list of numbers from 0 to 1 with some number above 0.")
    return tuple(map(float, values))


def parse_yes(text: str) -> bool:
    if text.strip().lower() not in (*YES, *NO):
        raise BadField("baseline", f"{text[:40]!r} is neither true nor false.")
    return text.strip().lower() in YES


def check_repeats(row: dict[str, Any], seen: dict[tuple[Any, ...], Any], trials: int | None) -> None:
    """A trial occurs once, a group has at most T of them and one diversity, and all vectors are equally long."""
    group = (row["program"], row["model"], row["target"])
    if (*group, row["trial"]) in seen:
        raise BadField("trial", f"trial {row['trial']} of this program, model and target occurs twice.")
    seen[(*group, row["trial"])] = True
    seen[group] = seen.get(group, 0) + 1
    if trials and seen[group] > trials:
        raise BadField("trial", f"this program, model and target has more than {trials} trials.")
    if seen.setdefault(("diversity", *group), row.get("diversity")) != row.get("diversity"):
        raise BadField("diversity", "it differs within one program, model and target.")
    if row.get("vector") and seen.setdefault(("length",), len(row["vector"])) != len(row["vector"]):
        raise BadField("vector", f"it has {len(row['vector'])} numbers, others have {seen[('length',)]}.")


def note_program(row: dict[str, Any], read: TrialFile) -> None:
    name = row["program"]
    if row["baseline"]:
        read.baselines.add(name)
    if row["disqualified"]:
        read.disqualified.setdefault(name, row["disqualified"])
    length = row["prompt_length"]
    if length is not None and read.lengths.setdefault(name, length) != length:
        raise BadField("prompt_length", f"it differs within {name!r}.")


def competition_json(scored: Competition) -> str:
    weights: dict[str, dict[str, Any]] = {}
    for row in scored.weights.to_dict("records"):
        weights.setdefault(row.pop("model"), {})[row.pop("target")] = row
    programs = [program_record(scored, row) for row in scored.programs.to_dict("records")]
    result = {"trials": scored.trials, "weights": weights, "programs": programs, "competition": scored.competition}
    result["verdicts"] = scored.verdicts
    return json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def program_record(scored: Competition, row: Mapping[Hashable, Any]) -> dict[str, Any]:
    name = row["program"]
    prompt = None if row["disqualified"] else {model: float(x) for model, x in scored.prompts.loc[name].items()}
    numbers = {key: None if math.isnan(row[key]) else row[key] for key in ("total", "normalised", "low", "high")}
    rest = {key: row[key] for key in ("rank", "winner", "baseline", "disqualified", "note")}
    return {"program": name, "prompt": prompt, **numbers, **rest}


def competition_csv(scored: Competition) -> str:
    """The table of programs; a name that a spreadsheet would run as a formula gets a quote in front."""
    numbers = ("total", "normalised", "low", "high")
    rows: list[list[object]] = [["rank", "program", *(f"prompt {model}" for model in scored.prompts), *numbers, "note"]]
    for row in scored.programs.to_dict("records"):
        record = program_record(scored, row)
        prompts = [record["prompt"][model] if record["prompt"] else None for model in scored.prompts]
        values = [record[key] for key in numbers]
        rows.append([record["rank"], record["program"], *prompts, *values, record["note"]])
    return csv_text(rows)


def competition_markdown(scored: Competition) -> str:
    lines = ["| Rank | Program | Normalised | 95% interval | Total | Verdict |", "|---:|---|---:|---|---:|---|"]
    for row in scored.programs.to_dict("records"):
        known = not math.isnan(row["normalised"])
        score, total = (f"{row['normalised']:.2f}", f"{row['total']:.3g}") if known else ("–", "–")
        interval = f"{row['low']:.2f} – {row['high']:.2f}" if known and not math.isnan(row["low"]) else "–"
        name, note = (markdown_cell(row[key]) for key in ("program", "note"))
        lines.append(f"| {row['rank'] or '–'} | {name} | {score} | {interval} | {total} | {note} |")
    return "\n".join(lines) + "\n"
