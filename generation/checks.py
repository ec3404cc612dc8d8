"""What every start checks: that each protocol says all that the site will ask of it, and that what it names is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, get_type_hints

from django.core.checks import CheckMessage, Error
from django.core.exceptions import FieldError, ImproperlyConfigured
from django.template.exceptions import TemplateDoesNotExist
from django.template.loader import get_template
from django.urls import NoReverseMatch, reverse

from generation.models import Run
from generation.protocols import PROTOCOLS, Protocol, load, module_in

NAME = re.compile("[a-z_]{1,20}")  # `Fit.protocol` holds no more
NEEDED = ("label", "rests_on", "analyse", "template", "ranking_room")
NEEDED_BY_PEOPLE = (
    *("invitation", "judge_page", "curator_page", "judged_at"),
    *("home", "home_runs", "home_help", "judging_room"),
)


def check_protocols(**_: Any) -> list[CheckMessage]:
    """A protocol that lacks something stops every command before it begins."""
    return [Error(fault, id="generation.E002") for fault in protocol_faults()]


def refuse_to_start() -> None:
    """For servers, which run no system checks of their own."""
    if faults := protocol_faults():
        raise ImproperlyConfigured("\n".join(faults))


def protocol_faults() -> list[str]:
    """What is wrong, each in a sentence that names the protocol and the field."""
    faults = []
    for name, entry in PROTOCOLS.items():
        if not NAME.fullmatch(name):
            faults.append(f"Protocol {name}: its name must be 1 to 20 lower-case letters or underscores.")
        faults += _faults(name, entry)
        for variant, other in entry.by_format.items():
            faults += _faults(f"{name} ({variant})", other)
    return faults


def _faults(name: str, entry: Protocol) -> Iterator[str]:
    needed = (*NEEDED, *NEEDED_BY_PEOPLE) if entry.by_people else NEEDED
    for field in needed:
        if not getattr(entry, field):
            yield f"Protocol {name}: the field {field} is empty, and a protocol {_people(entry)} needs it."
    for field, hint in get_type_hints(Protocol, include_extras=True).items():
        value, kind = getattr(entry, field), getattr(hint, "__metadata__", ("",))[0]
        if value and kind in LOOKS and (problem := LOOKS[kind](value)):
            yield f"Protocol {name}: the field {field} is {value!r}, and {problem}."
    if entry.import_page and not entry.import_label:
        yield f"Protocol {name}: the field import_label is empty, and the link to import_page needs words."
    if problem := _lookup_fault(entry.judged_at):
        yield f"Protocol {name}: the field judged_at is {entry.judged_at!r}, and {problem}."
    if entry.by_people and entry.ranking_room and not _has_members(entry.ranking_room):
        yield f"Protocol {name}: {entry.ranking_room}.archive has no MEMBERS, so archives would lack what people judged."


def _people(entry: Protocol) -> str:
    return "that people judge" if entry.by_people else "by a formula"


def _function_fault(path: str) -> str:
    try:
        return "" if callable(load(path)) else "that is no function"
    except (ImportError, AttributeError, ValueError) as error:
        return f"it cannot be loaded: {error}"


def _template_fault(name: str) -> str:
    try:
        get_template(name)
    except TemplateDoesNotExist:
        return "there is no such template"
    return ""


def _page_fault(name: str) -> str:
    try:
        reverse(name, args=["code"])
    except NoReverseMatch:
        return "there is no page of that name that takes a run's code"
    return ""


def _room_fault(path: str) -> str:
    try:
        return "" if find_spec(path) else "there is no such package"
    except ImportError as error:
        return f"it cannot be loaded: {error}"


def _lookup_fault(lookup: str) -> str:
    try:
        Run.objects.filter(**{f"{lookup}__isnull": True} if lookup else {})
    except FieldError as error:
        return f"it leads nowhere from a run: {error}"
    return ""


def _has_members(room: str) -> bool:
    return not _room_fault(room) and bool(getattr(module_in(room, "archive"), "MEMBERS", ()))


def _pages_fault(pages: Mapping[str, str]) -> str:
    return next((fault for name in pages if (fault := _page_fault(name))), "")


LOOKS: dict[str, Callable[[Any], str]] = {
    "function": _function_fault,
    "template": _template_fault,
    "page": _page_fault,
    "pages": _pages_fault,
    "room": _room_fault,
}
