"""Every address of the site that can be made of what a run has, and what its answers say of each model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

TAGS, NUMBER = re.compile(r"<[^>]*>"), re.compile(r"-?\d+(?:[.,]\d+)*")
NEAR, NUMBERS, PLACES = 160, 4, 8  # characters after a name, numbers there, and places of a name that are read
FALLING = re.compile(r"rank|loss|fail|invalid|\bp\b")  # fields of JSON that grow as a model does worse

Route = tuple[str, tuple[int, ...], str]  # its name, which of the run's values it is made of, and what is asked
Features = dict[tuple[str, ...], np.ndarray]  # what was read, a value for each model


# Parts of addresses that only a curator's or somebody's own pages have, or that nobody can know.
OTHERS = frozenset(
    ["pk", "item", "stage", "number", "file", "place", "participant", "verb", "gold", "judge", "webhook"]
)
OTHERS |= {"invitation", "token", "uidb64", "rest"}


def addresses_of(run: Any, *, matchup: str = "") -> list[str]:
    """Every address of the site that can be made of what the run has: a page that is added is read as well."""
    return list(dict.fromkeys(routes_of(run, matchup=matchup).values()))


def routes_of(run: Any, *, matchup: str = "") -> dict[Route, str]:
    """The same, by what an address of another run would be known by; fails for a part of an address that nobody listed."""
    from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

    sample, prompt, entrant = run.samples.first(), run.prompts.first(), run.entrants.first()
    fit = run.fits.first()
    published = [code for code in run.fits.values_list("publications__code", flat=True) if code]
    values = {
        "run": [run.code],
        "study": list(run.studies.values_list("code", flat=True)[:1]),
        "code": [run.code, sample.code, *published[:1], *filter(None, [matchup])],
        "key": [sample.picture_key],
        "side": [96, "left", "right"],
        "protocol": list(run.protocols),
        "entrant": [entrant.code],
        "prompt": [prompt.code],
        "sample": [sample.code],
        "fit": [fit.code] if fit else [],
        "name": ["ratings", "wins", "history"],
        "form": ["json", "csv", "md", "svg"],
        "slug": [run.suite],
        "kind": ["votes"],
        "format": ["jsonl"],
    }

    def patterns(urls: list[Any], space: str = "") -> Iterator[tuple[str, list[str]]]:
        for url in urls:
            if isinstance(url, URLPattern) and url.name:
                yield f"{space}{url.name}", sorted(url.pattern.regex.groupindex)
            elif isinstance(url, URLResolver) and url.app_name != "admin":
                yield from patterns(url.url_patterns, f"{url.namespace}:" if url.namespace else space)

    made: dict[Route, str] = {}
    for name, parameters in patterns(get_resolver().url_patterns):
        if unknown := set(parameters) - set(values) - OTHERS:
            raise LookupError(f"{name} has {unknown}: say what a run has of it, or that it is nobody else's.")
        if set(parameters) <= set(values) and name not in ("logout", "healthz", "readyz", "metrics"):
            for places in product(*(range(len(values[parameter])) for parameter in parameters)):
                chosen = {parameter: values[parameter][at] for parameter, at in zip(parameters, places, strict=True)}
                try:
                    address = reverse(name, kwargs=chosen)
                except NoReverseMatch:
                    continue
                made |= {(name, places, ""): address, (name, places, "json"): f"{address}?format=json"}
    return made


def read_page(where: str, answer: Any, names: list[str]) -> Features:
    kind = answer.headers.get("Content-Type", "")
    if not kind.startswith(("text/", "application/json", "image/svg")):
        return {}
    text = answer.content.decode(errors="replace")
    if not all(name in text for name in names):
        return {}
    if kind.startswith("application/json"):
        return dict(_json_features(where, json.loads(text), names))
    return dict(_text_features(where, TAGS.sub(" ", text), names))


def _json_features(where: str, document: Any, names: list[str]) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """Numbers of objects that name their model, by the way to the list that they are in."""
    if isinstance(document, list):
        rows = {row["entrant"]: row for row in document if isinstance(row, dict) and row.get("entrant") in names}
        if len(rows) == len(names):
            for key in sorted(set.intersection(*(set(row) for row in rows.values()))):
                values = [rows[name][key] for name in names]
                if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
                    sign = -1 if FALLING.search(key) else 1
                    yield (where, key), sign * np.array(values, float)
            place = {row["entrant"]: -n for n, row in enumerate(document) if isinstance(row, dict) and "entrant" in row}
            yield (where, "order"), np.array([place[name] for name in names], float)
    for key, value in document.items() if isinstance(document, dict) else ():
        yield from _json_features(f"{where} {key}", value, names)


def _text_features(where: str, text: str, names: list[str]) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    places = {name: [match.start() for match in re.finditer(re.escape(name), text)][:PLACES] for name in names}
    firsts = sorted(names, key=lambda name: places[name][0])
    yield (where, "order"), np.array([-firsts.index(name) for name in names], float)
    for turn in range(min(map(len, places.values()))):
        near = [
            NUMBER.findall(text[places[name][turn] + len(name) : places[name][turn] + len(name) + NEAR])[:NUMBERS]
            for name in names
        ]
        for number in range(min(map(len, near))):
            values = [float(each[number].replace(",", "")) for each in near if each[number].count(".") < 2]
            if len(values) == len(names):
                yield (where, f"{turn}", f"{number}"), np.array(values)
