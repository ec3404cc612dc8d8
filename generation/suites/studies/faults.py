"""Reading a study to its end whatever is wrong in it, so that every fault is named at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from generation.suites import yaml_fields as read
from generation.suites.studies.texts import in_languages
from generation.suites.yaml_source import Node, SuiteError

T = TypeVar("T")
Languages = tuple[str, ...]


class StudyFaultsError(ValueError):
    """Everything that is wrong with a study's YAML, each with its line and key."""

    def __init__(self, faults: list[SuiteError]) -> None:
        self.faults = faults
        super().__init__("\n".join(map(str, faults)))


class Faults:
    """Reads on after a fault, and keeps each. Texts are read in the study's languages."""

    def __init__(self, languages: Languages = ()) -> None:
        self.faults: list[SuiteError] = []
        self.languages = languages

    @contextmanager
    def kept(self) -> Iterator[None]:
        try:
            yield
        except SuiteError as fault:
            self.faults.append(fault)
        except StudyFaultsError as inner:
            self.faults += inner.faults

    def fields(self, node: Node, allowed: tuple[str, ...], required: tuple[str, ...] = ()) -> dict[str, Node]:
        """The known keys of a mapping; unknown and missing ones are faults."""
        with self.kept():
            read.having(node, ())
        if not isinstance(node.value, dict):
            return {}
        for name, child in node.value.items():
            if name not in allowed:
                self.faults.append(
                    child.error(f"unknown key {name[:60]!r}", read.nearest(name, allowed), reason="unknown_key")
                )
        with self.kept():
            read.having(node, required)
        return {name: child for name, child in node.value.items() if name in allowed}

    def value(self, fields: Mapping[str, Node], name: str, reader: Callable[[Node], T], default: Any) -> Any:
        with self.kept():
            return read.optional(fields, name, reader, default)
        return default

    def texts(self, fields: Mapping[str, Node], **readers: Callable[[Node], Any]) -> dict[str, Any]:
        """These fields in the first language, and under `translations` what there is in the others."""
        values: dict[str, Any] = {}
        translations: dict[str, dict[str, Any]] = {}
        for name, reader in readers.items():
            read_all = partial(in_languages, languages=self.languages, reader=reader)
            for code, text in self.value(fields, name, read_all, {}).items():
                if code in ("", *self.languages[:1]):
                    values[name] = text
                elif text:
                    translations.setdefault(code, {})[name] = list(text) if isinstance(text, tuple) else text
        return values | {"translations": translations}

    def end(self) -> None:
        if self.faults:
            raise StudyFaultsError(self.faults)
