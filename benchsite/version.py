"""The release, named once: pages, `doctor`, `/metrics`, the API, backups and exports all read it here."""

from __future__ import annotations

from typing import Any

VERSION = "1.0.0"


def stamped(document: dict[str, Any]) -> dict[str, Any]:
    """A JSON document that names the release that wrote it."""
    return {"benchsite_version": VERSION, **document}


def signed(markdown: str) -> str:
    """A Markdown document that names the release that wrote it."""
    return f"{markdown}\n*Made with Benchsite {VERSION}.*\n"
