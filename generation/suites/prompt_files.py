"""The three shapes of a prompts.yaml: templates with words, one template with subjects, or prompts written out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchsite.lib.languages import LANGUAGES
from generation.images import FILE, LARGEST, LARGEST_TOGETHER, SUFFIXES, WIDEST, data_address
from generation.suites import yaml_fields as read
from generation.suites.prompts import Filled, TemplateError, expand_template, fill_placeholders, placeholders
from generation.suites.studies.texts import in_languages
from generation.suites.suite import Category, PromptEntry, Rubric
from generation.suites.yaml_fields import optional
from generation.suites.yaml_source import Node, load_yaml

SHAPES = {
    "templates": ("templates", "words", "prompts_per_template"),
    "subjects": ("template", "subjects", "category"),
    "prompts": ("prompts", "category"),
}
ROW_KEYS = ("key", "subject", "category", "facts", "image")
SUBJECT = 200
MOST_PROMPTS = 5000
TEXTS = "texts"  # among a prompt's facts: what judges read in other languages
SLOT_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,39}")


@dataclass(frozen=True)
class _Names:
    """The categories a prompt may have; none named means that any will do."""

    allowed: tuple[str, ...]
    required: bool


def read_prompts(
    path: Path,
    *,
    seed: int,
    categories: tuple[Category, ...] = (),
    rubric: Rubric | None = None,
    most: int = MOST_PROMPTS,
) -> tuple[PromptEntry, ...]:
    """Every prompt of a suite, each text and key once; under a rubric each belongs to a stage."""
    root = load_yaml(path)
    stages = tuple(stage.key for stage in rubric.stages) if rubric else ()
    names = _Names(stages or tuple(category.key for category in categories), bool(stages))
    every = tuple(dict.fromkeys(name for shape in SHAPES.values() for name in shape))
    given = read.mapping(root, every)
    shape = next((name for name in SHAPES if name in given), None)
    if shape is None:
        hint = "write templates: with words:, template: with subjects:, or prompts:"
        raise root.error("there are no prompts", hint, reason="missing_key", key="prompts")
    fields = read.mapping(root, SHAPES[shape])
    if shape == "templates":
        nodes, prompts = _from_templates(root, fields, seed, names, most)
    else:
        nodes, prompts = _from_rows(root, fields, shape, names, path.parent)
    _check_images(nodes, prompts)
    read.unique(nodes, [prompt.key for prompt in prompts], "prompt key")
    read.unique(nodes, [prompt.text for prompt in prompts], "prompt text")
    return tuple(prompts)


def _category(node: Node, names: _Names) -> str:
    name = read.key(node)
    return read.choice(node, names.allowed, "category") if names.allowed else name


def _from_templates(
    root: Node, fields: dict[str, Node], seed: int, names: _Names, most: int
) -> tuple[list[Node], list[PromptEntry]]:
    read.mapping(root, SHAPES["templates"], SHAPES["templates"])
    count = read.integer(fields["prompts_per_template"], 1, 1000)
    words = _words(fields["words"])
    nodes: list[Node] = []
    prompts: list[PromptEntry] = []
    for entry in read.items(fields["templates"], least=1, most=100):
        row = read.mapping(entry, ("category", "template"), ("category", "template"))
        category, template = _category(row["category"], names), read.text(row["template"])
        taken = frozenset(prompt.text for prompt in prompts)
        try:
            filled = expand_template(template, words, count=count, seed=seed, taken=taken)
        except TemplateError as error:
            raise row["template"].error(error.message, error.hint, reason=error.reason) from None
        start = sum(prompt.category == category for prompt in prompts) + 1
        prompts.extend(_filled_entry(item, category, number) for number, item in enumerate(filled, start))
        nodes.extend([row["template"]] * count)
        if len(prompts) > most:
            hint = f"use fewer templates or a smaller prompts_per_template: at most {most} prompts"
            raise row["template"].error("the templates make too many prompts", hint, reason="wrong_length")
    return nodes, prompts


def _filled_entry(item: Filled, category: str, number: int) -> PromptEntry:
    return PromptEntry(f"{category}-{number:02d}", item.text, category, item.subject[:SUBJECT], {"words": item.words})


def _words(node: Node) -> dict[str, list[str]]:
    if not isinstance(node.value, dict):
        raise node.error(f"is {read.kind_of(node.value)}, not a mapping", "write SLOT: and a list of words under it")
    words = {}
    for name, child in node.value.items():
        if not SLOT_NAME.fullmatch(name):
            raise child.error(
                f"{name[:60]!r} is not a slot's name", "use capitals, as in OBJECT", reason="bad_identifier"
            )
        nodes = read.items(child, least=1, most=1000)
        words[name] = [read.line(word, limit=100) for word in nodes]
        read.unique(nodes, words[name], "word")
    return words


def _check_images(nodes: list[Node], prompts: list[PromptEntry]) -> None:
    size = 0
    for node, prompt in zip(nodes, prompts, strict=True):
        size += len(prompt.image) * 3 // 4
        if size > LARGEST_TOGETHER:
            hint = f"keep all pictures of a suite within {LARGEST_TOGETHER // 2**20} MiB"
            raise node.error("the pictures are too large together", hint, reason="oversize")


def _from_rows(
    root: Node, fields: dict[str, Node], shape: str, names: _Names, folder: Path
) -> tuple[list[Node], list[PromptEntry]]:
    if shape == "subjects":
        read.mapping(root, SHAPES[shape], ("template", "subjects"))
    template = read.text(fields["template"]) if shape == "subjects" else None
    common = optional(fields, "category", lambda child: _category(child, names), "")
    nodes = read.items(fields[shape], least=1)
    return nodes, [_row(node, template, common, names, folder) for node in nodes]


def _text_and_translations(node: Node) -> tuple[str, dict[str, str]]:
    """What models are asked, and what judges read in other languages: the first text of a mapping, and the rest."""
    languages = tuple(node.value) if isinstance(node.value, dict) and set(node.value) <= set(LANGUAGES) else ()
    texts = in_languages(node, languages, read.text)
    first = next(iter(texts), "")
    return texts.pop(first, ""), texts


def _row(node: Node, template: str | None, common: str, names: _Names, folder: Path) -> PromptEntry:
    if template is None:
        row = read.mapping(node, (*ROW_KEYS, "text"), ("text",))
    elif isinstance(node.value, str):
        row = {"subject": node}
    else:
        row = read.mapping(node, ROW_KEYS, ("subject",))
    subject = optional(row, "subject", lambda child: read.line(child, limit=SUBJECT), "")
    facts: dict[str, Any] = optional(row, "facts", read.plain_mapping, {})
    category = optional(row, "category", lambda child: _category(child, names), common)
    if names.required and not category:
        hint = f"use one of {', '.join(names.allowed)}"
        raise node.error("the prompt belongs to no stage", hint, reason="missing_key", key="category")
    if template is None:
        text, others = _text_and_translations(row["text"])
        facts |= {TEXTS: others} if others else {}
    else:
        text = _fill(node, template, subject, category, facts)
    image = optional(row, "image", lambda child: read_image(child, folder), "")
    return PromptEntry(_row_key(node, row, subject or text), text, category, subject, facts, image)


def _row_key(node: Node, row: dict[str, Node], name: str) -> str:
    if "key" in row:
        return read.key(row["key"])
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    made = re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:60].strip("-")
    if not made:
        raise node.error("no key can be made from its name", "give it a key:", reason="missing_key", key="key")
    return made


def _fill(node: Node, template: str, subject: str, category: str, facts: dict[str, Any]) -> str:
    values = {name: str(value) for name, value in facts.items() if isinstance(value, (str, int, float))}
    values |= {"subject": subject, "category": category}
    names: Collection[str] = placeholders(template)
    if not names:
        raise node.error("the template has no {{placeholder}}", "put {{subject}} into it", reason="unknown_slot")
    # The only placeholder of a template may have any name, such as the seed's {{pokemon_name}}: it is the subject.
    if len(names) == 1:
        values.setdefault(next(iter(names)), subject)
    try:
        return fill_placeholders(template, values)
    except TemplateError as error:
        raise node.error(error.message, error.hint, reason=error.reason) from None


def read_image(node: Node, folder: Path) -> str:
    """A picture's file as a data address; raises an error that names the line, the file and what is allowed."""
    name = read.matching(node, FILE, "a picture's file name")
    if not name.lower().endswith(SUFFIXES):
        raise node.error(f"{name!r} is not a PNG, JPEG or WebP", f"use {', '.join(SUFFIXES)}", reason="bad_image")
    try:
        with (folder / name).open("rb") as stream:
            body = stream.read(LARGEST + 1)
    except OSError:
        raise node.error(f"there is no file {name!r}", "put it beside prompts.yaml", reason="missing_file") from None
    if len(body) > LARGEST:
        raise node.error(f"{name!r} is over {LARGEST // 1024} KiB", "make it smaller", reason="oversize")
    try:
        address, size = data_address(body)
    except ValueError:
        raise node.error(f"{name!r} is not a readable picture", "save it again", reason="bad_image") from None
    if max(size) > WIDEST:
        hint = f"make it at most {WIDEST} pixels wide and high"
        raise node.error(f"{name!r} has {size[0]} × {size[1]} pixels", hint, reason="oversize")
    return address
