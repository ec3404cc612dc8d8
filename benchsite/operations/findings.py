"""What a check of the deployment reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """The result of one check: good, a warning or bad, with how to fix it."""

    state: str
    what: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.state:4}  {self.what}" + (f" {self.fix}" if self.fix else "")


def good(what: str) -> Finding:
    return Finding("ok", what)


def warn(what: str, fix: str) -> Finding:
    return Finding("warn", what, fix)


def bad(what: str, fix: str) -> Finding:
    return Finding("BAD", what, fix)
