"""The house rules that no reader should have to check: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = ["generation", "judging", "ranking"]
FORBIDDEN_NAMES = {"services", "utils", "helpers", "common", "core", "managers"}

# Pure modules know no Django: text in, text out; frame in, numbers out.
PURE = [
    *(
        "generation/config.py",
        "generation/prompts.py",
        "generation/suite.py",
        "generation/identity.py",
        "generation/text.py",
        "generation/json_lines.py",
    ),
    *("generation/formats/**/*.py", "generation/demo/**/*.py", "generation/providers.py", "generation/replies.py"),
    *("judging/schedule.py", "judging/rounds.py", "judging/table.py", "judging/grade_order.py"),
    *(
        "ranking/votes.py",
        "ranking/bradley_terry.py",
        "ranking/intervals.py",
        "ranking/agreement.py",
        "ranking/judges.py",
    ),
    *("ranking/consistency.py", "ranking/stability.py", "ranking/robustness.py", "ranking/leaderboard.py"),
    *("ranking/rubric.py", "ranking/pixel_art.py", "ranking/science_birds.py"),
]


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def modules(app: str) -> list[Path]:
    return sorted((ROOT / app).rglob("*.py"))


@pytest.mark.parametrize("app", ORDER)
def test_an_app_imports_only_from_its_left(app):
    right = set(ORDER[ORDER.index(app) + 1 :])

    wrong = [(str(path), name) for path in modules(app) for name in imports(path) if name.split(".")[0] in right]

    assert wrong == []


def benchsite_modules(names: set[str]) -> set[Path]:
    paths = {ROOT / f"{name.replace('.', '/')}.py" for name in names if name.startswith("benchsite.")}
    return {path for path in paths if path.exists()}


def test_what_apps_import_of_benchsite_imports_no_app():
    """The lower half of benchsite lies under the apps, and so does whatever it imports of benchsite itself."""
    found, next_ones = set(), benchsite_modules(set().union(*(imports(path) for app in ORDER for path in modules(app))))
    while next_ones:
        found |= next_ones
        next_ones = benchsite_modules(set().union(*map(imports, next_ones))) - found

    wrong = [(str(path), name) for path in found for name in imports(path) if name.split(".")[0] in ORDER]

    assert ROOT / "benchsite" / "progress_bar.py" in found
    assert wrong == []


@pytest.mark.parametrize("pattern", PURE)
def test_a_pure_module_knows_no_django(pattern):
    paths = sorted(ROOT.glob(pattern))
    assert paths, f"{pattern} matches nothing"

    wrong = [(str(path), name) for path in paths for name in imports(path) if name.split(".")[0].startswith("django")]

    assert wrong == []


def test_module_names_say_their_subject():
    named = [str(path) for app in [*ORDER, "benchsite"] for path in modules(app) if path.stem in FORBIDDEN_NAMES]

    assert named == []


def is_door(name: str) -> bool:
    """Doors are views (also `curator_views`), forms, admin, addresses (also `gallery_urls`) and jobs."""
    return name in {"views", "forms", "admin", "urls", "jobs"} or name.endswith(("_views", "_urls"))


@pytest.mark.parametrize("app", ORDER)
def test_verbs_and_models_import_no_door(app):
    inner = [path for path in (ROOT / app).glob("*.py") if not is_door(path.stem)]

    wrong = [
        (str(path), name)
        for path in inner
        for name in imports(path)
        if name.split(".")[0] == app and is_door(name.split(".")[-1])
    ]

    assert wrong == []
