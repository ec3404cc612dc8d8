"""Why a curator did something: one line beside a button, kept in the log."""

from __future__ import annotations

from django.http import HttpRequest

from benchsite.lib.text import clean_text

LONGEST_REASON = 280


def reason_of(request: HttpRequest) -> str:
    """The reason typed beside the button; may be empty."""
    return " ".join(clean_text(request.POST.get("reason", ""))[0].split())[:LONGEST_REASON]
