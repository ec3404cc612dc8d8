"""The house rules that no reader should have to check: who may import whom, and how full a room may be."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from generation.formats import BUILT_IN, INTERNAL
from generation.protocols import PROTOCOLS

ROOT = Path(__file__).resolve().parent.parent
APPS = ["generation", "judging", "ranking", "accounts"]

# From the ground up: a room imports itself and what stands on lines before its own. Rooms on one line do not know each other.
ORDER = """
benchsite.version benchsite.environment benchsite.logs benchsite.addresses benchsite.request_ids benchsite.tracing
benchsite.lib
benchsite.templatetags benchsite.sessions
generation.formats
generation.codes generation.images generation.money generation.protocols
generation.suites
generation.providers generation.demo generation.sandbox
generation.models
generation.pictures
generation.queue
generation.runs
generation.reading
generation.drawing
generation.files
generation.templatetags
generation.views
generation.urls generation.jobs generation.admin generation.checks generation.management
judging.models judging.rules judging.seats
judging.gold
judging.disclosure
judging.provenance
judging.pairs judging.grades
judging.curating judging.files
judging.model_judges
judging.views
judging.studies
judging.urls judging.account_urls judging.admin judging.management
ranking.results
ranking.statistics ranking.charts ranking.words
ranking.models
ranking.answers ranking.best ranking.effort ranking.people ranking.tokens
ranking.pairwise ranking.rubric
ranking.automatic
ranking.competition
ranking.clock ranking.fitting
ranking.boards
ranking.public_states
ranking.archive ranking.simulated ranking.webhooks
ranking.dataset
ranking.views
ranking.api
ranking.urls ranking.jobs ranking.admin ranking.management
benchsite.front benchsite.operations
accounts.models accounts.problems accounts.forms accounts.passwords
accounts.provider accounts.roles accounts.teams accounts.second_factor accounts.emergency accounts.admin_login
accounts.identities
accounts.views
accounts.urls accounts.management
benchsite
"""
RANKS = {room: rank for rank, line in enumerate(ORDER.split("\n")) for room in line.split()}

# A protocol's rooms. What Django or the archive finds in them by its name stands with the app's own of that name: a room's
# `urls` may import its app's views, for instance, as `judging.urls` does.
ENTRIES = [each for entry in PROTOCOLS.values() for each in (entry, *entry.by_format.values())]
ROOMS = {room for entry in ENTRIES for room in (entry.judging_room, entry.ranking_room) if room}
BY_NAME = {
    "models": "models",
    "urls": "urls",
    "admin": "admin",
    "views": "views",
    "curator_views": "views",
    "archive": "archive",
    "dataset": "dataset",
    "from_dataset": "dataset",
}
for each in ROOMS:
    RANKS.setdefault(each, RANKS["judging.pairs" if each.startswith("judging") else "ranking.pairwise"])

# Pure rooms know no Django: text in, text out; columns in, numbers out.
PURE = [
    *("generation/formats", "generation/suites", "generation/providers", "generation/demo"),
    "generation/sandbox",
    *("judging/pairs/schedule", "judging/grades/order.py"),
    "judging/studies/steps.py",
    "judging/gold/verdicts.py",
    "judging/pairs/adaptive/draws.py",
    *("ranking/statistics", "ranking/charts", "ranking/*/scores.py"),
]
IMPURE = {ROOT / "generation/suites/uploads.py"}  # takes what a form sends
FORBIDDEN_NAMES = {"services", "utils", "helpers", "common", "core", "managers"}
MOST = 15


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def modules(app: str) -> list[Path]:
    return sorted(path for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)


def room_of(name: str) -> str | None:
    """The longest part of a dotted name that is a room."""
    parts = name.split(".")
    if ".".join(parts[:2]) in ROOMS and len(parts) > 2 and parts[2] in BY_NAME:
        return f"{parts[0]}.{BY_NAME[parts[2]]}"
    return next((room for n in range(len(parts), 0, -1) if (room := ".".join(parts[:n])) in RANKS), None)


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("app", [*APPS, "benchsite"])
def test_imports_point_down(app):
    edges = [(dotted(path), name) for path in modules(app) for name in imports(path)]

    wrong = {
        (here, name)
        for here, name in edges
        if (room := room_of(name)) and room != room_of(here) and RANKS[room] >= RANKS[room_of(here) or "benchsite"]
    }

    assert sorted(wrong) == []


@pytest.mark.parametrize("app", APPS)
def test_every_module_has_a_room(app):
    homeless = {dotted(path) for path in modules(app) if not room_of(dotted(path))}

    assert homeless - {f"{app}.__init__", f"{app}.apps"} == set()


@pytest.mark.parametrize("room", PURE)
def test_a_pure_room_knows_no_django(room):
    paths = {path for place in ROOT.glob(room) for path in (place.rglob("*.py") if place.is_dir() else [place])}
    assert paths, f"{room} matches nothing"

    wrong = [(dotted(path), name) for path in paths - IMPURE for name in imports(path) if name.startswith("django")]

    assert wrong == []


def test_types_of_pure_rooms_are_checked_strictly():
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]

    strict = {name for override in overrides if override.get("disallow_any_generics") for name in override["module"]}

    assert strict == {dotted(ROOT / room) + ("" if room.endswith(".py") else ".*") for room in PURE}


@pytest.mark.parametrize("app", [*APPS, "benchsite", "tests", "benchmarks"])
def test_no_folder_is_crowded(app):
    folders = {path.parent for path in modules(app) if path.parent.name != "commands"}

    crowded = {str(folder): n for folder in folders if (n := len([*folder.glob("[!_]*.py")])) > MOST}

    assert crowded == {}


def test_module_names_say_their_subject():
    named = [dotted(path) for app in [*APPS, "benchsite"] for path in modules(app) if path.stem in FORBIDDEN_NAMES]

    assert named == []


def drawn(part: str) -> str:
    """A fenced block of docs/architecture.md, by the comments around it."""
    page = (ROOT / "docs/architecture.md").read_text()
    return page.partition(f"<!-- {part} -->\n```\n")[2].partition("```\n<!-- /")[0]


def test_the_drawn_order_is_the_one_enforced():
    assert drawn("order").split("\n") == ORDER.lstrip().split("\n")


def test_every_folder_is_drawn():
    names, app = set(), ""
    for line in drawn("tree").splitlines():
        name = line.split()[0].rstrip("/")
        app = app if line.startswith(" ") else name
        names.add(app if app == name else f"{app}/{name}")

    folders = {path.parent.relative_to(ROOT) for app in [*APPS, "benchsite"] for path in modules(app)}

    assert names == {"/".join(folder.parts[:2]) for folder in folders}


# Names of protocols that are the names of something else, too: a suite's field, and what a format asks to be scored by.
OTHERWISE = {("benchsite/front/views.py", "rubric"), ("generation/suites/loading.py", "rubric")}
OTHERWISE |= {("generation/formats/science_birds/__init__.py", "competition")}
OTHERWISE |= {("judging/files/label_studio.py", "pairwise")}  # Label Studio's tag


def test_nothing_outside_its_rooms_asks_for_a_protocol_by_name():
    names = {name for name, entry in PROTOCOLS.items()} | {name for e in PROTOCOLS.values() for name in e.by_format}
    quoted = re.compile(rf"[\"']({'|'.join(names)})(?::\w+)?[\"']")
    rooms = tuple(f"{room.replace('.', '/')}/" for room in ROOMS)
    files = [path for app in [*APPS, "benchsite"] for path in modules(app)]
    files += [path for kind in ("templates/**/*.html", "static/js/**/*.js") for path in ROOT.glob(kind)]

    asked = {
        (str(path.relative_to(ROOT)), name)
        for path in files
        for name in quoted.findall(path.read_text())
        if not str(path.relative_to(ROOT)).startswith(rooms)
    }

    assert asked - {("generation/protocols.py", name) for name in names} == OTHERWISE


# About votes alone: files and the API's operation that bring them in.
FOR_VOTES = {"judging/files/import_votes.py", "ranking/api/pushing.py"}


def test_nothing_outside_its_rooms_knows_a_protocol_by_its_constant():
    rooms = tuple(f"{room.replace('.', '/')}/" for room in ROOMS)
    files = {str(path.relative_to(ROOT)): path for app in [*APPS, "benchsite"] for path in modules(app)}

    knowing = {name for name, path in files.items() if {f"{room}.NAME" for room in ROOMS} & imports(path)}

    assert {name for name in knowing if not name.startswith(rooms)} == FOR_VOTES


def test_nothing_outside_the_formats_asks_for_one_by_name():
    """`svg` and `ballot` are names of other things, too: these must not be compared with a format."""
    names = {*BUILT_IN, *INTERNAL}
    plain = "|".join(names - {"svg", "ballot"})
    named = re.compile(rf"[\"']({plain})[\"']|format(?:\.name)? *(?:==|!=|in) *[(\[{{]?[\"']({'|'.join(names)})[\"']")
    files = [path for app in [*APPS, "benchsite"] for path in modules(app) if "formats" not in path.parts]
    files += [path for kind in ("templates/**/*.html", "static/js/**/*.js") for path in ROOT.glob(kind)]

    asking = {str(path.relative_to(ROOT)): match[0] for path in files if (match := named.search(path.read_text()))}

    assert asking == {}
