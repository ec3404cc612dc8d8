"""Texts that a study has in several languages: read from YAML, looked up for a page, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from benchsite.lib.languages import LANGUAGES
from generation.suites import yaml_fields as read
from generation.suites.yaml_source import Node

T = TypeVar("T")
Translations = dict[str, dict[str, Any]]  # by language, then by field: a text, or a list of them


def languages_in(node: Node) -> tuple[str, ...]:
    """The languages of all texts below a node, in the order in which they appear."""
    return tuple(dict.fromkeys(_languages_in(node)))


def _languages_in(node: Node) -> Iterator[str]:
    if isinstance(node.value, dict):
        if node.value and set(node.value) <= set(LANGUAGES):
            yield from node.value
        children = list(node.value.values())
    else:
        children = node.value if isinstance(node.value, list) else []
    for child in children:
        yield from _languages_in(child)


def in_languages(node: Node, languages: Sequence[str], reader: Callable[[Node], T]) -> dict[str, T]:
    """One text, or one for each language: `{en: …, de: …}`. The first language of the study must be among them."""
    if not isinstance(node.value, dict):
        return {(languages or ("",))[0]: reader(node)}
    children = read.mapping(node, languages or tuple(LANGUAGES), languages[:1])
    texts = {code: reader(child) for code, child in children.items()}
    first = texts[languages[0]] if languages else None
    for code, text in texts.items():
        if isinstance(text, tuple) and isinstance(first, tuple) and len(text) != len(first):
            hint = f"give as many as in {languages[0]}, in the same order"
            raise children[code].error(f"has {len(text)} entries, not {len(first)}", hint, reason="wrong_length")
    return texts


def in_language(value: T, code: str) -> T:
    """A frozen block, and all blocks in it, with the texts of that language; where one is missing, it stays as it is."""
    if not is_dataclass(value):
        return value
    changes: dict[str, Any] = {}
    for item in fields(value):
        child = getattr(value, item.name)
        if is_dataclass(child):
            changes[item.name] = in_language(child, code)
        elif isinstance(child, tuple):
            changes[item.name] = tuple(in_language(each, code) for each in child)
        elif isinstance(child, Mapping) and item.name != "translations":
            changes[item.name] = {name: in_language(each, code) for name, each in child.items()}
    translations: Translations = getattr(value, "translations", {})
    for name, text in translations.get(code, {}).items():
        # What is stored of an answer is the option of the first language, whatever its label was.
        changes["labels" if name == "options" else name] = tuple(text) if isinstance(text, list) else text
    return replace(value, **changes)  # type: ignore[type-var]  # a dataclass, as was asked above


def missing_texts(value: Any, languages: Sequence[str], place: str = "") -> Iterator[str]:
    """The places of texts that a language other than the first lacks, such as `profile.age.text (de)`."""
    translations: Translations = getattr(value, "translations", {})
    for name in getattr(value, "TEXTS", ()):
        if getattr(value, name):
            absent = [code for code in languages[1:] if not translations.get(code, {}).get(name)]
            if absent:
                yield f"{place}{name} ({', '.join(absent)})"
    for item in fields(value):
        child = getattr(value, item.name)
        children: list[tuple[str, Any]] = [(item.name, child)]
        if isinstance(child, tuple):
            children = [(f"{item.name}.{getattr(each, 'key', '')}", each) for each in child]
        elif isinstance(child, Mapping):
            children = [(f"{item.name}.{name}", each) for name, each in child.items()]
        for name, each in children:
            if is_dataclass(each):
                yield from missing_texts(each, languages, f"{place}{name}.")
