"""The generation app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register

from generation.formats import find_faults


def check_formats(**_: Any) -> list[CheckMessage]:
    """A format that lacks something stops every command before it begins."""
    return [Error(fault, id="generation.E001") for fault in find_faults()]


class GenerationConfig(AppConfig):
    name = "generation"

    def ready(self) -> None:
        from generation.checks import check_protocols  # reads tables, which are there only now

        register(check_formats)
        register(check_protocols)
