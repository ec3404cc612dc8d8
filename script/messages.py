"""Keeps the catalogues in `locale/` in step with the pages: gathers what is to be translated, and compiles what is.

Without arguments it updates every .po file and its .mo; new messages come in without a translation, for people to write.
With --check it says what is missing and changes nothing. The compiled files are committed: a site needs no gettext.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
LOCALES = {"de": "de", "fr": "fr", "es": "es", "pt": "pt", "ja": "ja", "zh-hans": "zh_Hans", "ar": "ar"}
CALLS = {"_", "gettext", "gettext_lazy"}
STAMP = datetime(2026, 11, 18, tzinfo=UTC)  # of every file, so that only messages change it
PLACEHOLDER = re.compile(r"%\(\w+\)s|%%|</?\w[^>]*>")


def messages() -> dict[str | tuple[str, str], list[str]]:
    """Every message of the site with the files that it is in; singular and plural where there are two."""
    places: dict[str | tuple[str, str], list[str]] = {}
    for source in (_in_templates, _in_code, _in_data):
        for message, place in source():
            if place not in places.setdefault(message, []):
                places[message].append(place)
    return dict(sorted(places.items(), key=lambda item: str(item[0])))


def _in_templates() -> Iterator[tuple[str | tuple[str, str], str]]:
    from django.template import engines
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode

    for path in sorted((ROOT / "templates").rglob("*.html")):
        if path.parent.name == "admin":  # Django's own words
            continue
        template = engines["django"].engine.from_string(path.read_text())  # type: ignore[attr-defined]
        place = str(path.relative_to(ROOT))
        for node in template.nodelist.get_nodes_by_type(TranslateNode):
            if isinstance(node.filter_expression.var.literal, str):
                yield str(node.filter_expression.var.literal), place
        for node in template.nodelist.get_nodes_by_type(BlockTranslateNode):
            singular = node.render_token_list(node.singular)[0]
            yield (singular, node.render_token_list(node.plural)[0]) if node.plural else singular, place


def _in_code() -> Iterator[tuple[str, str]]:
    paths = [path for app in ("benchsite", "generation", "judging", "ranking") for path in (ROOT / app).rglob("*.py")]
    for path in sorted(paths):
        text = path.read_text()
        if "django.utils.translation" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
                    match node.args:
                        case [ast.Constant(value=str(message))]:
                            yield message, str(path.relative_to(ROOT))


def _in_data() -> Iterator[tuple[str, str]]:
    """Texts of modules that know no Django; they are translated where they are shown."""
    from generation.protocols import PROTOCOLS
    from judging.studies.steps import TITLES

    for title in TITLES.values():
        yield title, "judging/studies/steps.py"
    for entry in PROTOCOLS.values():
        if entry.invitation:
            yield str(entry.invitation), "generation/protocols.py"


def path_of(code: str) -> Path:
    return ROOT / "locale" / LOCALES[code] / "LC_MESSAGES" / "django.po"


def load(code: str) -> Catalog:
    with path_of(code).open("rb") as file:
        return read_po(file, locale=LOCALES[code])


def compiled(catalog: Catalog) -> bytes:
    out = BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def texts(message: Message) -> list[str]:
    return list(message.string) if isinstance(message.string, (tuple, list)) else [message.string]


def faults(code: str) -> list[str]:
    """What is wrong with a catalogue, a sentence each: missing, doubtful or superfluous messages, and placeholders."""
    catalog, wanted = load(code), messages()
    known = {message.id: message for message in catalog if message.id}
    wrong = [f"{code}: not in the catalogue: {message!r}" for message in wanted if message not in known]
    wrong += [f"{code}: no page says it: {message!r}" for message in known if message not in wanted]
    for message in known.values():
        if message.fuzzy or not all(text.strip() for text in texts(message)):
            wrong.append(f"{code}: no translation of {message.id!r}")
        sources = message.id if isinstance(message.id, (tuple, list)) else [message.id]
        allowed = [sorted(PLACEHOLDER.findall(source)) for source in sources]
        wrong += [
            f"{code}: other placeholders in {text!r}"
            for text in texts(message)
            if text and sorted(PLACEHOLDER.findall(text)) not in allowed
        ]
    if path_of(code).with_suffix(".mo").read_bytes() != compiled(catalog):
        wrong.append(f"{code}: django.mo is not what django.po says")
    return wrong


def update(code: str) -> None:
    path = path_of(code)
    path.parent.mkdir(parents=True, exist_ok=True)
    old = load(code) if path.exists() else Catalog(locale=LOCALES[code])
    fresh = Catalog(
        locale=LOCALES[code], project="Benchsite", version="1", fuzzy=False, creation_date=STAMP, revision_date=STAMP
    )
    fresh.header_comment = f"# Participants' pages in {fresh.locale.english_name if fresh.locale else code}."
    fresh.last_translator, fresh.language_team, fresh.msgid_bugs_address = "Benchsite", code, ""
    for message, places in messages().items():
        before = old.get(message if isinstance(message, str) else message[0])
        string = before.string if before is not None else ""
        fresh.add(message, string, locations=[(place, 0) for place in places])
    with path.open("wb") as file:
        write_po(file, fresh, width=120, include_lineno=False)
    path.with_suffix(".mo").write_bytes(compiled(load(code)))


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
    django.setup()
    if "--check" not in sys.argv:
        for code in LOCALES:
            update(code)
    wrong = [fault for code in LOCALES for fault in faults(code)]
    print("\n".join(wrong) or "All messages are translated.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
