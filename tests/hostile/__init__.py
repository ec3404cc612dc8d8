"""Hostile inputs with what each must lead to (`index.json`), one folder a kind; `serve.py` replays the HTTP ones."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@cache
def all_cases() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))["cases"])


def cases(kind: str) -> list[dict[str, Any]]:
    return [case for case in all_cases() if case["kind"] == kind]


def case_bytes(case: dict[str, Any]) -> bytes:
    return (FOLDER / case["file"]).read_bytes()
