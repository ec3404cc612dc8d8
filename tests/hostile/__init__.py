"""Hostile inputs with what each must lead to (`index.json`), one folder a kind; `serve.py` replays the HTTP ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def cases(kind: str) -> list[dict[str, Any]]:
    index = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    return [case for case in index["cases"] if case["kind"] == kind]


def case_bytes(case: dict[str, Any]) -> bytes:
    return (FOLDER / case["file"]).read_bytes()
