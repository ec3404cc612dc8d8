"""What benches share: options, tables for the screen and for pages, JSON, and facts about the machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

Row = dict[str, Any]
PARTS = ("django", "numpy", "scipy", "pandas", "choix", "httpx", "lxml", "rq")


def make_parser(doc: str, full: str) -> argparse.ArgumentParser:
    """The two options that every bench has: `--full` and `--json FILE`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help=full)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    return parser


def add_resume(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """For benches that take hours: `--resume FILE`."""
    parser.add_argument("--resume", type=Path, help="note each finished part here, and leave out what is noted")
    return parser


class Notebook:
    """What earlier, interrupted runs of a bench have finished: a line of JSON for each part. Without a file it keeps nothing."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        self.parts: dict[str, Row] = dict(map(json.loads, lines))

    def noted(self, part: str, make: Callable[[], Row]) -> Row:
        """The figures of one part, made unless they are there."""
        if part not in self.parts:
            self.parts[part] = make()
            if self.path:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([part, self.parts[part]]) + "\n")
        return self.parts[part]


def write_json(path: Path | None, figures: Any) -> None:
    if path:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def figure(value: Any) -> str:
    """A value as a table shows it: four digits of a fraction, whole numbers in full."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def show(title: str, rows: Sequence[Row]) -> None:
    """Print rows that share their keys as a table."""
    keys = list(rows[0])
    cells = [[figure(row[key]) for key in keys] for row in rows]
    widths = [max(len(key), *(len(line[at]) for line in cells)) for at, key in enumerate(keys)]
    print(f"\n{title}")
    for line in (keys, *cells):
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)), flush=True)


def markdown(rows: Sequence[Row]) -> str:
    keys = list(rows[0])
    lines = [keys, ["---"] * len(keys), *([figure(row[key]).replace("|", "\\|") for key in keys] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def refresh(path: Path, mark: str, text: str) -> None:
    """Replace what stands in a page between `<!-- mark -->` and `<!-- /mark -->`."""
    page = path.read_text(encoding="utf-8")
    between = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)", re.DOTALL)
    if not between.search(page):
        sys.exit(f"{path.name} has no place for {mark}: put <!-- {mark} --> and <!-- /{mark} --> there.")
    path.write_text(between.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page), encoding="utf-8")


def yardstick() -> float:
    """Milliseconds of processor time that a fixed piece of Python takes here and now: how fast the machine is just then.

    Cores that are shared with other machines may take twice as long on one day as on another, at any load.
    """

    def once() -> float:
        start = time.process_time()
        rows = [{"id": number, "name": f"row {number * 7919 % 1000}", "share": number / 7} for number in range(4_000)]
        json.loads(json.dumps(sorted(rows, key=lambda row: (row["name"], -row["share"]))))
        return 1000 * (time.process_time() - start)

    return round(min(once() for _ in range(15)), 2)


def processor() -> str:
    """What the processor calls itself, where the system says so (Linux)."""
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    name = re.search(r"^model name\s*: (.+)$", facts, re.MULTILINE)
    return name[1] if name else platform.processor()


def servers() -> Row:
    """Versions of the real servers that benches run on, where they are installed."""
    from benchsite.operations import valkey
    from tests.services import find_postgres

    folder = find_postgres()
    programs = {"postgresql": folder and folder / "postgres", "valkey": valkey.find_server()}
    outputs = {
        name: subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        for name, program in programs.items()
        if program
    }
    return {name: version[0] for name, text in outputs.items() if (version := re.search(r"\d+(\.\d+)+", text))}


def machine_facts() -> Row:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(memory, 1),
        "machine": platform.machine(),
        "processor": processor(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_at_start": round(os.getloadavg()[0], 2),
        **{name: version(name) for name in PARTS},
        **servers(),
    }
